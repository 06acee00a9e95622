"""Plots in LaTeX, as a picture environment."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
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
"""The thickness of the thinnest line, in points; \\qbezier divides by it."""

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
    color = rf"\color{{{COLORS[mark.color]}}}"
    match mark:
        case Rect(x=x, y=y):
            size = rf"{{{mark.width:.2f}\unitlength}}{{{mark.height:g}\unitlength}}"
            return rf"\put({x:.2f},{-y - mark.height:.2f}){{{color}\rule{size}}}"
        case Path():
            points = [(x, -y) for x, y in mark.points]
            lines = "".join(map(_straight, pairwise(points)))
            if mark.bends:
                lines = rf"\qbezier{''.join(map(_spot, points))}"
            thickness = f"{max(mark.width * unit, THINNEST):.2f}pt"
            return rf"\put(0,0){{{color}\linethickness{{{thickness}}}{lines}}}"
        case Dot(x=x, y=y):
            return rf"\put{_spot((x, -y))}{{{color}\circle*{{{2 * RADIUS}}}}}"
        case Label(x=x, y=y):
            bold = r"\bfseries " if mark.bold else ""
            words = "".join(_words(mark.words))
            box = rf"\makebox(0,0){SIDES[mark.anchor]}{{{bold}{words}}}"
            return rf"\put{_spot((x, -y))}{{{color}{box}}}"
        case _:
            assert_never(mark)


def _spot(spot: Spot) -> str:
    return f"({spot[0]:.2f},{spot[1]:.2f})"


def _straight(ends: tuple[Spot, Spot]) -> str:
    r"""A straight line: \line has only some slopes, so that others are drawn as if they bent."""
    first, last = sorted(ends)
    if first[0] == last[0]:
        return rf"\put{_spot(first)}{{\line(0,1){{{last[1] - first[1]:.2f}}}}}"
    if first[1] == last[1]:
        return rf"\put{_spot(first)}{{\line(1,0){{{last[0] - first[0]:.2f}}}}}"
    middle = ((first[0] + last[0]) / 2, (first[1] + last[1]) / 2)
    return rf"\qbezier{''.join(map(_spot, (first, middle, last)))}"


def _words(words: tuple[str | Expression, ...]) -> Iterator[str]:
    for part in words:
        yield in_text(part) if isinstance(part, str) else f"${PAPER.in_lines.write(part)}$"
