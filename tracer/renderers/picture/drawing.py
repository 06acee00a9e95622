"""The words and strokes of a picture, placed in cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from tracer.renderers.rows import cells

Sort: TypeAlias = Literal["box", "name", "title", "tokens", "steps"]
"""Names and steps begin at their left; all else is written around its middle."""

Stretch: TypeAlias = Literal["way", "frame", "rule"]
"""Ways lead from box to box; a frame is around heads; a rule, which is dotted, begins a layer."""

Cell: TypeAlias = tuple[int, int]
"""Column and row. A picture is built from below: rows are counted upward."""


@dataclass(frozen=True)
class Words:
    """Centered lines of words; `row` is that of the last line."""

    sort: Sort
    lines: tuple[str, ...]
    column: int = 0
    row: int = 0
    given: bool = False

    @property
    def width(self) -> int:
        """The width of the longest line."""
        return max(map(cells, self.lines))

    @property
    def top(self) -> int:
        """The row of the first line."""
        return self.row + len(self.lines) - 1

    @property
    def end(self) -> int:
        """The last column."""
        return self.column + self.width - 1

    @property
    def middle(self) -> int:
        """The middle column, the left one of two."""
        return self.column + (self.width - 1) // 2

    def moved(self, columns: int, rows: int = 0) -> Words:
        """A copy, moved."""
        return replace(self, column=self.column + columns, row=self.row + rows)

    def around(self, column: int, row: int) -> Words:
        """A copy with its middle in a column, and its last line in a row."""
        return self.moved(column - self.middle, row - self.row)

    def covered(self) -> Iterator[Cell]:
        """The cells that hide strokes."""
        for row in range(self.row, self.top + 1):
            for column in range(self.column, self.end + 1):
                yield column, row

    def placed(self) -> Iterator[tuple[Cell, str]]:
        """Yield each line with its first cell."""
        for i, line in enumerate(self.lines):
            yield (self.column + (self.width - cells(line)) // 2, self.top - i), line


@dataclass(frozen=True)
class Stroke:
    """A line along a row or a column, between the middles of two cells."""

    start: Cell
    end: Cell
    sort: Stretch = "way"
    arrow: bool = False

    def moved(self, columns: int, rows: int = 0) -> Stroke:
        """A copy, moved."""
        (x1, y1), (x2, y2) = self.start, self.end
        start, end = (x1 + columns, y1 + rows), (x2 + columns, y2 + rows)
        return replace(self, start=start, end=end)

    def sides(self) -> Iterator[tuple[Cell, str]]:
        """The cells that it crosses, each with the side where it leaves: N, E, S, W."""
        (x1, y1), (x2, y2) = sorted([self.start, self.end])
        for x in range(x1, x2):
            yield from (((x, y1), "E"), ((x + 1, y1), "W"))
        for y in range(y1, y2):
            yield from (((x1, y), "N"), ((x1, y + 1), "S"))


@dataclass(eq=False)
class Drawing:
    """All words and strokes; words hide the strokes below them."""

    words: list[Words] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)

    @property
    def columns(self) -> tuple[int, int]:
        """The first and the last column."""
        ends = [x for stroke in self.strokes for x, _ in (stroke.start, stroke.end)]
        starts, stops = [w.column for w in self.words], [w.end for w in self.words]
        return min(starts + ends), max(stops + ends)

    @property
    def width(self) -> int:
        """The number of columns."""
        first, last = self.columns
        return last - first + 1

    @property
    def height(self) -> int:
        """The number of rows; the lowest is row 0."""
        ends = [y for stroke in self.strokes for _, y in (stroke.start, stroke.end)]
        return max([w.top for w in self.words] + ends) + 1

    def moved(self, columns: int, rows: int = 0) -> Drawing:
        """A copy, moved."""
        return Drawing(
            [words.moved(columns, rows) for words in self.words],
            [stroke.moved(columns, rows) for stroke in self.strokes],
        )

    def connect(self, *corners: Cell, arrow: bool = False) -> None:
        """Draw a line through corners, optionally with an arrow at its end."""
        *before, last = pairwise(corners)
        self.strokes += [*(Stroke(*ends) for ends in before), Stroke(*last, arrow=arrow)]
