"""Graphs: functions above each other, with the numbers of the trace on them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from tracer.formula.expression import Number
from tracer.lesson.document import Graph, Panel, Point
from tracer.names import name_text
from tracer.renderers.plots.marks import (
    LETTER,
    LINE,
    Dot,
    Label,
    Mark,
    Path,
    Plot,
    Spot,
    plain,
)
from tracer.renderers.rows import cells, shortened
from tracer.renderers.text import number_text

ACROSS, ALONE, TOGETHER = 420, 200, 64
"""The width of the panels; the height of one alone, and of each of several."""

BETWEEN = 16
"""Between two panels."""

MOST_LINES, LONGEST = 3, 10
"""Lines of names below the axis, and letters of a name."""


def plot_of(graph: Graph) -> Plot:
    """The panels, and below them the names of the points."""
    return Plot.of(graph.figure.title, description(graph), _Panels(graph).marks())


def description(graph: Graph) -> str:
    """All points in words."""
    panels = (
        f"{plain(panel.title)} at {', '.join(map(_in_words, panel.points))}"
        for panel in graph.panels
    )
    return f"{name_text(graph.figure.title)}. {'; '.join(panels)}."


def _in_words(point: Point) -> str:
    return f"{name_text(point.name)} ({number_text(point.x)}): {number_text(point.y)}"


class _Panels:
    """Where the panels are, and what their axes show."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        spots = [spot for panel in graph.panels for spot in _spots(panel)]
        self.first, self.last = min(x for x, _ in spots), max(x for x, _ in spots)
        self.low, self.high = _whole([y for _, y in spots])
        self.height = ALONE if len(graph.panels) == 1 else TOGETHER
        self.bottom = (self.height + BETWEEN) * len(graph.panels) - BETWEEN

    def marks(self) -> Iterator[Mark]:
        for i, panel in enumerate(self.graph.panels):
            yield from self.panel(panel, (self.height + BETWEEN) * i)
        yield from self.names()

    def panel(self, panel: Panel, top: float) -> Iterator[Mark]:
        def place(x: float, y: float) -> Spot:
            return self.across(x), top + self.height * (self.high - y) / (self.high - self.low)

        for number in sorted({self.low, min(max(0, self.low), self.high), self.high}):
            y = place(0, number)[1]
            yield Path("axis" if number == 0 else "other", ((0, y), (ACROSS, y)), 1)
            yield Label((Number.of(number),), -8, y, "end", "faint")
        yield Label(panel.title, -4 * LETTER - 8, top + self.height / 2, "end")
        yield Path("positive", tuple(place(x, y) for x, y in panel.function), 2)
        for point in panel.points:
            x, y = place(float(point.x.value), float(point.y.value))
            yield Dot("negative", x, y, point.y)

    def names(self) -> Iterator[Label]:
        """The names of the points, below each other where they would overlap, and the axis."""
        ends = [float("-inf")] * MOST_LINES
        floor_of_names = self.bottom + LINE
        for point in sorted(self.graph.panels[-1].points, key=lambda each: each.x.value):
            name = shortened(point.name, LONGEST)
            x, half = self.across(float(point.x.value)), LETTER * cells(name) / 2
            line = next((i for i, end in enumerate(ends) if end < x - half), None)
            if line is not None:
                ends[line] = x + half + LETTER
                yield Label((name,), x, floor_of_names + LINE * line, color="negative")
        used = sum(end > float("-inf") for end in ends)
        yield Label(self.graph.across, ACROSS / 2, floor_of_names + LINE * used, color="faint")

    def across(self, x: float) -> float:
        return ACROSS * (x - self.first) / (self.last - self.first)


def _spots(panel: Panel) -> list[Spot]:
    points = ((float(point.x.value), float(point.y.value)) for point in panel.points)
    return [*panel.function, *points]


def _whole(numbers: list[float]) -> tuple[int, int]:
    """The whole numbers around all of them; those that floats miss by little are met."""
    low, high = floor(round(min(numbers), 9)), ceil(round(max(numbers), 9))
    return low, max(high, low + 1)
