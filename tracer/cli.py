"""The command line: the only place that prints or exits."""

from __future__ import annotations

import os
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tracer import __version__
from tracer.errors import Problem, TracerError

if TYPE_CHECKING:
    from rich.console import Console

    from tracer.decoder import Trace

DEFAULT_SCENARIO = "alex"

app = typer.Typer(
    name="decoder-trace",
    help="Worked calculations of a transformer decoder in which every printed equation is true.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """What is printed: text for people, or JSON."""

    TERMINAL = "terminal"
    JSON = "json"


class CarryOption(StrEnum):
    """Which number the next calculation uses."""

    LINE = "line"
    STEP = "step"
    NEVER = "never"


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


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(help="A file, a bundled scenario, or - for stdin.")],
    token: Token = None,
    layer: Layer = None,
    head: Head = None,
    format: Formatted = Format.TERMINAL,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """Every step of the forward pass, worked for one token: the last, unless --token is given."""
    with _told_problems():
        trace = _trace(scenario, decimals, carry)
        _show(trace, None, token, layer, head, format, output)


@app.command()
def step(
    name: Annotated[str, typer.Argument(help="A step, a group of steps, or an address.")],
    scenario: Annotated[
        str,
        typer.Option("--scenario", "-s", envvar="DECODER_TRACE_SCENARIO", help="As for run."),
    ] = DEFAULT_SCENARIO,
    token: Token = None,
    layer: Layer = None,
    head: Head = None,
    format: Formatted = Format.TERMINAL,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """One step of a scenario, or a group of steps: attention, softmax, ffn, norm, logits …"""
    with _told_problems():
        trace = _trace(scenario, decimals, carry)
        _show(trace, name, token, layer, head, format, output)


@app.command()
def scenarios() -> None:
    """The scenarios that come with the program."""
    from tracer.scenario import bundled, load

    with _told_problems():
        found = {name: load(str(path)).scenario for name, path in bundled().items()}
    widest = max(map(len, found))
    for name, scenario in found.items():
        typer.echo(f"{name:{widest}}  {scenario.title}")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Worked calculations of a transformer decoder in which every printed equation is true."""
    if version:
        typer.echo(f"decoder-trace {__version__}")
        raise typer.Exit


class _told_problems:  # noqa: N801  # used as a function is
    """Turns bad input into a line per problem on standard error, and exit code 2."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, TracerError):
            _fail(error)


def _fail(error: TracerError) -> NoReturn:
    for problem in error.problems:
        typer.echo(str(problem), err=True)
    raise typer.Exit(2)


def _trace(name: str, decimals: int | None, carry: CarryOption | None) -> Trace:
    """Load a scenario and run it, with the rounding that the command line asks for."""
    from dataclasses import replace

    from tracer.decoder import trace
    from tracer.rounding import Carry
    from tracer.scenario import load

    loaded = load(name)
    changes: dict[str, Any] = {}
    if decimals is not None:
        changes["decimals"] = decimals
    if carry is not None:
        changes["carry"] = Carry(carry.value)
    rounding = loaded.scenario.rounding.model_copy(update=changes)
    try:
        return trace(loaded.name, loaded.scenario.model_copy(update={"rounding": rounding}))
    except TracerError as error:
        raise TracerError(*(replace(p, file=loaded.file) for p in error.problems)) from None


def _show(
    trace: Trace,
    name: str | None,
    token: str | None,
    layer: int | None,
    head: int | None,
    format: Format,
    output: Path | None,
) -> None:
    """Print the chosen steps, or write them to a file."""
    from tracer.steps import select, stages

    chosen = select(stages(trace.steps), name, layer, head)
    position = None if token is None else _position(token, trace.scenario.tokens)
    match format:
        case Format.JSON:
            from tracer.renderers import as_json

            whole = name is None and layer is None and head is None
            steps = trace.steps if whole else [s for stage in chosen for s in stage.steps]
            _write(as_json.render(trace, steps, position), output)
        case Format.TERMINAL:
            from tracer.lesson import lesson
            from tracer.renderers import terminal

            followed = len(trace.tokens) - 1 if position is None else position
            document = lesson(trace, chosen, followed, whole=name is None)
            console = _console(output)
            if output is None:
                terminal.render(document, console)
            else:
                with console.capture() as captured:
                    terminal.render(document, console)
                _write(captured.get(), output)


def _console(output: Path | None) -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, no_color=bool(output) or None)


def _position(token: str, tokens: tuple[str, ...]) -> int:
    """The place, counted from 0, of a token given by its position or its text."""
    from tracer.names import closest

    if token.isdecimal() and 1 <= int(token) <= len(tokens):
        return int(token) - 1
    places = [i for i, text in enumerate(tokens) if text == token]
    if len(places) == 1:
        return places[0]
    if places:
        positions = ", ".join(str(place + 1) for place in places)
        message = f"the token {token!r} stands at several positions, give one of them: {positions}"
        raise TracerError(Problem(message))
    hint = closest(token, tokens)
    raise TracerError(Problem(f"no token {token!r}, expected 1 to {len(tokens)} or its text{hint}"))


def _write(content: str, output: Path | None) -> None:
    """Print, or replace a file as a whole: it is never half-written."""
    if output is None:
        sys.stdout.write(content)
        return
    try:
        handle, temporary = tempfile.mkstemp(
            dir=output.absolute().parent, prefix=f".{output.name}."
        )
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(content)
            Path(temporary).replace(output)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        problem = Problem(f"cannot be written: {error.strerror}", file=str(output))
        raise TracerError(problem) from None
