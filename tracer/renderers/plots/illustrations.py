"""Which plots show a block."""

from __future__ import annotations

from typing import assert_never

from tracer.lesson.document import Arcs, Bars, Curve, Drawing, Graph, Groups, HeatMaps, Plane
from tracer.renderers import curve
from tracer.renderers.plots import arcs, graph, groups, multiples, plane
from tracer.renderers.plots.marks import Plot

MOST_ROWS = 40
"""Bars that fit on a page of paper."""


def plot_of(block: Drawing | Curve | Bars) -> Plot:
    """The plot of a block."""
    match block:
        case Arcs():
            return arcs.plot_of(block)
        case Groups():
            return groups.plot_of(block)
        case Graph():
            return graph.plot_of(block)
        case Plane():
            return plane.plot_of(block)
        case HeatMaps():
            return multiples.plot_of(block)
        case Curve():
            return curve.plot_of(block)
        case Bars(bars):
            (whole,) = groups.pages_of(block, len(bars))
            return whole
        case _:
            assert_never(block)


def on_paper(block: Drawing | Curve | Bars) -> list[Plot]:
    """The plots of a block, each of which fits on a page."""
    return list(groups.pages_of(block, MOST_ROWS)) if isinstance(block, Bars) else [plot_of(block)]
