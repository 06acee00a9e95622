"""The command line: the only place that prints or exits."""

from __future__ import annotations

import contextlib
import functools
import io
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tracer import __version__
from tracer.errors import Problem, TracerError, told
from tracer.options import PAGE, ROUNDING, TEXT, asks, request
from tracer.renderers import Format
from tracer.request import Request
from tracer.usage import Command, Commands, WrongUsage

app = typer.Typer(
    name="decoder-trace",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LOOK, TRAIN_AND_GENERATE, WRITE, SCENARIOS = (
    *("Look at the calculation", "Train and generate", "Make a text of it", "Scenarios"),
)


def command(group: str, *examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function: where the help lists it, and how it is used."""
    return app.command(cls=Command, rich_help_panel=group, epilog="\n".join(examples))


@command(LOOK, "run alex.yaml", "run science --token like")
@asks("SCENARIO", "token", "layer", "head", "sequence", "no_mask", "given", *PAGE)
def run(request: Request) -> None:
    """Every step of the forward pass, worked for one token."""
    _show(request)


@command(LOOK, "step softmax --head 1", "step attention -s my.yaml --layer 1")
@asks("NAME", "scenario", "token", "layer", "head", "sequence", "no_mask", "given", *PAGE)
def step(request: Request) -> None:
    """One step or a group of steps: softmax, norm, attention, ffn."""
    _show(request)


@command(LOOK, "steps alex.yaml", "steps my.yaml --format markdown")
@asks("SCENARIO", "format", "standalone", "output")
def steps(request: Request) -> None:
    """The steps with their numbers, names, shapes and addresses."""
    _show(request)


@command(LOOK, 'why "output[Alex,spicy]"', 'why "layer1.ffn.norm[4,1]" --depth 2')
@asks("ENTRY", "scenario", "depth", "sequence", "example", "given", *TEXT)
def why(request: Request) -> None:
    """One number, and all that it came from, back to what was typed."""
    _show(request)


@command(LOOK, 'value "output[Alex,spicy]"', 'value "probabilities[3,1]" -s science')
@asks("ENTRY", "scenario", "sequence", "example", "given", *ROUNDING)
def value(request: Request) -> None:
    """One number as it is printed, for a sentence of your own.

    With the words `as percent` behind it, a share is shown as a percentage.
    """
    _show(request)


@command(TRAIN_AND_GENERATE, "loss pizza", "loss pizza --format markdown")
@asks("SCENARIO", "example", "given", *TEXT)
def loss(request: Request) -> None:
    """The training pass: predictions beside targets, and the loss."""
    _show(request)


DRAWING = ("temperature", "top_k", "top_p", "seed")


@command(TRAIN_AND_GENERATE, "generate pizza", "generate pizza --temperature 0.8 --seed 1")
@asks("SCENARIO", "start", "max_tokens", *DRAWING, "kv_cache", "worked", *TEXT)
def generate(request: Request) -> None:
    """A text, generated turn by turn.

    Each turn adds the most probable word, unless --temperature, --top-k, --top-p or --seed asks
    for words to be drawn.
    """
    _show(request)


@command(WRITE, "tutorial alex", "tutorial my.yaml --figures pictures -o my.md")
@asks("SCENARIO", "token", "given", *PAGE, format=Format.MARKDOWN)
def tutorial(request: Request) -> None:
    """The complete text: the question, every step, a summary."""
    _show(request)


@command(WRITE, "weave text.md", "weave text.md --check")
def weave(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="A Markdown file with marked parts.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 with a diff if any is stale.")
    ] = False,
) -> None:
    """Refresh the marked blocks and numbers in your own Markdown."""
    from tracer.files import replace
    from tracer.weave.files import woven

    with _told_problems():
        found = woven(files, _asked)
        for file in found:
            if not file.marks:
                message = "no marks to weave, expected <!-- decoder-trace: … -->"
                typer.echo(str(Problem(message, str(file.path))), err=True)
            elif check:
                sys.stdout.write(file.difference)
            elif file.is_stale:
                replace(file.path, file.text)
        if check and any(file.is_stale for file in found):
            raise typer.Exit(1)


@command(SCENARIOS, "scenarios", "tutorial pizza")
def scenarios() -> None:
    """The scenarios that come with the program."""
    from tracer.scenario.loading import bundled, load

    with _told_problems():
        found = {name: load(str(path)).scenario for name, path in bundled().items()}
    widest = max(map(len, found))
    for name, scenario in found.items():
        typer.echo(f"{name:{widest}}  {scenario.title}")


@command(SCENARIOS, "schema", "run my.yaml")
def schema() -> None:
    """The JSON Schema of a scenario, for editors that complete keys."""
    from tracer.scenario.schema import schema

    sys.stdout.write(schema())


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Worked calculations of a transformer decoder in which every printed equation is true."""
    _prepare_streams()
    if version:
        typer.echo(f"decoder-trace {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


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


@functools.cache
def _commands() -> dict[str, Any]:
    """The commands as Typer makes them, once for all marks."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return commands


NOT_IN_MARKS = ("-h", "--help", "--version", "--install-completion", "--show-completion")


def _asked(words: Sequence[str]) -> Request:
    """A command in words as the command line understands it, without running it.

    Raises:
        TracerError: the command line would not take it.
    """
    name, *arguments = words
    # In a mark the format is Markdown if none is said, and there is no help to ask for.
    here: dict[str, Any] = {"default_map": {"format": "markdown"}, "help_option_names": []}
    try:
        context = _commands()[name].make_context(name, arguments, **here)
    except WrongUsage as error:
        if error.option in NOT_IN_MARKS:
            raise TracerError(Problem(f"a mark cannot ask for {error.option}")) from None
        raise TracerError(Problem(error.format_message())) from None
    return request(name, context.params)
