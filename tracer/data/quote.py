"""One entry of a trace as text."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.decoder.value import Index, Value
from tracer.lesson import entries
from tracer.lesson.texts.lookup import find_quoted
from tracer.names import name_text
from tracer.renderers.text import number_text, percentage


def quoted(trace: Trace, asked: Sequence[str]) -> str:
    """The number that `ADDRESS[ROW,COLUMN]` names, as it is printed, on a line of its own.

    With the words `as percent` behind it, as a percentage.

    Raises:
        TracerError: not of that form, no such address, row or column; what has no percentage.
    """
    (value, at), as_percent = find_quoted(trace, " ".join(asked))
    if as_percent:
        return f"{number_text(percentage(entries.number(trace.pencil, value, at)))} %\n"
    return f"{printed(trace, value, at)}\n"


def printed(trace: Trace, value: Value, at: Index) -> str:
    """An entry as every text of the trace prints it: a number, or a word."""
    if value.role.words:
        return name_text(str(value.read(at)))
    return number_text(entries.number(trace.pencil, value, at))
