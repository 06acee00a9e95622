"""Heat maps beside each other: the larger a number, the deeper the color of its cell."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from textwrap import wrap

from tracer.formula.expression import Number
from tracer.lesson.document import HeatMaps, Multiple
from tracer.names import name_text
from tracer.renderers.plots.marks import (
    LETTER,
    LINE,
    Color,
    Label,
    Mark,
    Path,
    Plot,
    Rect,
    Spot,
    plain,
    width_of,
)
from tracer.renderers.rows import cells, shortened
from tracer.renderers.signed import share_of_largest
from tracer.renderers.text import number_text

WIDE = 600
"""The width of a plot, unless one map is wider."""

CELL, BETWEEN, GAP = 20, 1, 18
"""The height and the least width of a cell; between two cells; between two maps."""

MOST_NAMES = 3
"""So many columns with the largest number are named one by one."""

KEPT = "\N{NO-BREAK SPACE}"
"""A space at which no line is broken."""


def plot_of(maps: HeatMaps) -> Plot:
    """The maps in lines, and below them what their colors mean."""
    return Plot.of(maps.figure.title, description(maps), _Layout(maps).marks())


def description(maps: HeatMaps) -> str:
    """The largest number of the followed row in each map; of signed ones, each column's ends."""
    title = name_text(maps.figure.title)
    if maps.figure.scale is not None:
        ends = (_ends(each, maps) for each in maps.maps)
        return f"{title}. Smallest and largest number of each column: {'; '.join(ends)}."
    row, largest = name_text(maps.rows[maps.followed]), (_largest(each, maps) for each in maps.maps)
    return f"{title}. Largest number in the row of {row}: {'; '.join(largest)}."


def _ends(of: Multiple, maps: HeatMaps) -> str:
    columns = zip(maps.columns, zip(*of.cells, strict=True), strict=True)
    ends = (
        f"{name_text(name)} {number_text(min(numbers, key=_value))} and "
        f"{number_text(max(numbers, key=_value))}"
        for name, numbers in columns
    )
    return f"{plain(of.title)} {'; '.join(ends)}".strip()


def _largest(of: Multiple, maps: HeatMaps) -> str:
    row = of.cells[maps.followed]
    largest = max(row, key=_value)
    names = [
        name_text(name)
        for name, number in zip(maps.columns, row, strict=True)
        if number.value == largest.value
    ]
    where = " and ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} tokens"
    return f"in {plain(of.title)} {where} ({number_text(largest)})"


def _value(number: Number) -> Decimal:
    return number.value


class _Layout:
    """Where the maps are, and the names of their columns: numbers, if the names are too long."""

    def __init__(self, maps: HeatMaps) -> None:
        self.maps = maps
        self.rows = [shortened(name) for name in maps.rows]
        self.left = LETTER * (max(map(cells, self.rows)) + 1) + GAP / 2
        self.columns = [shortened(name) for name in maps.columns]
        self.cell = max(CELL, LETTER * (max(map(cells, self.columns)) + 1))
        self.numbered = self.left + len(self.columns) * self.cell * min(2, len(maps.maps)) > WIDE
        if self.numbered:
            self.columns, self.cell = [str(i + 1) for i in range(len(self.columns))], CELL
        self.size = self.cell * len(self.columns), CELL * len(self.rows)
        self.apart = GAP + max(self.size[0], *(width_of(each.title) for each in maps.maps))
        self.together = max(1, int((WIDE - self.left + GAP) / self.apart))

    def marks(self) -> Iterator[Mark]:
        bottom = 0.0
        for i, each in enumerate(self.maps.maps):
            line, place = divmod(i, self.together)
            top = line * (self.size[1] + 3 * LINE)
            bottom = top + self.size[1]
            if not place:
                for j, name in enumerate(self.rows):
                    yield self.name_of_row(name, j, top)
            yield from self.map(each, (self.left + place * self.apart, top))
        yield from self.legend(bottom + LINE)

    def name_of_row(self, name: str, row: int, top: float) -> Label:
        right, middle = self.left - GAP / 2, top + CELL * (row + 0.5)
        return Label((name,), right, middle, "end", bold=row == self.maps.followed)

    def map(self, of: Multiple, corner: Spot) -> Iterator[Mark]:
        left, top = corner
        if of.title:
            yield Label(of.title, left, top - 1.6 * LINE, "start", bold=True)
        for j, name in enumerate(self.columns):
            yield Label((name,), left + self.cell * (j + 0.5), top - LINE / 2, color="faint")
        for i, numbers in enumerate(of.cells):
            for j, number in enumerate(numbers):
                yield from self.cell_of(number, left + self.cell * j, top + CELL * i)
        yield self.frame("axis", corner, self.size[1])
        yield self.frame("ink", (left, top + CELL * self.maps.followed), CELL)

    def cell_of(self, number: Number, x: float, y: float) -> Iterator[Rect]:
        """A cell, nothing for 0."""
        scale = self.maps.figure.scale
        color: Color = "negative" if number.value < 0 else "positive"
        depth = float(number.value) if scale is None else share_of_largest(number, scale)
        if depth:
            size = self.cell - BETWEEN, CELL - BETWEEN
            yield Rect(color, x + BETWEEN / 2, y + BETWEEN / 2, *size, number, min(depth, 1))

    def frame(self, color: Color, corner: Spot, height: float) -> Path:
        (left, top), right = corner, corner[0] + self.size[0]
        bottom = top + height
        corners = (left, top), (right, top), (right, bottom), (left, bottom), (left, top)
        return Path(color, corners, 1)

    def legend(self, top: float) -> Iterator[Label]:
        """What the colors mean, and the names of the columns that have only numbers."""
        figure = self.maps.figure
        shown = "Deepest color: 1; empty: 0."
        if figure.scale is not None:
            deepest = number_text(figure.scale).removeprefix("−")
            shown = f"Blue: positive; orange: negative; deepest color: {deepest} in size."
        words = [f"Rows: {figure.axes[0]}; columns: {figure.axes[1]}.", shown]
        if self.numbered:
            names = (f"{i} {name_text(name)}" for i, name in enumerate(self.maps.columns, 1))
            whole = ", ".join(name.replace(" ", KEPT) for name in names)
            lines = wrap(f"Columns: {whole}.", int(WIDE / LETTER))
            words += [line.replace(KEPT, " ") for line in lines]
        for i, line in enumerate(words):
            yield Label((line,), 0, top + LINE * i, "start", "faint")
