"""Plots as SVG: elements for a page, which has styles of its own, and whole files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TypeAlias, assert_never

from tracer.formula.expression import Number
from tracer.renderers.plots.marks import (
    RADIUS,
    Dot,
    Label,
    Mark,
    Path,
    Plot,
    Rect,
    plain,
)
from tracer.renderers.svg import image

BASELINE = 4.5
"""From the middle of a letter to its foot."""

Name: TypeAlias = Callable[[Number], str | None]
"""The name of a number on a page."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: currentColor }
rect, circle { fill: currentColor }
path { fill: none; stroke: currentColor; stroke-linejoin: round }
.bold { font-weight: bold } .ink { color: #1f2328 } .faint { color: #57606a }
.axis { color: #8c959f } .other { color: #d0d7de } .positive { color: #0969da }
.negative { color: #bc4c00 } .page { color: #ffffff }
@media (prefers-color-scheme: dark) {
  .ink { color: #e6edf3 } .faint { color: #9aa4af } .axis { color: #6e7681 }
  .other { color: #3d444d } .positive { color: #58a6ff } .negative { color: #f0883e }
  .page { color: #0d1117 }
}"""


def image_of(plot: Plot) -> str:
    """A plot as a file."""
    corner = f'x="{plot.left:.1f}" y="{plot.top:.1f}"'
    page = f'<rect class="page" {corner} width="{plot.width:.1f}" height="{plot.height:.1f}"/>'
    lines = [page, *elements(plot, lambda number: None)]
    view = (plot.left, plot.top, plot.width, plot.height)
    return image(plot.title, plot.description, view, STYLE, lines)


def elements(plot: Plot, name: Name) -> Iterator[str]:
    """An element for each mark; one that shows a number has its name."""
    for mark in plot.marks:
        named = name(mark.of) if mark.of else None
        yield _element(mark, f' data-of="{escape(named)}"' if named else "")


def _element(mark: Mark, of: str) -> str:
    own = f'class="{mark.color}"{of}'
    match mark:
        case Rect():
            size = f'width="{mark.width:.2f}" height="{mark.height:g}"'
            depth = f' fill-opacity="{mark.depth:.3g}"' if mark.depth < 1 else ""
            return f'<rect {own} x="{mark.x:.2f}" y="{mark.y:g}" {size}{depth}/>'
        case Path(points=points):
            first, *others = (f"{x:.1f} {y:.1f}" for x, y in points)
            way = f"M{first}{'Q' if mark.bends else 'L'}{' '.join(others)}"
            return f'<path {own} d="{way}" stroke-width="{mark.width:.2f}"/>'
        case Dot():
            return f'<circle {own} cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{RADIUS}"/>'
        case Label():
            kind = f'class="{mark.color}{" bold" * mark.bold}"{of}'
            place = f'x="{mark.x:.1f}" y="{mark.y + BASELINE:.1f}" text-anchor="{mark.anchor}"'
            return f"<text {kind} {place}>{escape(plain(mark.words))}</text>"
        case _:
            assert_never(mark)
