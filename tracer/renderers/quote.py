"""One entry of a trace as text."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.decoder.tape import Value
from tracer.lesson import entries
from tracer.lesson.expression import Index, Number
from tracer.renderers.text import name_text, number_text
from tracer.scenario.rounding import trimmed

PERCENT = ("as", "percent")


def quoted(trace: Trace, asked: Sequence[str]) -> str:
    """The number that `ADDRESS[ROW,COLUMN]` names, as it is printed, on a line of its own.

    With the words `as percent` behind it, as a percentage.

    Raises:
        TracerError: not of that form, no such address, row or column.
    """
    words = " ".join(asked).split(" ")
    percent = tuple(words[-2:]) == PERCENT
    value, at = entries.find(trace, " ".join(words[:-2] if percent else words))
    if not percent or value.role.words:
        return f"{printed(trace, value, at)}\n"
    share = entries.number(trace.pencil, value, at).value
    return f"{number_text(Number(trimmed(share * 100)))} %\n"


def printed(trace: Trace, value: Value, at: Index) -> str:
    """An entry as every text of the trace prints it: a number, or a word."""
    if value.role.words:
        return name_text(str(value.numbers[at]))
    return number_text(entries.number(trace.pencil, value, at))
