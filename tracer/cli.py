"""The command line: the only place that prints or exits."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tracer import __version__
from tracer.errors import Problem, TracerError
from tracer.options import (
    CarryMode,
    Decimals,
    Figures,
    Format,
    Formatted,
    Given,
    Head,
    Layer,
    Math,
    NoMask,
    Output,
    Scenario,
    ScenarioOption,
    Sequence,
    Standalone,
    Style,
    Token,
)

if TYPE_CHECKING:
    from tracer.decoder import Trace
    from tracer.document import Document
    from tracer.scenario import Loaded
    from tracer.tape import Step

DEFAULT_SCENARIO = "alex"

app = typer.Typer(
    name="decoder-trace",
    help="Worked calculations of a transformer decoder in which every printed equation is true.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def run(
    scenario: Scenario,
    token: Token = None,
    layer: Layer = None,
    head: Head = None,
    sequence: Sequence = None,
    no_mask: NoMask = False,
    given: Given = None,
    format: Formatted = Format.TERMINAL,
    math: Math = False,
    standalone: Standalone = False,
    figures: Figures = None,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """Every step of the forward pass, worked for one token: the last, unless --token is given."""
    from tracer.request import load_as, of_batch

    with _told_problems():
        loaded = of_batch(load_as(scenario, decimals, carry, given), sequence)
        style = Style(format, math, standalone, figures, output)
        _forward_pass(loaded, None, token, layer, head, no_mask, style)


@app.command()
def step(
    name: Annotated[str, typer.Argument(help="A step, a group of steps, or an address.")],
    scenario: ScenarioOption = DEFAULT_SCENARIO,
    token: Token = None,
    layer: Layer = None,
    head: Head = None,
    sequence: Sequence = None,
    no_mask: NoMask = False,
    given: Given = None,
    format: Formatted = Format.TERMINAL,
    math: Math = False,
    standalone: Standalone = False,
    figures: Figures = None,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """One step of a scenario, or a group of steps: attention, softmax, ffn, norm, logits …"""
    from tracer.request import load_as, of_batch

    with _told_problems():
        loaded = of_batch(load_as(scenario, decimals, carry, given), sequence)
        style = Style(format, math, standalone, figures, output)
        _forward_pass(loaded, name, token, layer, head, no_mask, style)


@app.command()
def loss(
    scenario: Scenario,
    example: Annotated[
        int | None, typer.Option(help="The training example, if there are several.", min=1)
    ] = None,
    given: Given = None,
    format: Formatted = Format.TERMINAL,
    math: Math = False,
    standalone: Standalone = False,
    figures: Figures = None,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """The training pass: all positions at once, predictions beside targets, cross-entropy."""
    from tracer.lesson import training_pass
    from tracer.request import example_of, load_as, traced

    with _told_problems():
        loaded = example_of(load_as(scenario, decimals, carry, given), example)
        trace = traced(loaded, loss=True)
        if format is Format.JSON:
            _print_json(trace, output)
        else:
            _print(training_pass(trace), Style(format, math, standalone, figures, output))


@app.command()
def generate(
    scenario: Scenario,
    start: Annotated[
        list[str] | None, typer.Option(help="A token to begin with; several, one after the other.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The most words to add.", min=1)] = None,
    worked: Annotated[bool, typer.Option("--worked", help="Every step of each turn.")] = False,
    kv_cache: Annotated[
        bool, typer.Option("--kv-cache", help="Compute only the new token's row in each turn.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option(help="Draw words, from logits divided by this.")
    ] = None,
    top_k: Annotated[int | None, typer.Option(help="Draw among the k likeliest.", min=1)] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Draw among the likeliest that together reach p.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw words; the same seed, the same.")] = None,
    format: Formatted = Format.TERMINAL,
    math: Math = False,
    standalone: Standalone = False,
    figures: Figures = None,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """Generate a text, one turn at a time: the most probable word, unless words are drawn."""
    from tracer.generation import choice, generate
    from tracer.lesson import generated_text
    from tracer.request import load_as

    with _told_problems():
        loaded = load_as(scenario, decimals, carry, [])
        beginning = loaded.scenario.generation
        generated = generate(
            loaded.name,
            loaded.scenario,
            start=start or [beginning.start or loaded.scenario.tokens[0]],
            most=max_tokens or beginning.max_tokens,
            choice=choice(seed, temperature, top_k, top_p),
            cached=kv_cache,
        )
        if format is Format.JSON:
            from tracer.renderers import as_json

            _write(as_json.generated(generated, worked=worked), output)
        else:
            document = generated_text(generated, worked=worked)
            _print(document, Style(format, math, standalone, figures, output))


@app.command()
def tutorial(
    scenario: Scenario,
    token: Token = None,
    given: Given = None,
    format: Formatted = Format.MARKDOWN,
    math: Math = False,
    standalone: Standalone = False,
    figures: Figures = None,
    output: Output = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """The complete text for a scenario: the question, every step, a summary, the pipeline."""
    from tracer.lesson import tutorial as lesson
    from tracer.request import load_as, position_of, traced

    with _told_problems():
        trace = traced(load_as(scenario, decimals, carry, given))
        if format is Format.JSON:
            _print_json(trace, output)
            return
        position = len(trace.tokens) - 1 if token is None else position_of(token, trace.tokens)
        document = lesson(trace, position)
        _print(document, Style(format, math, standalone, figures, output))


@app.command()
def value(
    which: Annotated[
        list[str],
        typer.Argument(
            metavar="ADDRESS[ROW,COLUMN] [as percent]",
            help="layer1.attention.head1.weights[Alex,Frank]; rows and columns by label or number.",
        ),
    ],
    scenario: ScenarioOption = DEFAULT_SCENARIO,
    given: Given = None,
    decimals: Decimals = None,
    carry: CarryMode = None,
) -> None:
    """One number, as it is printed: for a sentence of your own."""
    from tracer.quote import quoted
    from tracer.request import load_as, traced

    with _told_problems():
        trace = traced(load_as(scenario, decimals, carry, given))
        typer.echo(quoted(trace, which))


@app.command()
def weave(
    files: Annotated[list[Path], typer.Argument(help="Markdown files with marked parts.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 with a diff if any is stale.")
    ] = False,
) -> None:
    """Refresh the marked blocks and numbers in your own Markdown; all else stays as it is."""
    from tracer.directives import renderer
    from tracer.files import read, replace
    from tracer.weaving import difference, weave

    with _told_problems():
        found = [(path, read(path)) for path in files]
        problems: list[Problem] = []
        woven: list[tuple[Path, str, str]] = []
        for path, text in found:
            try:
                woven.append((path, text, weave(text, str(path), renderer(path, app))))
            except TracerError as error:
                problems += error.problems
        if problems:
            raise TracerError(*problems)
        stale = [(path, old, new) for path, old, new in woven if old != new]
        for path, old, new in stale:
            if check:
                sys.stdout.write(difference(old, new, str(path)))
            else:
                replace(path, new)
        if check and stale:
            raise typer.Exit(1)


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


def _forward_pass(
    loaded: Loaded,
    name: str | None,
    token: str | None,
    layer: int | None,
    head: int | None,
    no_mask: bool,
    style: Style,
) -> None:
    """Show the chosen steps."""
    from tracer.lesson import forward_pass
    from tracer.request import position_of, traced
    from tracer.steps import select, stages

    trace = traced(loaded, unmasked=no_mask)
    chosen = select(stages(trace.steps), name, layer, head)
    position = None if token is None else position_of(token, trace.tokens)
    if style.format is Format.JSON:
        whole = name is None and layer is None and head is None
        steps = None if whole else [step for stage in chosen for step in stage.steps]
        _print_json(trace, style.output, steps, position)
    else:
        followed = len(trace.tokens) - 1 if position is None else position
        _print(forward_pass(trace, chosen, followed, whole=name is None), style)


def _print(document: Document, style: Style) -> None:
    """Print a document, or write it to a file without colour; and its pictures to theirs."""
    if style.figures:
        from tracer import files
        from tracer.renderers import svg

        for name, picture in svg.figures(document).items():
            files.replace(style.figures / name, picture, create_folder=True)
    if style.format is Format.TERMINAL and style.output is None:
        from rich.console import Console

        from tracer.renderers import terminal

        terminal.render(document, Console(highlight=False, markup=False, emoji=False))
    else:
        _write(style.rendered(document), style.output)


def _print_json(
    trace: Trace,
    output: Path | None,
    steps: list[Step] | None = None,
    token: int | None = None,
) -> None:
    from tracer.renderers import as_json

    _write(as_json.render(trace, trace.steps if steps is None else steps, token), output)


def _write(content: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(content)
    else:
        from tracer import files

        files.replace(output, content)
