"""A curve over steps: in characters, as a plot, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from tracer.lesson.document import Curve
from tracer.names import count
from tracer.renderers.plots.marks import LINE, Dot, Label, Mark, Path, Plot
from tracer.renderers.text import number_text

ROWS, MOST_COLUMNS = 9, 60
"""Rows of a curve in characters, and the most columns between its first and its last point."""

ACROSS, HIGH = 420, 160
"""The width and the height of a curve, in pixels."""


def in_characters(curve: Curve, width: int) -> list[str]:
    """Points on a grid, with the numbers of its top and its bottom at the left."""
    names = _names(curve)
    stub = max(map(len, names))
    room = max(2, min(MOST_COLUMNS, width - stub - 4))
    last = len(curve.numbers) - 1
    apart = max(1, room // last)
    columns = {round(i * min(room, apart * last) / last) for i in range(last + 1)}
    grid = [[" "] * (max(columns) + 1) for _ in range(ROWS)]
    for i, height in enumerate(_heights(curve)):
        grid[round((1 - height) * (ROWS - 1))][round(i * max(columns) / last)] = "●"
    labels = {0: names[0], ROWS - 1: names[1]}
    rows = [
        f"{labels.get(i, ''):>{stub}} {'┤' if i in labels else '│'} {''.join(row)}".rstrip()
        for i, row in enumerate(grid)
    ]
    axis = f"{'':{stub}} └─{'─' * (max(columns) + 1)}"
    ends = f"{'':{stub}}   0{last!s:>{max(columns)}}"
    return [f"{curve.label}", *rows, axis, ends]


def plot_of(curve: Curve) -> Plot:
    """Points that are joined, with the numbers of the top and the bottom beside the axis."""
    return Plot.of(curve.figure.title, description(curve), _marks(curve))


def _marks(curve: Curve) -> Iterator[Mark]:
    last = len(curve.numbers) - 1
    heights = _heights(curve)
    points = tuple((ACROSS * i / last, HIGH * (1 - y)) for i, y in enumerate(heights))
    yield Path("axis", ((0, 0), (0, HIGH), (ACROSS, HIGH)), 1)
    for name, end in zip(_names(curve), (0, HIGH), strict=True):
        yield Label((name,), -8, end, "end")
    for words, share in (("0", 0), (curve.step, 0.5), (str(last), 1)):
        yield Label((words,), ACROSS * share, HIGH + LINE)
    yield Path("positive", points, 2)
    for (x, y), number in zip(points, curve.numbers, strict=True):
        yield Dot("positive", x, y, number)


def description(curve: Curve) -> str:
    """The curve in words."""
    first, last = number_text(curve.numbers[0]), number_text(curve.numbers[-1])
    steps = count(len(curve.numbers) - 1, curve.step)
    return f"{curve.figure.title}: from {first} to {last} in {steps}."


def _heights(curve: Curve) -> list[float]:
    """The height of each number between the lowest point, 0, and the highest, 1."""
    numbers = [float(number.value) for number in curve.numbers]
    if curve.of_ranks:
        numbers = [-log(number) for number in numbers]
    low, spread = min(numbers), max(numbers) - min(numbers)
    return [(number - low) / spread if spread else 0.5 for number in numbers]


def _names(curve: Curve) -> tuple[str, str]:
    """The numbers of the highest and of the lowest point, as printed."""
    ordered = sorted(curve.numbers, key=lambda number: number.value, reverse=not curve.of_ranks)
    return number_text(ordered[0]), number_text(ordered[-1])
