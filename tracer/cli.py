"""The command line: the only place that prints or exits."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracer import __version__, completion, pager, progress, streams
from tracer.audit import Report
from tracer.errors import Problem, TracerError, printable
from tracer.options import PAGE, ROUNDING, TEXT, asks, request
from tracer.renderers import Format
from tracer.request import Request
from tracer.usage import Commands
from tracer.values import file_name, one_of, some

if TYPE_CHECKING:
    from tracer.pipeline import Answer

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
    # Typer keeps the line breaks of a paragraph that begins with \b.
    lines = "".join(f"\n  decoder-trace {example}" for example in examples)
    return app.command(rich_help_panel=group, epilog=f"\b\nExamples:{lines}")


@command(LOOK, "run alex.yaml", "run science --token like")
@asks(
    *("SCENARIO", "token", "layer", "head", "sequence", "no_mask", "terms", "given", "vary"),
    *PAGE,
)
def run(request: Request) -> None:
    """Every step of the forward pass, worked for one token."""
    _show(request)


@command(LOOK, "step softmax --head 1", "step encoder.softmax -s picture --layer 1")
@asks(
    *("NAME", "scenario", "token", "layer", "head", "sequence", "no_mask", "terms", "given"),
    *PAGE,
)
def step(request: Request) -> None:
    """One step or a group of steps: softmax, norm, attention, ffn."""
    _show(request)


@command(LOOK, "steps alex.yaml", "steps my.yaml --format markdown")
@asks("SCENARIO", "format", "standalone", "output", "force", "no_pager")
def steps(request: Request) -> None:
    """The steps with their numbers, names, shapes and addresses."""
    _show(request)


@command(LOOK, "shapes gpt2-small", "shapes alex.yaml --length 100")
@asks(
    *("SCENARIO", "length", "format", "heading", "standalone"),
    *("output", "force", "no_pager"),
)
def shapes(request: Request) -> None:
    """The shape of every matrix, parameters, multiply-adds, bytes."""
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


@command(LOOK, "lens pizza", "lens science --token like")
@asks("SCENARIO", "token", "sequence", "given", *PAGE)
def lens(request: Request) -> None:
    """What each layer would say, if it were the last."""
    _show(request)


@command(TRAIN_AND_GENERATE, "loss pizza", "loss pizza --format markdown")
@asks("SCENARIO", "example", "given", *TEXT)
def loss(request: Request) -> None:
    """The training pass: predictions beside targets, and the loss."""
    _show(request)


OPTIMIZING = ("optimizer", "learning_rate", "momentum", "weight_decay", "clip")


@command(TRAIN_AND_GENERATE, "train pizza", "train pizza --steps 10 --save trained.yaml")
@asks("SCENARIO", "token", "parameter", "example", "steps", *OPTIMIZING, "save", "given", *PAGE)
def train(request: Request) -> None:
    """The way back, each gradient worked; the update of the weights."""
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


WORKSHEET = ("blanks", "level", "seed", "key", "vary")


@command(
    WRITE,
    "tutorial my.yaml --figures pictures -o my.md",
    "tutorial alex --blanks --key key.md",
)
@asks(
    *("SCENARIO", "token", "layer", "head", "train", "given", *WORKSHEET, *PAGE),
    format=Format.MARKDOWN,
)
def tutorial(request: Request) -> None:
    """The complete text: the question, every step, a summary."""
    _show(request)


@command(WRITE, "page alex -o alex.html", "page pizza --train --steps 10 -o pizza.html")
@asks(
    *("SCENARIO", "token", "layer", "head", "train", "steps", "given", "vary"),
    *(*ROUNDING, "brief", "output", "force"),
)
def page(request: Request) -> None:
    """A page for a browser: point at a number to see its line."""
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
    from tracer.files.writing import write
    from tracer.weave.files import woven

    with progress.shown("weave"):
        found = woven(files, _asked)
    for file in found:
        if not file.marks:
            message = "no marks to weave, expected <!-- decoder-trace: … -->"
            typer.echo(str(Problem(message, str(file.path))), err=True)
    stale = {file.path: file for file in found if file.is_stale}  # one that is named twice, once
    if check:
        sys.stdout.writelines(file.difference for file in stale.values())
        raise typer.Exit(1 if stale else 0)
    texts = {path: file.text for path, file in stale.items()}
    write(texts.items(), held={path: file.old for path, file in stale.items()})


@command(WRITE, "check pizza", "check my.yaml --against dump.npz")
@asks(
    *("SCENARIO", "figures_file", "against", "tolerance", "decimals", "carry", "format", "math"),
    *("heading", "standalone", "output", "force", "no_pager"),
)
def check(request: Request) -> None:
    """Published figures, or another program's arrays, held against it.

    A figures file lists what a text prints: `figures:`, and under it for each number or row
    `- {line: 77, address: layer1.attention.head1.scores, row: Alex, column: 2, printed: 7.956}`.
    `_` stands for a number that is left out, `part: products`, `sum`, `shape` or `parameters` for
    what is no value, `unknown: why` in place of an address for what the scenario does not compute.
    The exit code is 1 if anything is wrong.
    """
    from tracer.pipeline import checked

    _not_written_over(request)
    with progress.shown(f"check {request.scenario}"):
        found = checked(request)
    _show(request, found.answer)
    raise typer.Exit(0 if found.holds else 1)


@command(WRITE, "audit text.md", "audit text.md --strict --format json")
def audit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            parser=some("a file, a folder or -"),
            help="A text: Markdown, LaTeX, reStructuredText, HTML, a notebook, or plain; a folder "
            "of such; or - for standard input.",
        ),
    ],
    show_skipped: Annotated[
        bool, typer.Option("--show-skipped", help="List the signs that were not read, too.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 1 for warnings, too, and note what holds only with numbers that "
            "were not rounded as they are printed.",
        ),
    ] = False,
    form: Annotated[
        Report,
        typer.Option(
            *("--format", "-f"),
            metavar="FORMAT",
            parser=one_of(Report),
            autocompletion=completion.choices(Report),
            help="How it is written: terminal, json, sarif or github.",
        ),
    ] = Report.TERMINAL,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            parser=file_name,
            help="Write to this file instead of the screen.",
        ),
    ] = None,
) -> None:
    """False arithmetic in any text; exit 1 if there is some.

    What cannot be read for certain is left alone: silence is no proof. A line that has the comment
    “audit: ignore”, or follows such a comment, is passed over.
    """
    from tracer.audit.auditing import audited
    from tracer.audit.report import coloured, rendered
    from tracer.files.targets import check

    check([] if output is None else [output], map(Path, files))
    with progress.shown("audit"):
        audits, problems = audited(files, strict=strict)
    if output is not None:
        from tracer.files.writing import write

        write([(output, rendered(form, audits, skipped=show_skipped, version=__version__))])
    elif form is Report.TERMINAL:
        sys.stdout.write(coloured(audits, skipped=show_skipped))
    else:
        sys.stdout.write(rendered(form, audits, skipped=show_skipped, version=__version__))
    if problems:
        raise TracerError(*problems)
    counting = ("error", "warning") if strict else ("error",)
    wrong = any(finding.level in counting for found in audits for finding in found.findings)
    raise typer.Exit(1 if wrong else 0)


@command(SCENARIOS, "scenarios", "tutorial pizza")
def scenarios() -> None:
    """The scenarios that come with the program."""
    from tracer.scenario.loading import bundled, title_of

    found = {name: title_of(path) for name, path in bundled().items()}
    widest = max(map(len, found))
    for name, title in found.items():
        sys.stdout.write(f"{name:{widest}}  {title}\n")


@command(SCENARIOS, "new first.yaml", "new two-heads.yaml")
def new(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=file_name,
            help="Where to write it; a file that is there already stays as it is.",
        ),
    ],
) -> None:
    """A small commented scenario that runs, to begin with."""
    from tracer.files.writing import create
    from tracer.scenario.schema import template

    create(file, template())
    # As a shell takes it for one word, and the program for no option.
    typed = shlex.quote(f"./{file}" if str(file).startswith("-") else str(file))
    sys.stdout.write(printable(f"{file} is written; now: decoder-trace run {typed}") + "\n")


@command(SCENARIOS, "schema", "new first.yaml")
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
    if version:
        sys.stdout.write(f"decoder-trace {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def start(arguments: Sequence[str] | None = None) -> None:
    """Run a command, that of the command line if no other is given. It ends with SystemExit."""
    words = sys.argv[1:] if arguments is None else arguments
    with streams.told_problems():
        _program(*words[:1])(arguments, prog_name="decoder-trace")


def _show(request: Request, answered: Answer | None = None) -> None:
    """Print the answer, or write it to a file without colour; and its pictures to theirs."""
    from tracer.delivery import keyed, pictures, rendered, saved
    from tracer.lesson.document import Document
    from tracer.pipeline import answer

    on_screen = request.output is None and request.format is Format.TERMINAL
    reads = _not_written_over(request)
    with progress.shown(f"{request.command} {request.scenario}"):
        answered = answer(request) if answered is None else answered
        drawn = pictures(request, answered)
        kept = saved(request) | keyed(request, answered)
        if isinstance(answered, Document) and on_screen:
            from tracer.renderers import terminal

            content: str | bytes = terminal.shown(terminal.laid_out(answered))
        elif isinstance(answered, bytes):
            content = answered
        else:
            content = rendered(request, answered)
    written: list[tuple[Path, str | bytes]] = [*drawn.items(), *kept.items()]
    if request.output is not None:
        written.append((request.output, content))
    elif isinstance(content, str) and (request.no_pager or not pager.page(content)):
        sys.stdout.write(content)
    if written:
        from tracer.files.writing import write

        sys.stdout.flush()  # nothing is written where not all can be
        write(written, reads=reads, make=request.figures if drawn else None)


def _not_written_over(request: Request) -> list[Path | None]:
    """What the command reads, if it is to write; told at once if the output is among it."""
    if not request.writes:
        return []
    from tracer.files.targets import check
    from tracer.scenario.loading import file_of

    reads = [] if request.force else [file_of(request.scenario), *_also_read(request)]
    check(filter(None, (request.output, request.save, request.key)), reads)
    return reads


def _also_read(request: Request) -> list[Path]:
    """What a check reads beside its scenario."""
    if request.command != "check":
        return []
    from tracer.pipeline import figures_of

    return [request.against or figures_of(request)]


@functools.cache
def _program(name: str = "") -> Any:
    """The program with the command of this name alone; with all, if there is none.

    Typer takes as long to build all commands as a small scenario takes to run.
    """
    program = copy(app)
    commands = app.registered_commands
    named = [each for each in commands if getattr(each.callback, "__name__", "") == name]
    program.registered_commands = named or commands
    return typer.main.get_command(program)


def _asked(words: Sequence[str]) -> Request:
    """A command in words as the command line understands it, without running it.

    Raises:
        TracerError: the command line would not take it.
    """
    name, *arguments = words
    # In a mark the format is Markdown if none is said, and there is no help to ask for.
    here: dict[str, Any] = {"default_map": {"format": "markdown"}, "help_option_names": []}
    try:
        context = _program(name).commands[name].make_context(name, arguments, **here)
    except typer.TyperException as error:
        raise TracerError(Problem(error.format_message())) from None
    return request(name, context.params)
