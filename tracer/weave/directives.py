"""What a marked part of an author's Markdown asks for, and what it becomes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.pipeline import answer, rendered
from tracer.renderers import Format
from tracer.request import Command, Request
from tracer.weave.marks import Directive

COMMANDS: tuple[str, ...] = get_args(Command)
QUOTES = ("value",)
"""Commands whose text stands inside a sentence."""

WIDTH = 80
"""Of the terminal that woven text is made for, in cells."""


def renderer(path: Path, asked: Callable[[Sequence[str]], Request]) -> Callable[[Directive], str]:
    """How the marked parts of a file are rendered: as the command line would do it.

    `asked` reads the words of a mark. Paths are relative to the file. The output is Markdown, or,
    where the mark says another format, fenced text.
    """

    def render(directive: Directive) -> str:
        command = directive.words[0]
        if command not in COMMANDS:
            message = f"no command {command!r} to weave{closest(command, COMMANDS)}"
            raise TracerError(Problem(message))
        if any(word in ("-h", "--help") for word in directive.words):
            raise TracerError(Problem("a mark cannot ask for help"))
        with contextlib.chdir(path.absolute().parent):
            return _written(_as_markdown(asked(directive.words), directive.words))

    return render


def _as_markdown(request: Request, words: Sequence[str]) -> Request:
    """The request with Markdown as its format, where the mark says none."""
    if request.output is not None or request.figures is not None:
        raise TracerError(Problem("a woven command writes no files"))
    says_format = any(word.startswith(("-f", "--format")) for word in words)
    return request if says_format else replace(request, format=Format.MARKDOWN)


def _written(request: Request) -> str:
    text = rendered(request, answer(request), WIDTH).strip("\n")
    plain = request.format is Format.MARKDOWN or request.command in QUOTES
    return text if plain else f"```text\n{text}\n```"
