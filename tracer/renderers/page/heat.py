"""A value as a small heat map: which of its numbers are cells, how large they are, how deep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from tracer.formula.expression import Number
from tracer.lesson.texts.page import PageSource
from tracer.names import count, name_text
from tracer.renderers import signed
from tracer.renderers.picture.as_svg import LETTER
from tracer.renderers.rows import cells as width_of, shortened

Place: TypeAlias = tuple[int, ...]
"""The row and the column of a number, or its only index."""

MOST_ROWS, MOST_COLUMNS = 12, 16
SHADES = 10

WIDEST, HIGHEST, LARGEST = 60, 34, 9
"""A map, and a cell of it, in pixels."""

NAMED_ROW, MOST_NAMED, LONGEST_NAME = 13, 8, 12
"""The height of a row beside its name; the most such rows; the letters of a name."""


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
    """The cells of a value, row by row, with the name of each row, if it has one.

    In a reduced map, a cell stands for a block of `block` numbers. `left_out` columns are not in
    the text. `beside`: whether the names of the rows are written beside them.
    """

    names: tuple[str, ...]
    cells: tuple[tuple[HeatCell, ...], ...]
    block: tuple[int, int]
    left_out: int
    beside: bool

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.cells)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.cells[0])

    @property
    def cell(self) -> tuple[float, float]:
        """The width and the height of a cell."""
        wide = min(LARGEST, WIDEST / self.columns)
        side = min(wide, HIGHEST / self.rows)
        return (wide, NAMED_ROW) if self.beside else (side, side)

    @property
    def written(self) -> list[str]:
        """The names beside the rows, if they are written there."""
        return [shortened(name, LONGEST_NAME) for name in self.names] if self.beside else []

    @property
    def margin(self) -> float:
        """The width of the written names."""
        return max((LETTER * width_of(name) for name in self.written), default=0)

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height, with the names."""
        wide, high = self.cell
        return self.margin + wide * self.columns, high * self.rows

    @property
    def is_reduced(self) -> bool:
        """Whether a cell stands for several numbers."""
        return self.block != (1, 1)

    @property
    def words(self) -> str:
        """What a map shows that does not show all numbers."""
        parts = []
        if self.is_reduced:
            rows, columns = (count(n, noun) for n, noun in zip(self.block, NOUNS, strict=True))
            parts.append(f"each cell shows the number of largest size in {rows} and {columns}")
        if self.left_out:
            parts.append(f"without {count(self.left_out, 'column')} that the text leaves out")
        return ", ".join(parts)


NOUNS = ("row", "column")


def map_of(source: PageSource, *, per_token: bool, named: bool) -> HeatMap | None:
    """The map of a value of one or two axes, with the columns of which the page has all numbers.

    A number for each token is a column, any other single axis a row. `named`: write the names of
    the rows beside them, unless there are many.
    """
    grid, names = _grid(source, per_token)
    shown = Counter(column for _, column in grid)
    complete = [column for column in sorted(shown) if shown[column] == len(names)]
    in_map = (source.numbers[at] for (_, column), at in grid.items() if column in complete)
    numbers = [number for number in in_map if number.value.is_finite()]
    if len(names) * len(complete) < 2 or not numbers:
        return None
    scale = max(numbers, key=lambda number: abs(number.value))
    # A cell stands for several rows and columns, so that there are not too many cells.
    rows, columns = _blocks(range(len(names)), MOST_ROWS), _blocks(complete, MOST_COLUMNS)
    cells = tuple(
        tuple(
            _cell(source, i, j, [grid[at] for at in product(row, column)], scale)
            for j, column in enumerate(columns)
        )
        for i, row in enumerate(rows)
    )
    block = len(rows[0]), len(columns[0])
    of_rows = tuple(" to ".join(dict.fromkeys((names[r[0]], names[r[-1]]))) for r in rows)
    beside = named and block[0] == 1 < len(rows) <= MOST_NAMED
    left_out = len(source.labels[-1]) - len(complete) if len(source.labels) == 2 else 0
    return HeatMap(of_rows, cells, block, left_out, beside)


def _grid(source: PageSource, per_token: bool) -> tuple[dict[tuple[int, int], Place], list[str]]:
    """The place of each number by its row and column, and the names of the rows."""
    numbers, names = (
        source.numbers,
        [name_text(each) for axis in source.labels[:1] for each in axis],
    )
    match len(source.labels):
        case 2:
            return {(at[0], at[1]): at for at in numbers}, names
        case 1 if per_token:
            return {(at[0], 0): at for at in numbers}, names
        case 1:
            return {(0, at[0]): at for at in numbers}, [""]
        case _:
            return {}, []


def _blocks(items: Sequence[int], most: int) -> list[Sequence[int]]:
    """Adjacent items together, so that there are at most so many blocks."""
    size = -(-len(items) // most)
    return [items[i : i + size] for i in range(0, len(items), size)]


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


def _size(number: Number) -> float:
    return abs(float(number.value)) if number.value.is_finite() else -1.0
