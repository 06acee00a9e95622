"""Plots in LaTeX, as a picture environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, sin, tan
from typing import assert_never

from tracer.formula.expression import Expression
from tracer.renderers.lettering import in_text
from tracer.renderers.mathematics import PAPER
from tracer.renderers.plots.marks import RADIUS, Color, Dot, Label, Mark, Path, Plot, Rect, Spot

PIXEL, WIDEST = 0.6, 480
"""The size of a pixel, and the width of the widest plot, in points."""

COLORS: dict[Color, str] = {
    "ink": "black",
    "faint": "black!65",
    "axis": "black!45",
    "positive": "blue!70!black",
    "negative": "orange!80!black",
    "other": "black!18",
}

THINNEST = 0.1
"""The thickness of the thinnest line, in points, so that it can be seen."""

PIECES, OVERLAP = 24, 0.1
"""The straight pieces of a curve; how much longer they are, of their width, to leave no gaps."""

BARS = 8
"""Bars across a dot; it has twice as many corners."""

SIDES = {"start": "[l]", "middle": "", "end": "[r]"}


def in_latex(plot: Plot) -> str:
    """A plot on a line of its own; y is counted upward."""
    bottom = plot.top + plot.height
    unit = min(PIXEL, WIDEST / plot.width)
    lines = [
        rf"\par\medskip\begingroup\footnotesize\setlength{{\unitlength}}{{{unit:.3f}pt}}\noindent",
        rf"\begin{{picture}}({plot.width:.1f},{plot.height:.1f})({plot.left:.1f},{-bottom:.1f})",
        *(_drawn(mark, unit) for mark in plot.marks),
        r"\end{picture}\endgroup\par",
    ]
    return "\n".join(lines)


def _drawn(mark: Mark, unit: float) -> str:
    r"""A mark in its color: inside of \put, since a color before it would keep spaces."""
    depth = f"!{100 * mark.depth:.0f}" if isinstance(mark, Rect) and mark.depth < 1 else ""
    color = rf"\color{{{COLORS[mark.color]}{depth}}}"
    match mark:
        case Rect(x=x, y=y):
            size = rf"{{{mark.width:.2f}\unitlength}}{{{mark.height:g}\unitlength}}"
            return rf"\put({x:.2f},{-y - mark.height:.2f}){{{color}\rule{size}}}"
        case Path():
            points = [(x, -y) for x, y in (_curve(mark.points) if mark.bends else mark.points)]
            thickness = max(mark.width * unit, THINNEST)
            lines = "".join(_straight(*ends, thickness, unit) for ends in pairwise(points))
            return rf"\put(0,0){{{color}{lines}}}"
        case Dot(x=x, y=y):
            return rf"\put{_spot((x, -y))}{{{color}{''.join(_dot(unit))}}}"
        case Label(x=x, y=y):
            bold = r"\bfseries " if mark.bold else ""
            words = "".join(_words(mark.words))
            box = rf"\makebox(0,0){SIDES[mark.anchor]}{{{bold}{words}}}"
            return rf"\put{_spot((x, -y))}{{{color}{box}}}"
        case _:
            assert_never(mark)


def _spot(spot: Spot) -> str:
    return f"({spot[0]:.2f},{spot[1]:.2f})"


def _curve(points: Sequence[Spot]) -> Iterator[Spot]:
    """Points of a quadratic Bézier curve."""
    start, control, end = points
    for t in (i / PIECES for i in range(PIECES + 1)):
        x, y = (
            (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c
            for a, b, c in zip(start, control, end, strict=True)
        )
        yield x, y


def _dot(unit: float) -> Iterator[str]:
    """A filled polygon around the origin, of bars: a character would be part of the page's text."""
    thickness = 2 * RADIUS * unit * tan(pi / BARS / 2)
    for angle in (pi * i / BARS for i in range(BARS)):
        x, y = RADIUS * cos(angle), RADIUS * sin(angle)
        yield _straight((-x, -y), (x, y), thickness, unit)


def _straight(start: Spot, end: Spot, thickness: float, unit: float) -> str:
    r"""A straight line as a turned rule: \line has few slopes, \qbezier draws stairs."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) * unit + OVERLAP * thickness
    rule = rf"\rule{{{length:.2f}pt}}{{{thickness:.2f}pt}}"
    angle = degrees(atan2(y2 - y1, x2 - x1))
    middle = ((x1 + x2) / 2, (y1 + y2) / 2)
    return rf"\put{_spot(middle)}{{\makebox(0,0){{\rotatebox{{{angle:.2f}}}{{{rule}}}}}}}"


def _words(words: tuple[str | Expression, ...]) -> Iterator[str]:
    for part in words:
        yield in_text(part) if isinstance(part, str) else f"${PAPER.in_lines.write(part)}$"
