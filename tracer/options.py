"""The options of the commands, each said once, and how a command gets those that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from tracer.renderers import Format
from tracer.request import Request
from tracer.scenario.carry import Carry

OPTIONS: dict[str, Any] = {
    "scenario": Annotated[
        str,
        typer.Option("--scenario", "-s", envvar="DECODER_TRACE_SCENARIO", help="As for run."),
    ],
    "token": Annotated[
        str | None,
        typer.Option("--token", "-t", help="Follow this token: its position, or its text."),
    ],
    "layer": Annotated[int | None, typer.Option("--layer", "-l", help="Only this layer.", min=1)],
    "head": Annotated[int | None, typer.Option("--head", help="Only this head.", min=1)],
    "sequence": Annotated[
        int | None, typer.Option(help="Follow this sequence of the scenario's batch.", min=1)
    ],
    "example": Annotated[
        int | None, typer.Option(help="The training example, if there are several.", min=1)
    ],
    "depth": Annotated[
        int | None,
        typer.Option(help="How far to go back; all the way if not given.", min=0),
    ],
    "no_mask": Annotated[
        bool, typer.Option("--no-mask", help="Also show what a token would see without the mask.")
    ],
    "given": Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            metavar="ADDRESS=VALUES",
            help="Pin a value instead of computing it: layer1.attention.output=[[1, 2], [3, 4]].",
        ),
    ],
    "start": Annotated[
        list[str] | None, typer.Option(help="A token to begin with; several, one after the other.")
    ],
    "max_tokens": Annotated[int | None, typer.Option(help="The most words to add.", min=1)],
    "worked": Annotated[bool, typer.Option("--worked", help="Every step of each turn.")],
    "kv_cache": Annotated[
        bool, typer.Option("--kv-cache", help="Compute only the new token's row in each turn.")
    ],
    "temperature": Annotated[
        float | None, typer.Option(help="Draw words, from logits divided by this.")
    ],
    "top_k": Annotated[int | None, typer.Option(help="Draw among the k likeliest.", min=1)],
    "top_p": Annotated[
        float | None, typer.Option(help="Draw among the likeliest that together reach p.")
    ],
    "seed": Annotated[int | None, typer.Option(help="Draw words; the same seed, the same.")],
    "format": Annotated[Format, typer.Option("--format", "-f", help="What to print.")],
    "math": Annotated[
        bool, typer.Option("--math", help="In Markdown, formulas and lines between $$ and $$.")
    ],
    "standalone": Annotated[
        bool, typer.Option("--standalone", help="In LaTeX, a whole file rather than a fragment.")
    ],
    "figures": Annotated[
        Path | None,
        typer.Option(
            "--figures",
            file_okay=False,
            help="Write a picture of each head's attention weights here.",
        ),
    ],
    "output": Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file.", dir_okay=False)
    ],
    "decimals": Annotated[int | None, typer.Option(help="Decimals to round to.", min=0, max=12)],
    "carry": Annotated[
        Carry | None,
        typer.Option(
            help="Work on with the number printed, with the one rounded where its step ended, "
            "or never round on the way."
        ),
    ],
}

ARGUMENTS: dict[str, Any] = {
    "SCENARIO": Annotated[str, typer.Argument(help="A file, a bundled scenario, or - for stdin.")],
    "NAME": Annotated[str, typer.Argument(help="A step, a group of steps, or an address.")],
    "ENTRY": Annotated[
        list[str],
        typer.Argument(
            metavar="ADDRESS[ROW,COLUMN]",
            help="layer1.attention.head1.weights[Alex,Frank]; rows and columns by label or number.",
        ),
    ],
}

TEXT = ("format", "math", "standalone", "output", "decimals", "carry")
PAGE = (*TEXT, "figures")
"""What every command has that shows a text; a page may have pictures too."""

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
