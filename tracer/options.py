"""The options of the commands, each said once, and how a command gets those that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from tracer import completion
from tracer.renderers import Format, Heading
from tracer.request import Request
from tracer.scenario.carry import Carry
from tracer.values import Reader, file_name, number, one_of, some, terms, whole


def _option(kind: Any, *names: str, help: str, **how: Any) -> Any:
    """An option as Typer declares it."""
    return Annotated[kind, typer.Option(*names, help=help, **how)]


def _value(*names: str, takes: str, reads: Reader, offers: Any = None, help: str) -> Any:
    """An option that takes a value."""
    how = {"metavar": takes, "parser": reads, "autocompletion": offers}
    return _option(str | None, *names, help=help, **how)


MOST_TOKENS = 1_000_000
"""Each of them has a label."""

MOST_STEPS = 10_000


class OptimizerKind(StrEnum):
    """How the weights are moved."""

    SGD = "sgd"
    ADAM = "adam"
    ADAMW = "adamw"


_positive = number("a number above 0", lambda x: x > 0)

SCENARIO = some("a file, the name of a scenario, or -")


OPTIONS: dict[str, Any] = {
    "scenario": _option(
        str,
        "--scenario",
        "-s",
        metavar="SCENARIO",
        parser=SCENARIO,
        autocompletion=completion.scenarios,
        envvar="DECODER_TRACE_SCENARIO",
        show_envvar=False,
        help="The scenario, as for run. The environment variable DECODER_TRACE_SCENARIO may "
        "name it, too.",
    ),
    "token": _value(
        "--token",
        "-t",
        takes="TOKEN",
        reads=str,
        offers=completion.tokens,
        help="Follow this token: its position, or its text. If not given: the last. It is one of "
        "the encoder's where all that is shown is the encoder's.",
    ),
    "layer": _value(
        "--layer",
        "-l",
        takes="N",
        reads=whole(1),
        offers=completion.layers,
        help="Of the layers, only this one.",
    ),
    "head": _value(
        "--head",
        takes="N",
        reads=whole(1),
        offers=completion.heads,
        help="Of the heads, only this one.",
    ),
    "sequence": _value(
        "--sequence", takes="N", reads=whole(1), help="Read this sequence of the scenario's batch."
    ),
    "example": _value(
        "--example", takes="N", reads=whole(1), help="Read this one of the training examples."
    ),
    "parameter": _value(
        "--parameter",
        takes="ADDRESS",
        reads=str,
        help="Work the gradient of this parameter: layer1.ffn.W_1. If not given: the first.",
    ),
    "steps": _value(
        "--steps",
        takes="N",
        reads=whole(1, MOST_STEPS),
        help="Train so many steps; the first is worked.",
    ),
    "optimizer": _value(
        "--optimizer",
        takes="KIND",
        reads=one_of(OptimizerKind),
        offers=completion.choices(OptimizerKind),
        help="How the weights are moved: sgd, adam or adamw. If not given: as the scenario says.",
    ),
    "learning_rate": _value(
        "--learning-rate", takes="RATE", reads=_positive, help="How far a step goes."
    ),
    "momentum": _value(
        "--momentum",
        takes="SHARE",
        reads=number("a number from 0 to below 1", lambda m: 0 <= m < 1),
        help="How much of the step before goes on in the next; of sgd.",
    ),
    "weight_decay": _value(
        "--weight-decay",
        takes="RATE",
        reads=number("a number from 0 on", lambda d: d >= 0),
        help="How strongly each weight is drawn to 0.",
    ),
    "clip": _value(
        "--clip",
        takes="NORM",
        reads=_positive,
        help="Shrink all gradients together to this norm, if theirs is larger.",
    ),
    "save": _value(
        "--save",
        takes="FILE",
        reads=file_name,
        help="Write the trained scenario to this file: YAML that runs.",
    ),
    "train": _option(bool, "--train", help="Go on with training: the way back and the update."),
    "blanks": _option(bool, "--blanks", help="Leave numbers out, as a worksheet to be filled in."),
    "level": _value(
        "--level",
        takes="N",
        reads=whole(1, 3),
        help="Of a worksheet, what is left out: results of lines (1), products too (2), the matrix "
        "of one step too (3). If not given: 1.",
    ),
    "key": _value(
        "--key",
        takes="FILE",
        reads=file_name,
        help="Write what belongs in the blanks to this file.",
    ),
    "vary": _value(
        "--vary",
        takes="SEED",
        reads=whole(),
        help="Draw other numbers for the same scenario; the same seed, the same numbers.",
    ),
    "depth": _value(
        "--depth",
        takes="N",
        reads=whole(0),
        help="Go back this many steps. If not given: all the way.",
    ),
    "length": _value(
        "--length",
        takes="N",
        reads=whole(1, MOST_TOKENS),
        help="As if so many tokens were read. If not given: those of the scenario.",
    ),
    "no_mask": _option(
        bool, "--no-mask", help="Also show what a token would see without the mask."
    ),
    "terms": _value(
        "--terms",
        takes="N",
        reads=terms,
        help="Write out so many terms of a long sum; with largest, its largest terms.",
    ),
    "given": _option(
        list[str] | None,
        "--given",
        metavar="ADDRESS=VALUES",
        help='Pin a value instead of computing it: "input=[[1,2],[3,4]]".',
    ),
    "start": _option(
        list[str] | None,
        "--start",
        metavar="TOKEN",
        help="Begin with this token; several, one after the other.",
    ),
    "max_tokens": _value(
        "--max-tokens", takes="N", reads=whole(1), help="Add this many words at most."
    ),
    "worked": _option(bool, "--worked", help="Show every step of each turn."),
    "kv_cache": _option(bool, "--kv-cache", help="Compute only the new token's row in each turn."),
    "temperature": _value(
        "--temperature",
        takes="T",
        reads=number("a number from 0.001 to 1000", lambda t: Decimal("0.001") <= t <= 1000),
        help="Draw words, from the logits divided by this.",
    ),
    "top_k": _value(
        "--top-k", takes="K", reads=whole(1), help="Draw words, from the K most probable ones."
    ),
    "top_p": _value(
        "--top-p",
        takes="P",
        reads=number("a number above 0, at most 1", lambda p: 0 < p <= 1),
        help="Draw words, from the fewest that together reach the probability P.",
    ),
    "seed": _value(
        "--seed",
        takes="N",
        reads=whole(),
        help="Draw words, or of a worksheet what is left out; the same seed, the same.",
    ),
    "decimals": _value(
        "--decimals", takes="N", reads=whole(0, 12), help="Round to this many decimals."
    ),
    "carry": _value(
        "--carry",
        takes="MODE",
        reads=one_of(Carry),
        offers=completion.choices(Carry),
        help="Which number the next line works on with: the one that is printed (line), the one "
        "rounded where its step ended (step), the unrounded one (never).",
    ),
    "format": _value(
        "--format",
        "-f",
        takes="FORMAT",
        reads=one_of(Format),
        offers=completion.choices(Format),
        help="How it is written: terminal, markdown, latex or json; of a pass also npz or "
        "safetensors, its numbers under their addresses.",
    ),
    "brief": _option(
        bool,
        "--brief/--full",
        help="Leave reasons and counts of parameters out, or tell them.",
    ),
    "math": _option(
        bool, "--math", help="In Markdown: formulas and worked lines between $$ and $$."
    ),
    "heading": _value(
        "--heading",
        takes="LEVEL",
        reads=one_of(Heading),
        offers=completion.choices(Heading),
        help="In Markdown: the level of the steps' titles, 1 to 6; with none, titles are left out.",
    ),
    "standalone": _option(
        bool, "--standalone", help="In LaTeX: a whole file instead of a fragment."
    ),
    "figures": _value(
        "--figures",
        takes="FOLDER",
        reads=some("the name of a folder", Path),
        help="Write a picture of each head's attention weights into this folder; Markdown "
        "shows them.",
    ),
    "figures_file": _value(
        "--figures-file",
        takes="FILE",
        reads=some("the name of a file", Path),
        help="The figures that a text prints. If not given: those beside the scenario, "
        "alex.figures.yaml of alex.yaml.",
    ),
    "against": _value(
        "--against",
        takes="FILE",
        reads=some("the name of a file", Path),
        help="Instead of figures, another program's arrays: .npz or .safetensors, or a trace that "
        "--format json has written.",
    ),
    "tolerance": _value(
        "--tolerance",
        takes="T",
        reads=number("a number from 0 to 1", lambda t: 0 <= t <= 1),
        help="What an array may be off by, of the largest number of its value. If not given: what "
        "fits the type of its numbers.",
    ),
    "output": _value(
        "--output",
        "-o",
        takes="FILE",
        reads=file_name,
        help="Write to this file instead of the screen.",
    ),
    "force": _option(bool, "--force", help="Write even over a file that the command reads."),
    "no_pager": _option(
        bool, "--no-pager", help="Print a text that is longer than the screen all at once."
    ),
}


def _argument(kind: Any, metavar: str, **how: Any) -> Any:
    return Annotated[kind, typer.Argument(metavar=metavar, **how)]


ARGUMENTS: dict[str, Any] = {
    "SCENARIO": _argument(
        str,
        "SCENARIO",
        parser=SCENARIO,
        autocompletion=completion.scenarios,
        help="A file, the name of a scenario that comes with the program, or - for standard input.",
    ),
    "NAME": _argument(
        str,
        "NAME",
        autocompletion=completion.steps,
        help="A step (softmax), a group of steps (attention, ffn) or an address (layer1.ffn).",
    ),
    "ENTRY": _argument(
        list[str],
        "ADDRESS[ROW,COLUMN]",
        autocompletion=completion.addresses,
        help="The address of a value; its row and column by label, or by number from 1.",
    ),
}

ROUNDING = ("decimals", "carry")
TEXT = (
    *(*ROUNDING, "format", "brief", "math", "heading", "standalone"),
    *("output", "force", "no_pager"),
)
"""How a text is shown: every command has this that shows one."""
PAGE = (*TEXT[:-3], "figures", *TEXT[-3:])
"""The same for a text with attention weights, of which there are pictures."""

Command: TypeAlias = Callable[[Request], None]


def asks(*names: str, **defaults: Any) -> Callable[[Command], Callable[..., None]]:
    """Give a command, which takes a Request, the arguments (in capitals) and options named.

    Their defaults are those of Request, where no others are given.
    """

    def with_options(command: Command) -> Callable[..., None]:
        def answered(**answers: Any) -> None:
            command(request(command.__name__, answers))

        answered.__name__, answered.__doc__ = command.__name__, command.__doc__
        parameters = [_parameter(name, defaults) for name in names]
        answered.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        answered.__annotations__ = {p.name: p.annotation for p in parameters}
        return answered

    return with_options


def request(command: str, answers: dict[str, Any]) -> Request:
    """What the command line answered, as a Request: lists as tuples."""
    plain = {
        name: tuple(answer or ()) if name in _MANY else answer for name, answer in answers.items()
    }
    return Request(command, **plain)  # type: ignore[arg-type]  # commands are named as in Request


_DEFAULTS = {field.name: field.default for field in fields(Request)}
_MANY = ("entry", "given", "start")


def _parameter(name: str, defaults: dict[str, Any]) -> inspect.Parameter:
    """How Typer is told of an option."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    if name in ARGUMENTS:
        return inspect.Parameter(name.lower(), keyword, annotation=ARGUMENTS[name])
    default = defaults.get(name, None if name in _MANY else _DEFAULTS[name])
    return inspect.Parameter(name, keyword, default=default, annotation=OPTIONS[name])
