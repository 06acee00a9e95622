"""How the axes of a value are labeled."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Axis(NamedTuple):
    """A named axis with a label for each of its entries."""

    name: str
    labels: tuple[str, ...]
    positions: tuple[int, ...] | None = None
    """Where only some tokens have an entry, which: -1 is the last token, as in a list."""


Axes: TypeAlias = tuple[Axis, ...]


@lru_cache
def numbered(letter: str, start: int, number: int) -> tuple[str, ...]:
    """`d₀ d₁ d₂`, `h₁ h₂ h₃`: labels for dimensions that the scenario does not name."""
    return tuple(letter + str(start + i).translate(SUBSCRIPTS) for i in range(number))


class SameAxes:
    """The result has the axes of the first input."""

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the axes of the first input."""
        return first


class OneNumber:
    """The result is one number."""

    def axes(self, *inputs: Axes) -> Axes:
        """Return no axes."""
        return ()


class RowAxes:
    """The result has one entry for each row of the first input."""

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the row axis."""
        return first[:1]
