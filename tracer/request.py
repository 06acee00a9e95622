"""What a command asks for: which scenario, with which changes, which token of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tracer.carry import Carry
from tracer.decoder import Trace, trace
from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.scenario import Loaded, load, parse_given


def load_as(
    name: str, decimals: int | None, carry: Carry | None, given: Sequence[str] | None
) -> Loaded:
    """A scenario, with the rounding and the pinned values that the command line asks for."""
    loaded = load(name)
    changes: dict[str, Any] = {}
    if decimals is not None:
        changes["decimals"] = decimals
    if carry is not None:
        changes["carry"] = carry
    rounding = loaded.scenario.rounding.model_copy(update=changes)
    pinned = {**loaded.scenario.given, **dict(map(parse_given, given or []))}
    changed = {"rounding": rounding, "given": pinned}
    return replace(loaded, scenario=loaded.scenario.model_copy(update=changed))


def of_batch(loaded: Loaded, sequence: int | None) -> Loaded:
    """The scenario with a sequence of its batch in place of its own tokens."""
    if sequence is None:
        return loaded
    batch = loaded.scenario.batch
    if sequence > len(batch):
        raise TracerError(Problem(f"no sequence {sequence}, the batch has {len(batch)}"))
    return replace(loaded, scenario=loaded.scenario.reading(batch[sequence - 1]))


def example_of(loaded: Loaded, number: int | None) -> Loaded:
    """The scenario with a training example in place of its own tokens: the first, if it has any."""
    examples = loaded.scenario.training
    if number is None and not examples:
        return loaded
    if (number or 1) > len(examples):
        raise TracerError(Problem(f"no example {number}, there are {len(examples)}"))
    chosen = examples[(number or 1) - 1]
    read = loaded.scenario.reading(chosen.tokens, chosen.targets, chosen.given)
    return replace(loaded, scenario=read)


def traced(loaded: Loaded, *, unmasked: bool = False, loss: bool = False) -> Trace:
    """Run the decoder; a problem on the way is one of the scenario's file."""
    try:
        return trace(loaded.name, loaded.scenario, unmasked=unmasked, loss=loss)
    except TracerError as error:
        raise TracerError(*(replace(p, file=loaded.file) for p in error.problems)) from None


def position_of(token: str, tokens: tuple[str, ...]) -> int:
    """The place, counted from 0, of a token given by its position or its text."""
    positions = [str(position) for position in range(1, len(tokens) + 1)]
    if token in positions:
        return positions.index(token)
    places = [i for i, text in enumerate(tokens) if text == token]
    if len(places) == 1:
        return places[0]
    if places:
        several = ", ".join(str(place + 1) for place in places)
        message = f"the token {token!r} stands at several positions, give one of them: {several}"
        raise TracerError(Problem(message))
    hint = closest(token, tokens)
    raise TracerError(Problem(f"no token {token!r}, expected 1 to {len(tokens)} or its text{hint}"))
