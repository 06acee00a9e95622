"""A curve over steps: in characters, as an SVG, and in LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from math import log

from tracer.lesson.document import Curve
from tracer.names import count
from tracer.renderers.svg import image
from tracer.renderers.text import number_text

ROWS, MOST_COLUMNS = 9, 60
"""Rows of a curve in characters, and the most columns between its first and its last point."""

WIDTH, HEIGHT, LEFT, TOP, BELOW, LETTER = 560, 260, 24, 44, 44, 7.5

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .curve { fill: none; stroke: #0969da; stroke-width: 2 }
.point { fill: #0969da } .axis { stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .page { fill: #0d1117 } .curve { stroke: #58a6ff } .point { fill: #58a6ff }
  .axis { stroke: #6e7681 }
}"""


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


def image_of(curve: Curve) -> str:
    """The curve as an SVG."""
    left = LEFT + LETTER * max(map(len, _names(curve)))
    right, floor = WIDTH - LEFT, HEIGHT - BELOW
    middle = (left + right) / 2
    points = [(left + (right - left) * x, TOP + (floor - TOP) * (1 - y)) for x, y in _points(curve)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    top, bottom = _names(curve)
    last = len(curve.numbers) - 1
    lines = [
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{LEFT / 2:g}" y="24">{escape(curve.figure.title)}</text>',
        f'<path class="axis" d="M{left:.1f} {TOP}V{floor}H{right}" fill="none"/>',
        f'<text x="{left - 8:.1f}" y="{TOP + 5}" text-anchor="end">{top}</text>',
        f'<text x="{left - 8:.1f}" y="{floor + 5}" text-anchor="end">{bottom}</text>',
        f'<text x="{left:.1f}" y="{floor + 22}" text-anchor="middle">0</text>',
        f'<text x="{right}" y="{floor + 22}" text-anchor="middle">{last}</text>',
        f'<text x="{middle:.1f}" y="{floor + 22}" text-anchor="middle">{curve.step}</text>',
        f'<polyline class="curve" points="{line}"/>',
        *(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points),
    ]
    return image(curve.figure.title, description(curve), (WIDTH, HEIGHT), STYLE, lines)


def description(curve: Curve) -> str:
    """The curve in words."""
    first, last = number_text(curve.numbers[0]), number_text(curve.numbers[-1])
    steps = count(len(curve.numbers) - 1, curve.step)
    return f"{curve.figure.title}: from {first} to {last} in {steps}."


def in_latex(curve: Curve) -> str:
    """A picture of a fixed size."""
    width, height = 90, 36
    points = [(x * width, y * height) for x, y in _points(curve)]
    top, bottom = _names(curve)
    last = len(curve.numbers) - 1
    return "\n".join(
        [
            r"\par\medskip\begingroup\footnotesize\setlength{\unitlength}{1mm}",
            rf"\begin{{picture}}({width + 24},{height + 10})(-18,-7)",
            rf"\put(0,0){{\line(0,1){{{height}}}}}\put(0,0){{\line(1,0){{{width}}}}}",
            rf"\put(-2,{height}){{\makebox(0,0)[r]{{${top}$}}}}",
            rf"\put(-2,0){{\makebox(0,0)[r]{{${bottom}$}}}}",
            rf"\put(0,-4){{\makebox(0,0){{$0$}}}}\put({width},-4){{\makebox(0,0){{${last}$}}}}",
            rf"\put({width / 2:g},-4){{\makebox(0,0){{{curve.step}}}}}",
            *_segments(points),
            *(rf"\put({x:.2f},{y:.2f}){{\circle*{{1.2}}}}" for x, y in points),
            r"\end{picture}\endgroup\par",
        ]
    )


def _segments(points: list[tuple[float, float]]) -> Iterator[str]:
    r"""Straight lines as \qbezier, since \line has only some slopes."""
    for (a, b), (c, d) in pairwise(points):
        middle = f"({(a + c) / 2:.2f},{(b + d) / 2:.2f})"
        yield rf"\qbezier({a:.2f},{b:.2f}){middle}({c:.2f},{d:.2f})"


def _points(curve: Curve) -> list[tuple[float, float]]:
    """The points in a square from (0, 0) to (1, 1)."""
    last = len(curve.numbers) - 1
    return [(i / last, y) for i, y in enumerate(_heights(curve))]


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
