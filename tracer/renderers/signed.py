"""Signed numbers of a picture: signs, lengths of bars, and which is the largest in size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from tracer.formula.expression import Number
from tracer.names import name_text
from tracer.renderers.text import number_text


def side(number: Number) -> str:
    """`positive`, `negative` or `zero`."""
    if not number.value:
        return "zero"
    return "positive" if number.value > 0 else "negative"


class BarScale:
    """The lengths of numbers as bars, where the longest of both signs are 1 together."""

    def __init__(self, numbers: Iterable[Number]) -> None:
        finite = [number.value for number in numbers if number.value.is_finite()]
        self.low = min([Decimal(0), *finite])
        self.span = max([Decimal(0), *finite]) - self.low or Decimal(1)

    @property
    def zero(self) -> float:
        """The part of the width, from 0 to 1, that is left of the zero line."""
        return float(-self.low / self.span)

    def length(self, number: Number) -> float:
        """The length of a number, negative to the left; -∞ has none."""
        return float(number.value / self.span) if number.value.is_finite() else 0.0


def share_of_largest(number: Number, scale: Number) -> float:
    """The size of a number, from 0 to 1, as a share of the largest."""
    return float(abs(number.value) / (abs(scale.value) or 1))


def description(title: str, named: Sequence[tuple[str, Number]]) -> str:
    """The title and, of some numbers with their names, the largest in size with its sign."""
    largest = max(abs(number.value) for _, number in named)
    if not largest:
        return f"{name_text(title)}: all are 0."
    ahead = [
        f"{name_text(name)} ({number_text(number)}, {side(number)})"
        for name, number in named
        if abs(number.value) == largest
    ]
    verb = "is" if len(ahead) == 1 else "are"
    return f"{name_text(title)}: the largest in size {verb} {', '.join(ahead)}."
