"""One number of a trace as text, for a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.lesson import entries
from tracer.lesson.expression import Number
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
    if value.role.words:
        return f"{name_text(str(value.numbers[at]))}\n"
    number = entries.number(trace.pencil, value, at)
    if percent:
        return f"{number_text(Number(trimmed(number.value * 100)))} %\n"
    return f"{number_text(number)}\n"
