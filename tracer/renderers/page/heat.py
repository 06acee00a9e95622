"""A value as a small heat map: which of its numbers are cells, and how deep their colors are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from tracer.formula.expression import Number
from tracer.lesson.texts.page import PageSource
from tracer.names import count
from tracer.renderers import signed

Place: TypeAlias = tuple[int, ...]
"""The row and the column of a number, or its only index."""

MOST_ROWS, MOST_COLUMNS = 12, 16
SHADES = 10


@dataclass(frozen=True)
class HeatCell:
    """A number of a value in a row and a column of its map; `depth` is from 0 to SHADES."""

    at: Place
    row: int
    column: int
    number: Number
    depth: int


@dataclass(frozen=True)
class HeatMap:
    """The cells of a value. In a reduced map, a cell stands for a block of `block` numbers."""

    rows: int
    columns: int
    cells: tuple[HeatCell, ...]
    block: tuple[int, int]

    @property
    def is_reduced(self) -> bool:
        """Whether a cell stands for several numbers."""
        return self.block != (1, 1)

    @property
    def words(self) -> str:
        """What a reduced map shows."""
        if not self.is_reduced:
            return ""
        rows, columns = (count(n, noun) for n, noun in zip(self.block, NOUNS, strict=True))
        return f"each cell shows the number of largest size in {rows} and {columns}"


NOUNS = ("row", "column")


def map_of(source: PageSource, *, per_token: bool) -> HeatMap | None:
    """The map of a value of one or two axes; none if the page does not have all its numbers.

    A number for each token is a column, any other single axis a row.
    """
    shape = tuple(map(len, source.labels))
    if len(shape) == 1:
        shape = (*shape, 1) if per_token else (1, *shape)
    if len(shape) != 2 or len(source.numbers) < shape[0] * shape[1] or shape == (1, 1):
        return None
    numbers = [number for number in source.numbers.values() if number.value.is_finite()]
    if not numbers:
        return None
    scale = max(numbers, key=lambda number: abs(number.value))
    # A cell stands for several rows and columns, so that there are not too many cells.
    block = -(-shape[0] // MOST_ROWS), -(-shape[1] // MOST_COLUMNS)
    rows, columns = (
        [range(i, min(i + size, length)) for i in range(0, length, size)]
        for length, size in zip(shape, block, strict=True)
    )
    cells = tuple(
        _cell(source, row, column, list(_places(source, rows[row], columns[column])), scale)
        for row, column in product(range(len(rows)), range(len(columns)))
    )
    return HeatMap(len(rows), len(columns), cells, block)


def _cell(
    source: PageSource, row: int, column: int, block: Sequence[Place], scale: Number
) -> HeatCell:
    """The number of largest size in a block; −∞ only where there is no other."""
    at = max(block, key=lambda at: _size(source.numbers[at]))
    number = source.numbers[at]
    depth = (
        round(signed.share_of_largest(number, scale) * SHADES) if number.value.is_finite() else 0
    )
    return HeatCell(at, row, column, number, depth)


def _places(source: PageSource, rows: range, columns: range) -> Iterator[Place]:
    for row, column in product(rows, columns):
        yield (row, column) if len(source.labels) == 2 else (max(row, column),)


def _size(number: Number) -> float:
    return abs(float(number.value)) if number.value.is_finite() else -1.0
