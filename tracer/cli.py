"""The command line: the only place that prints or exits."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tracer import __version__
from tracer.errors import Problem, TracerError, told
from tracer.options import PAGE, TEXT, asks, request
from tracer.renderers import Format
from tracer.request import Request

app = typer.Typer(
    name="decoder-trace",
    help="Worked calculations of a transformer decoder in which every printed equation is true.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
@asks("SCENARIO", "token", "layer", "head", "sequence", "no_mask", "given", *PAGE)
def run(request: Request) -> None:
    """Every step of the forward pass, worked for one token: the last, unless --token is given."""
    _show(request)


@app.command()
@asks("NAME", "scenario", "token", "layer", "head", "sequence", "no_mask", "given", *PAGE)
def step(request: Request) -> None:
    """One step of a scenario, or a group of steps: attention, softmax, ffn, norm, logits …"""
    _show(request)


@app.command()
@asks("ENTRY", "scenario", "depth", "sequence", "example", "given", *TEXT)
def why(request: Request) -> None:
    """One number, and the worked lines of every number it came from, back to what was typed."""
    _show(request)


@app.command()
@asks("ENTRY", "scenario", "sequence", "example", "given", "decimals", "carry")
def value(request: Request) -> None:
    """One number, as it is printed, for a sentence of your own; add `as percent` if wanted."""
    _show(request)


@app.command()
@asks("SCENARIO", "example", "given", *PAGE)
def loss(request: Request) -> None:
    """The training pass: all positions at once, predictions beside targets, cross-entropy."""
    _show(request)


DRAWING = ("temperature", "top_k", "top_p", "seed")


@app.command()
@asks("SCENARIO", "start", "max_tokens", "worked", "kv_cache", *DRAWING, *PAGE)
def generate(request: Request) -> None:
    """Generate a text, one turn at a time: the most probable word, unless words are drawn."""
    _show(request)


@app.command()
@asks("SCENARIO", "token", "given", *PAGE, format=Format.MARKDOWN)
def tutorial(request: Request) -> None:
    """The complete text for a scenario: the question, every step, a summary, the pipeline."""
    _show(request)


@app.command()
def weave(
    files: Annotated[list[Path], typer.Argument(help="Markdown files with marked parts.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 with a diff if any is stale.")
    ] = False,
) -> None:
    """Refresh the marked blocks and numbers in your own Markdown; all else stays as it is."""
    from tracer.files import replace
    from tracer.weave.files import stale

    with _told_problems():
        found = stale(files, _asked)
        for file in found:
            if check:
                sys.stdout.write(file.difference)
            else:
                replace(file.path, file.woven)
        if check and found:
            raise typer.Exit(1)


@app.command()
def scenarios() -> None:
    """The scenarios that come with the program."""
    from tracer.scenario.loading import bundled, load

    with _told_problems():
        found = {name: load(str(path)).scenario for name, path in bundled().items()}
    widest = max(map(len, found))
    for name, scenario in found.items():
        typer.echo(f"{name:{widest}}  {scenario.title}")


@app.command()
def schema() -> None:
    """The JSON Schema of a scenario: every key, for editors that complete them."""
    from tracer.scenario.schema import schema

    sys.stdout.write(schema())


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Worked calculations of a transformer decoder in which every printed equation is true."""
    _prepare_streams()
    if version:
        typer.echo(f"decoder-trace {__version__}")
        raise typer.Exit


def _prepare_streams() -> None:
    """Signs that a terminal's encoding lacks come out as escapes; `| head` ends the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is sys.__stdout__ and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


@contextlib.contextmanager
def _told_problems() -> Iterator[None]:
    """Bad input is a line per problem on standard error, and exit code 2."""
    try:
        yield
    except TracerError as error:
        for line in told(error.problems):
            typer.echo(line, err=True)
        raise typer.Exit(2) from None


def _show(request: Request) -> None:
    """Print the answer, or write it to a file without colour; and its pictures to theirs."""
    from tracer import files
    from tracer.pipeline import answer, pictures, rendered

    with _told_problems():
        answered = answer(request)
        for path, picture in pictures(request, answered).items():
            files.replace(path, picture, create_folder=True)
        if request.output is not None:
            files.replace(request.output, rendered(request, answered))
        elif isinstance(answered, str) or request.format is not Format.TERMINAL:
            sys.stdout.write(rendered(request, answered))
        else:
            from tracer.renderers import terminal

            terminal.show(answered)


def _asked(words: Sequence[str]) -> Request:
    """A command in words as the command line understands it, without running it.

    Raises:
        TracerError: the command line would not take it.
    """
    name, *arguments = words
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    # Click's UsageError, which newer Typers bring themselves.
    usage_error: type[Any] = typer.BadParameter.__mro__[1]
    try:
        context = command.make_context(name, arguments)
    except usage_error as error:
        raise TracerError(Problem(error.format_message())) from None
    return request(name, context.params)
