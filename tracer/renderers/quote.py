"""One entry of a trace as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.decoder.value import Index, Value
from tracer.errors import Problem, TracerError
from tracer.lesson import entries
from tracer.renderers.text import name_text, number_text, percentage

PERCENT = ["as", "percent"]


def quoted(trace: Trace, asked: Sequence[str]) -> str:
    """The number that `ADDRESS[ROW,COLUMN]` names, as it is printed, on a line of its own.

    With the words `as percent` behind it, as a percentage.

    Raises:
        TracerError: not of that form, no such address, row or column; what has no percentage.
    """
    match = re.fullmatch(r"([^\s\[]+(?:\[.*\])?)\s+(\S.*)", " ".join(asked).rstrip())
    entry, words = match.groups() if match else (" ".join(asked), None)
    value, at = entries.find(trace, entry)
    shown = printed(trace, value, at)
    if words is None:
        return f"{shown}\n"
    if words.split() != PERCENT:
        message = f"got {words!r} behind it, expected nothing more, or `as percent`"
    elif value.role.words:
        message = f"{shown!r} is a word, which has no percentage"
    elif not (share := entries.number(trace.pencil, value, at)).value.is_finite():
        message = f"{shown} has no percentage"
    else:
        return f"{number_text(percentage(share))} %\n"
    raise TracerError(Problem(message, address=entry))


def printed(trace: Trace, value: Value, at: Index) -> str:
    """An entry as every text of the trace prints it: a number, or a word."""
    if value.role.words:
        return name_text(str(value.numbers[at]))
    return number_text(entries.number(trace.pencil, value, at))
