"""Shell completion: scenarios, and the steps, addresses and tokens of the chosen one.

Completion prints no messages and never fails, whatever the scenario contains. If there is
nothing to offer, the shell offers files.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

if TYPE_CHECKING:
    from tracer.decoder.forward import Trace

MOST_BYTES = 1_000_000
"""The most bytes of a file to read during completion."""

Completer: TypeAlias = Callable[[typer.Context, str], list[str]]


def _quiet(offered: Callable[[typer.Context, str], Iterable[str]]) -> Completer:
    """Return a completer that offers nothing on errors, and no control characters."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):
            return [word for word in offered(ctx, incomplete) if _is_a_word(word)]
        return []

    return offer


def choices(of: type[StrEnum]) -> Completer:
    """Complete the words of an option with fixed choices."""
    return _quiet(lambda ctx, incomplete: list(map(str, of)))


@_quiet
def scenarios(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete bundled scenarios and YAML files."""
    from tracer.scenario.loading import bundled

    folder = incomplete[: incomplete.rfind("/") + 1]
    files = [path for path in Path(folder or ".").iterdir() if path.suffix in (".yaml", ".yml")]
    return [*([] if folder else bundled()), *sorted(folder + path.name for path in files)]


@_quiet
def steps(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete steps and groups of steps; if none matches, addresses."""
    from tracer.lesson.texts import selection

    trace = _trace(ctx)
    named = selection.names(selection.steps(trace.records))
    return named if any(name.startswith(incomplete) for name in named) else trace.values


@_quiet
def addresses(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete addresses."""
    return _trace(ctx).values


@_quiet
def tokens(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete tokens by their text, or by their position if the text cannot be typed."""
    found = _trace(ctx).tokens
    return [
        token
        if _is_a_word(token) and not token.isdecimal() and found.count(token) == 1
        else str(position)
        for position, token in enumerate(found, 1)
    ]


@_quiet
def words(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete words of the vocabulary."""
    return _trace(ctx).scenario.vocabulary or ()


@_quiet
def layers(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete the numbers of the layers."""
    return map(str, range(1, len(_trace(ctx).scenario.layers) + 1))


@_quiet
def heads(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete the numbers of the heads, of the chosen layer if any."""
    places = {record.output.place for record in _trace(ctx).records}
    layer = ctx.params.get("layer")
    numbers = {place.head for place in places if layer in (None, place.layer)}
    return map(str, sorted(filter(None, numbers)))


def _trace(ctx: typer.Context) -> Trace:
    """Return the pass of the chosen scenario, with shapes only.

    Raises:
        OSError: it is no file that can be read completely.
        TracerError: it is no scenario.
    """
    from tracer.decoder.forward import PassOptions, trace
    from tracer.formula.arithmetic import SHAPES
    from tracer.scenario.loading import STANDARD_INPUT, load

    # After an option without a value yet, the parser leaves the arguments unparsed.
    name = ctx.params["scenario"] or ctx.args[0]
    path = Path(name)
    if name == STANDARD_INPUT:
        raise OSError("reading it may never end")
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise OSError("reading it takes too long")
    loaded = load(name)
    unmasked = bool(ctx.params.get("no_mask"))
    return trace(loaded.name, loaded.scenario, PassOptions(unmasked, arithmetic=SHAPES))


def _is_a_word(text: str) -> bool:
    """Return whether every shell accepts a word without quotes."""
    encoding = sys.stdout.encoding or "utf-8"
    sayable = text.encode(encoding, "ignore").decode(encoding) == text
    return sayable and bool(text) and all(c.isalnum() or c in "._-/+" for c in text)
