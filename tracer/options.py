"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """What is printed: text for people, for authors, or for programs."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class CarryOption(StrEnum):
    """Which number the next calculation uses."""

    LINE = "line"
    STEP = "step"
    NEVER = "never"


Scenario = Annotated[str, typer.Argument(help="A file, a bundled scenario, or - for stdin.")]
Token = Annotated[
    str | None, typer.Option("--token", "-t", help="Follow this token: its position, or its text.")
]
Layer = Annotated[int | None, typer.Option("--layer", "-l", help="Only this layer.", min=1)]
Head = Annotated[int | None, typer.Option("--head", help="Only this attention head.", min=1)]
Formatted = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file.", dir_okay=False)
]
Decimals = Annotated[int | None, typer.Option(help="Decimals to round to.", min=0, max=12)]
CarryMode = Annotated[
    CarryOption | None,
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
