"""What a marked part of an author's Markdown asks for: a command, run beside the file."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.weaving import Directive

COMMANDS = ("run", "step", "loss", "generate", "tutorial", "value")
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
"""The terminal that woven text is made for."""


def renderer(path: Path, app: Callable[..., object]) -> Callable[[Directive], str]:
    """How the marked parts of a file are rendered: as `app`, the command line, would do it.

    Paths are relative to the file. The output is Markdown, or, with `--format`, fenced text.
    """

    def render(directive: Directive) -> str:
        command, *arguments = directive.words
        if command not in COMMANDS:
            message = f"no command {command!r} to weave{closest(command, COMMANDS)}"
            raise TracerError(Problem(message))
        if any(_is_option(argument, "-o", "--output", "--figures") for argument in arguments):
            raise TracerError(Problem("a woven command writes no files"))
        if command == "value":
            return _output(app, path, [command, *arguments])
        formats = [argument for argument in arguments if _is_option(argument, "-f", "--format")]
        if not formats:
            return _output(app, path, [command, "--format", "markdown", *arguments])
        written = _output(app, path, [command, *arguments])
        chosen = " ".join(arguments[arguments.index(formats[-1]) :][:2])
        return written if "markdown" in chosen else f"```text\n{written}\n```"

    return render


def _is_option(argument: str, short: str, *names: str) -> bool:
    """Whether an argument is one of these options, its value attached or not: -ofile, -o file."""
    attached = argument.startswith(short) and not argument.startswith("--")
    return attached or argument.partition("=")[0] in names


@contextlib.contextmanager
def _environment(changed: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changed)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _output(app: Callable[..., object], path: Path, arguments: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(path.absolute().parent),
        _environment(PLAIN),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            app(arguments, prog_name="decoder-trace")
        except SystemExit as end:
            if end.code:
                raise TracerError(*map(Problem, _complaints(err.getvalue()))) from None
    return out.getvalue().strip("\n")


def _complaints(printed: str) -> list[str]:
    """What a command said on standard error, a line each, without the frame of a usage error."""
    lines = [line.strip("│╭╰╮╯─ ") for line in printed.splitlines()]
    said = [line for line in lines if line and not line.startswith(("Usage:", "Try ", "Error"))]
    return said or ["the command failed"]
