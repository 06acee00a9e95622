"""The figures of a document: file names, contents, descriptions."""

from __future__ import annotations

from typing import TypeAlias

from tracer.lesson import document as doc
from tracer.renderers import svg
from tracer.renderers.picture import as_svg
from tracer.renderers.plots import as_svg as plot_svg
from tracer.renderers.plots.illustrations import plot_of

Drawn: TypeAlias = doc.Matrix | doc.Picture | doc.Curve | doc.Bars | doc.Drawing
"""Blocks that can be figures."""


def figures(document: doc.Document) -> dict[str, str]:
    """The content of each figure file by its name."""
    blocks = [*document.introduction, *(block for s in document.sections for block in s.blocks)]
    found = (block for block in blocks if isinstance(block, Drawn))
    return {file_name(block.figure): image(block) for block in found if block.figure}


def file_name(figure: doc.Figure) -> str:
    """The file of a figure."""
    return f"{figure.name}.svg"


def image(block: Drawn) -> str:
    """The content of a figure's file."""
    match block:
        case doc.Matrix():
            return svg.heat_map(block)
        case doc.Picture():
            return as_svg.image_of(block)
        case _:
            return plot_svg.image_of(plot_of(block))


def description(block: Drawn) -> str:
    """A figure in words."""
    match block:
        case doc.Matrix():
            return svg.description(block)
        case doc.Picture():
            return as_svg.description(block)
        case _:
            return plot_of(block).description
