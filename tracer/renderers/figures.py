"""The figures of a document: the file of each, what it holds, and what it shows in words."""

from __future__ import annotations

from tracer.lesson.document import Document, Figure, Matrix, Picture
from tracer.renderers import svg
from tracer.renderers.picture import as_svg


def figures(document: Document) -> dict[str, str]:
    """The name of each file, and what it holds."""
    blocks = [*document.introduction, *(block for s in document.sections for block in s.blocks)]
    found = (block for block in blocks if isinstance(block, Matrix | Picture))
    return {file_name(block.figure): image(block) for block in found if block.figure}


def file_name(figure: Figure) -> str:
    """The file of a figure."""
    return f"{figure.name}.svg"


def image(block: Matrix | Picture) -> str:
    """What the file of a block's figure holds."""
    return svg.heat_map(block) if isinstance(block, Matrix) else as_svg.image_of(block)


def description(block: Matrix | Picture) -> str:
    """A figure in words."""
    return svg.description(block) if isinstance(block, Matrix) else as_svg.description(block)
