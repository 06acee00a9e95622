"""A request → the scenario that is asked for, and its trace."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tracer.decoder.forward import Trace, trace
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import Arithmetic
from tracer.names import closest, places
from tracer.request import Request
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded, load, parse_given

if TYPE_CHECKING:
    from tracer.decoder.training import Training


OF_OPTIMIZERS = ("momentum", "weight_decay", "clip")

SEVERAL = 8
"""So many places of a token are told."""


def scenario_for(request: Request) -> Loaded:
    """The scenario with the numbers, the rounding, the pins and the tokens that are asked for."""
    loaded = load(request.scenario, request.folder)
    scenario, changes = loaded.scenario, dict[str, Any]()
    if request.vary is not None:
        from tracer.decoder.variant import variant

        scenario = variant(loaded.name, scenario, request.vary)
    if request.decimals is not None:
        changes["decimals"] = request.decimals
    if request.carry is not None:
        changes["carry"] = request.carry
    rounding = scenario.rounding.model_copy(update=changes)
    if scenario.arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        message = "the scenario computes with float64, which goes with `never` only"
        raise TracerError(Problem(message, address="--carry"))
    pinned = {**scenario.given, **dict(map(parse_given, request.given))}
    scenario = scenario.model_copy(update={"rounding": rounding, "given": pinned})
    if request.sequence is not None:
        batch = scenario.batch
        if request.sequence > len(batch):
            raise TracerError(
                Problem(_not_among(request.sequence, "sequence", len(batch)), address="--sequence")
            )
        scenario = scenario.reading(batch[request.sequence - 1])
    if request.of_loss and not request.of_training and (request.example or scenario.training):
        number, examples = request.example or 1, scenario.training
        if number > len(examples):
            raise TracerError(
                Problem(_not_among(number, "training example", len(examples)), address="--example")
            )
        scenario = scenario.reading_example(examples[number - 1])
    return replace(loaded, scenario=scenario)


def _not_among(number: int, what: str, there: int) -> str:
    return f"no {what} {number}, the last is {there}" if there else f"the scenario has no {what}s"


def trace_for(request: Request) -> Trace:
    """The trace that a request looks at."""
    if request.of_training:
        return trained(request).steps[0]
    loaded = scenario_for(request)
    return traced(
        loaded,
        unmasked=is_unmasked(request),
        loss=request.of_loss,
        lens=request.of_lens or is_in_summary(request, loaded),
    )


def traced(
    loaded: Loaded,
    *,
    unmasked: bool = False,
    loss: bool = False,
    lens: bool = False,
    arithmetic: Arithmetic | None = None,
) -> Trace:
    """The trace of a scenario, of which what goes wrong is told with its place in the file."""
    with loaded.telling():
        return trace(
            loaded.name,
            loaded.scenario,
            unmasked=unmasked,
            loss=loss,
            lens=lens,
            arithmetic=arithmetic,
            located=loaded.located,
        )


def basis(request: Request) -> Request:
    """What of a request its trace depends on, as a request that looks at the same trace."""
    return Request(
        "train"
        if request.of_training
        else "loss"
        if request.of_loss
        else "lens"
        if request.of_lens
        else "run",
        request.scenario,
        request.folder,
        sequence=request.sequence,
        example=request.example,
        no_mask=is_unmasked(request),
        given=request.given,
        decimals=request.decimals,
        carry=request.carry,
        vary=request.vary,
    )


def is_unmasked(request: Request) -> bool:
    """Whether what a token sees without the mask is asked for, or one of its numbers."""
    return request.no_mask or any(".unmasked." in word for word in request.entry[:1])


def is_in_summary(request: Request, loaded: Loaded) -> bool:
    """Whether a trained model's way is told, rather than worked step by step."""
    tells = request.command in ("run", "tutorial", "page") and not request.format.is_data
    return loaded.scenario.on_demand and tells and request.layer is None


@lru_cache(maxsize=1)
def trained(request: Request) -> Training:
    """What training makes of the scenario that is asked for."""
    from tracer.decoder.training import train

    loaded = scenario_for(request)
    scenario = loaded.scenario
    said = {name: getattr(request, name) for name in ("learning_rate", *OF_OPTIMIZERS)}
    optimizer = scenario.optimizer.changed(request.optimizer, said)
    if request.example is not None and request.example > len(scenario.training):
        there = len(scenario.training)
        message = _not_among(request.example, "training example", there)
        raise TracerError(Problem(message, address="--example"))
    if scenario.on_demand:
        message = "a model of this size is not trained here; only its passes are worked"
        raise TracerError(Problem(message, request.scenario))
    with loaded.telling():
        return train(
            loaded.name,
            scenario,
            optimizer,
            request.steps or 1,
            request.example,
            located=loaded.located,
        )


def position_of(token: str, tokens: tuple[str, ...]) -> int:
    """The place, counted from 0, of a token given by its position or its text."""
    positions = [str(position) for position in range(1, len(tokens) + 1)]
    if token in positions:
        return positions.index(token)
    found = places(token, tokens)
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(str(place + 1) for place in found[:SEVERAL])
        if len(found) > SEVERAL:
            several += " …"
        message = f"the token {token!r} stands at several positions, give one of them: {several}"
        raise TracerError(Problem(message))
    hint = closest(token, tokens)
    raise TracerError(Problem(f"no token {token!r}, expected 1 to {len(tokens)} or its text{hint}"))
