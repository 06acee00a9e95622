"""The commands that answer a request: help, options and parsing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

import typer

from tracer.errors import Problem, TracerError
from tracer.renderers import Format
from tracer.requests.request import ARGUMENTS, DEFAULTS, OPTIONS, Command, Request
from tracer.requests.usage import PlainCommand

LOOK, TRAIN_AND_GENERATE = "Look at the calculation", "Train and generate"
WRITE, SCENARIOS = "Write a text", "Scenarios"

ROUNDING = "decimals carry"
SHOWN = "format brief math heading standalone"
WRITTEN = "output force no_pager"
TEXT = f"{ROUNDING} {SHOWN} {WRITTEN}"
"""The output options of every command that prints a text."""
PAGE = f"{ROUNDING} {SHOWN} figures {WRITTEN}"
"""The output options for texts with pictures."""
COMPARED = f"{ROUNDING} format math heading standalone {WRITTEN}"
"""The output options of comparisons, which have no reasons to leave out."""
DRAWING = "temperature top_k top_p seed"
OPTIMIZING = "optimizer learning_rate momentum weight_decay clip"
WORKSHEET = "blanks level seed key vary"


@dataclass(frozen=True)
class Usage:
    """A command and its help; `takes` names its argument (in capitals) and options."""

    group: str
    help: str
    examples: tuple[str, str]
    takes: str
    defaults: dict[str, Any] = field(default_factory=dict)


COMMANDS: dict[Command, Usage] = {
    "run": Usage(
        LOOK,
        "Print every step of the forward pass, worked for one token.",
        ("run alex.yaml", "run science --token like"),
        f"SCENARIO token layer head sequence no_mask terms given vary {PAGE}",
    ),
    "step": Usage(
        LOOK,
        "Print a step or a group of steps: softmax, norm, attention, ffn.",
        ("step softmax --head 1", "step encoder.softmax -s picture --layer 1"),
        f"NAME scenario token layer head sequence no_mask terms given {PAGE}",
    ),
    "steps": Usage(
        LOOK,
        "List the steps with their numbers, names, shapes and addresses.",
        ("steps alex.yaml", "steps my.yaml --format markdown"),
        f"SCENARIO format standalone {WRITTEN}",
    ),
    "shapes": Usage(
        LOOK,
        "Print all shapes; count parameters, multiply-adds and bytes.",
        ("shapes gpt2-small", "shapes alex.yaml --length 100"),
        f"SCENARIO length format heading standalone {WRITTEN}",
    ),
    "why": Usage(
        LOOK,
        "Trace one number back to the numbers that were typed.",
        ('why "output[Alex,spicy]"', 'why "layer1.ffn.norm[4,1]" --depth 2'),
        f"ENTRY scenario depth terms sequence example given {TEXT}",
    ),
    "attribute": Usage(
        LOOK,
        "Split a logit into what each head, each FFN and each bias adds.\n\n"
        "The parts sum to the logit. With --instead-of, they sum to the difference of two logits. "
        "An attention score (layer1.attention.head1.scores[4,1]) splits into pairs of a part of "
        "the query and a part of the key.",
        (
            'attribute "logits[la,pizza]" -s pizza --instead-of la',
            'attribute "output[Alex,cheap]" --by token',
        ),
        f"ENTRY scenario instead_of by terms sequence given {PAGE}",
    ),
    "value": Usage(
        LOOK,
        "Print one number, for a sentence of your own.\n\n"
        "Append `as percent` to print a share as a percentage.",
        ('value "output[Alex,spicy]"', 'value "probabilities[3,1]" -s science'),
        f"ENTRY scenario sequence example given {ROUNDING}",
    ),
    "lens": Usage(
        LOOK,
        "Print what each layer would predict if it were the last.\n\n"
        "Then print the rank, the logit and the probability of a word after each sub-layer.",
        ("lens pizza --word la", "lens science --token like"),
        f"SCENARIO token word sequence given {PAGE}",
    ),
    "compare": Usage(
        LOOK,
        "Compare two runs, and patch values of one into the other.\n\n"
        "The second run is another scenario, the same with another --text, or the same after "
        "training (--train).",
        (
            "compare pizza --train --steps 10",
            "compare pizza --text '<START> odio la pizza' --sweep heads",
        ),
        f"SCENARIO OTHER text token train steps patch sweep figures given {COMPARED}",
    ),
    "loss": Usage(
        TRAIN_AND_GENERATE,
        "Print the predictions beside the targets, and the loss.",
        ("loss pizza", "loss pizza --format markdown"),
        f"SCENARIO example given {TEXT}",
    ),
    "train": Usage(
        TRAIN_AND_GENERATE,
        "Print the backward pass and the update of the weights.",
        ("train pizza", "train pizza --steps 10 --save trained.yaml"),
        f"SCENARIO token parameter example steps {OPTIMIZING} save given {PAGE}",
    ),
    "generate": Usage(
        TRAIN_AND_GENERATE,
        "Generate a text, one word per turn.\n\n"
        "Each turn appends the most probable word. With --temperature, --top-k, --top-p or --seed "
        "it draws a word instead.",
        ("generate pizza", "generate pizza --temperature 0.8 --seed 1"),
        f"SCENARIO start max_tokens {DRAWING} kv_cache worked {TEXT}",
    ),
    "tutorial": Usage(
        WRITE,
        "Write the complete text: the question, every step, a summary.",
        ("tutorial my.yaml --figures pictures -o my.md", "tutorial alex --blanks --key key.md"),
        f"SCENARIO token layer head train given {WORKSHEET} {PAGE}",
        {"format": Format.MARKDOWN},
    ),
    "page": Usage(
        WRITE,
        "Write a page for a browser: point at a number to see its line.",
        (
            "page alex -o alex.html",
            'page alex --attribute "output[Alex,spicy]" -o parts.html',
        ),
        "SCENARIO token layer head train steps attribute instead_of by given vary "
        f"{ROUNDING} brief output force",
    ),
    "check": Usage(
        WRITE,
        "Compare a text's figures or another program's arrays.\n\n"
        "A figures file lists what a text prints: `figures:`, and under it for each number or row "
        "`- {line: 77, address: layer1.attention.head1.scores, row: Alex, column: 2, "
        "printed: 7.956}`. `_` is a number that the text leaves out. `part: products`, `sum`, "
        "`shape` or `parameters` names a number of a line that is no entry of a matrix. `unknown: "
        "why` replaces the address of a number that the scenario does not compute. The exit code "
        "is 1 if a figure is wrong.",
        ("check pizza", "check my.yaml --against dump.npz"),
        f"SCENARIO figures_file against tolerance {COMPARED}",
    ),
}


def register(app: typer.Typer, name: Command, then: Callable[[Request], None]) -> None:
    """Register a command with Typer; it parses its words and calls `then` with the request."""
    usage = COMMANDS[name]
    defaults = DEFAULTS | usage.defaults
    parameters = [_parameter(taken, defaults.get(taken)) for taken in usage.takes.split()]

    def command(**answers: Any) -> None:
        then(_request(name, answers))

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    add(app, name, usage.group, usage.examples, usage.help)(command)


def add(
    app: typer.Typer, name: str, group: str, examples: Sequence[str], help: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that registers a function as a command, with its help section."""
    # Typer keeps the line breaks of a paragraph that begins with \b.
    epilog = "\b\nExamples:" + "".join(f"\n  decoder-trace {example}" for example in examples)
    return app.command(name, cls=PlainCommand, help=help, rich_help_panel=group, epilog=epilog)


def parse(words: Sequence[str]) -> Request:
    """Parse the words of a command line without running the command.

    In a mark of a text, the default format is Markdown, and there is no help.

    Raises:
        TracerError: the command line would refuse it.
    """
    name, *arguments = words
    here: dict[str, Any] = {"default_map": {"format": "markdown"}, "help_option_names": []}
    try:
        context = _parser(name).make_context(name, arguments, **here)
    except typer.TyperException as error:
        raise TracerError(Problem(error.format_message())) from None
    return _request(name, context.params)


@cache
def _parser(name: Any) -> Any:
    app = typer.Typer(add_completion=False)
    register(app, name, lambda request: None)
    return typer.main.get_command(app)


def _request(name: Any, answers: dict[str, Any]) -> Request:
    """Return the parsed words as a Request, with tuples instead of lists."""
    several = {each for each, default in DEFAULTS.items() if default == ()}
    answers = {each: tuple(a or ()) if each in several else a for each, a in answers.items()}
    return Request(name, **answers)


@cache  # most commands share most options
def _parameter(name: str, default: Any) -> inspect.Parameter:
    """Return an argument (in capitals) or an option as a parameter for Typer."""
    taken = ARGUMENTS.get(name) or OPTIONS[name]
    how: dict[str, Any] = {"help": taken.help}
    kind: Any = bool
    if taken.takes:
        how |= {"metavar": taken.takes, "autocompletion": taken.offers}
        how |= {"parser": taken.reads} if taken.reads else {}
        kind = str if taken.reads else list[str]
    keyword = inspect.Parameter.KEYWORD_ONLY
    if name in ARGUMENTS:
        annotation: Any = Annotated[kind, typer.Argument(**how)]
        default = None if taken.is_optional else inspect.Parameter.empty
        return inspect.Parameter(name.lower(), keyword, default=default, annotation=annotation)
    if name == "scenario":
        how |= {"envvar": "DECODER_TRACE_SCENARIO", "show_envvar": False}
    names = filter(None, (taken.name or f"--{name.replace('_', '-')}", taken.short))
    if default in (None, ()):
        default, kind = None, kind | None
    annotation = Annotated[kind, typer.Option(*names, **how)]
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)
