"""The figures of a document: the file of each, what it holds, and what it shows in words."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from tracer.lesson.document import Curve, Document, Figure, Matrix, Picture
from tracer.renderers import curve, svg
from tracer.renderers.picture import as_svg

Drawn: TypeAlias = Matrix | Picture | Curve
"""Blocks that can be figures."""


def figures(document: Document) -> dict[str, str]:
    """The name of each file, and what it holds."""
    blocks = [*document.introduction, *(block for s in document.sections for block in s.blocks)]
    found = (block for block in blocks if isinstance(block, Drawn))
    return {file_name(block.figure): image(block) for block in found if block.figure}


def file_name(figure: Figure) -> str:
    """The file of a figure."""
    return f"{figure.name}.svg"


def image(block: Drawn) -> str:
    """What the file of a block's figure holds."""
    match block:
        case Matrix():
            return svg.heat_map(block)
        case Picture():
            return as_svg.image_of(block)
        case Curve():
            return curve.image_of(block)
        case _:
            assert_never(block)


def description(block: Drawn) -> str:
    """A figure in words."""
    match block:
        case Matrix():
            return svg.description(block)
        case Picture():
            return as_svg.description(block)
        case Curve():
            return curve.description(block)
        case _:
            assert_never(block)
