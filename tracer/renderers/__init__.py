"""Output formats: one module for each, and their table."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from tracer.lesson.document import Document


class Format(StrEnum):
    """The format of the output: text, a program, or data for programs."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CODE = "code"
    JSON = "json"
    NPZ = "npz"
    SAFETENSORS = "safetensors"

    @property
    def is_data(self) -> bool:
        """Whether it is a program or data, written from traces; else it is text of a document."""
        return self in (Format.CODE, Format.JSON, Format.NPZ, Format.SAFETENSORS)

    @property
    def is_binary(self) -> bool:
        """Whether it is not text."""
        return self in (Format.NPZ, Format.SAFETENSORS)


class HeadingLevel(StrEnum):
    """The level of section titles; `none` leaves out all titles."""

    ONE = "1"
    TWO = "2"
    THREE = "3"
    FOUR = "4"
    FIVE = "5"
    SIX = "6"
    NONE = "none"


def render(
    document: Document,
    format: Format,
    *,
    math: bool = False,
    heading: HeadingLevel = HeadingLevel.TWO,
    standalone: bool = False,
    figures: str | None = None,
    width: int | None = None,
) -> str:
    """A document as text, without color.

    `math` writes Markdown's formulas and lines as mathematics, `figures` is the path to the folder
    of its pictures; `heading` is the level of titles, of which a terminal has only one;
    `standalone` writes a whole LaTeX file; `width` is that of a terminal in cells.

    Raises:
        ValueError: a data format, which is written from traces.
    """
    match format:
        case Format.TERMINAL:
            from tracer.renderers import terminal

            return terminal.plain(document, width, titles=heading is not HeadingLevel.NONE)
        case Format.MARKDOWN:
            from tracer.renderers import markdown

            return markdown.render(document, math=math, heading=heading, figures=figures)
        case Format.LATEX:
            from tracer.renderers import latex

            return latex.render(document, standalone=standalone, heading=heading)
        case Format.CODE | Format.JSON | Format.NPZ | Format.SAFETENSORS:
            raise ValueError(f"a document has no {format}; a trace has")
        case _:
            assert_never(format)
