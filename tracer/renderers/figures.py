"""The figures of a document: file names, contents, descriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tracer.lesson import document as doc
from tracer.renderers import bars, curve, svg
from tracer.renderers.picture import as_svg

Drawn: TypeAlias = doc.Matrix | doc.Picture | doc.Curve | doc.Bars
"""Blocks that can be figures."""

_WRITERS: dict[type[Drawn], tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    doc.Matrix: (svg.heat_map, svg.description),
    doc.Picture: (as_svg.image_of, as_svg.description),
    doc.Curve: (curve.image_of, curve.description),
    doc.Bars: (bars.image_of, bars.description),
}
"""The drawing and the description of each kind of figure."""


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
    draw, _ = _WRITERS[type(block)]
    return draw(block)


def description(block: Drawn) -> str:
    """A figure in words."""
    _, describe = _WRITERS[type(block)]
    return describe(block)
