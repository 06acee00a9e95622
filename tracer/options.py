"""The options that several commands share, and what they ask a document to become."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracer.carry import Carry

if TYPE_CHECKING:
    from tracer.document import Document


class Format(StrEnum):
    """What is printed: text for people, for authors, or for programs."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


Scenario = Annotated[str, typer.Argument(help="A file, a bundled scenario, or - for stdin.")]
ScenarioOption = Annotated[
    str, typer.Option("--scenario", "-s", envvar="DECODER_TRACE_SCENARIO", help="As for run.")
]
Token = Annotated[
    str | None, typer.Option("--token", "-t", help="Follow this token: its position, or its text.")
]
Layer = Annotated[int | None, typer.Option("--layer", "-l", help="Only this layer.", min=1)]
Head = Annotated[int | None, typer.Option("--head", help="Only this attention head.", min=1)]
Formatted = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
Math = Annotated[
    bool, typer.Option("--math", help="In Markdown, formulas and lines between $$ and $$.")
]
Standalone = Annotated[
    bool, typer.Option("--standalone", help="In LaTeX, a whole file rather than a fragment.")
]
Figures = Annotated[
    Path | None,
    typer.Option(
        "--figures", file_okay=False, help="Write a picture of each head's attention weights here."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file.", dir_okay=False)
]
Decimals = Annotated[int | None, typer.Option(help="Decimals to round to.", min=0, max=12)]
CarryMode = Annotated[
    Carry | None,
    typer.Option(
        help="Work on with the number printed, with the one rounded where its step ended, "
        "or never round on the way."
    ),
]


Sequence = Annotated[
    int | None, typer.Option(help="Follow this sequence of the scenario's batch.", min=1)
]
NoMask = Annotated[
    bool, typer.Option("--no-mask", help="Also show what a token would see without the mask.")
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        metavar="ADDRESS=VALUES",
        help="Pin a value instead of computing it: layer1.attention.output=[[1, 2], [3, 4]].",
    ),
]


@dataclass(frozen=True)
class Style:
    """What a document is to become, and where it goes."""

    format: Format
    math: bool = False
    standalone: bool = False
    figures: Path | None = None
    output: Path | None = None

    def rendered(self, document: Document) -> str:
        """A document as text, without colour."""
        if self.format is Format.MARKDOWN:
            from tracer.renderers import markdown

            return markdown.render(document, math=self.math, figures=self._way_to_figures())
        if self.format is Format.LATEX:
            from tracer.renderers import latex

            return latex.render(document, standalone=self.standalone)
        from tracer.renderers import terminal

        return terminal.plain(document)

    def _way_to_figures(self) -> str | None:
        """The folder of the pictures, as seen from the file that links them."""
        if self.figures is None:
            return None
        here = self.output.absolute().parent if self.output else Path.cwd()
        return Path(os.path.relpath(self.figures, here)).as_posix()
