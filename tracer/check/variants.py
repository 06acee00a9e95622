"""Variants in which texts and programs differ: each is one change of a scenario.

A change without effect returns the scenario itself.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from tracer.formula.numbers import round_half_away, trimmed
from tracer.names import count
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.model import Encoder, Scenario, Sinusoidal, Tower, Unembedding
from tracer.scenario.networks import Network
from tracer.scenario.norms import Normalization
from tracer.scenario.part import forms_of_ffn, scenario_parts
from tracer.scenario.parts import SUB_LAYERS, with_parts
from tracer.scenario.reader import YamlPath

Change: TypeAlias = Callable[[Scenario], Scenario]
Settings: TypeAlias = dict[str, Any]
_Part = TypeVar("_Part", bound=BaseModel)

EPSILONS = tuple(map(Decimal, ("0", "0.00001", "0.000001", "0.00000001", "0.000000000001")))


def _with(kind: type[_Part], settings: Callable[[_Part], Settings]) -> Change:
    """Return a change of the settings of a kind of parts.

    Those of an encoder stay, but for its own and its positions.
    """

    def changed(place: YamlPath, part: Any) -> Any:
        in_encoder = place[:1] == ("encoder",) and place[1:2] not in ((), ("positions",))
        if not isinstance(part, kind) or in_encoder:
            return part
        found = settings(part)
        differing = {name: new for name, new in found.items() if new != getattr(part, name)}
        return part.model_copy(update=differing) if differing else part

    return lambda scenario: with_parts(scenario, changed)


def _of_norms(**settings: Any) -> Change:
    """Return a change of every norm's settings; RMSNorm has no deviation from a mean."""

    def fitting(norm: Normalization) -> Settings:
        is_rms = "deviation" in settings and norm.kind == "rms_norm"
        no_epsilon = "epsilon_outside" in settings and not norm.epsilon
        no_gain = "unit_offset" in settings and norm.gain is None
        return {} if is_rms or no_epsilon or no_gain else settings

    return _with(Normalization, fitting)


def _of_activation(one: str, other: str) -> Change:
    """Return a change from one activation function to another."""
    return _with(Network, lambda ffn: {"activation": other} if ffn.activation == one else {})


def _of_scale(scale: Callable[[int], Decimal | str]) -> Change:
    """Return a change of the divisor √d_k; `scale` computes the new one from d_k."""

    def fitting(part: Attention) -> Settings:
        return {"scale": scale(part.heads[0].d_k)} if part.scale == "sqrt" else {}

    return _with(Attention, fitting)


def _rounded(places: int) -> Callable[[int], Decimal]:
    return lambda d_k: trimmed(round_half_away(Decimal(d_k).sqrt(), places))


def _without_norms_after(layer: Layer) -> Settings:
    parts = {name: getattr(layer, name) for name in SUB_LAYERS}
    without = {
        name: part.model_copy(update={"norm_after": None})
        for name, part in parts.items()
        if part and layer.norm_after_of(part)
    }
    return {"norm_after": None, **without}


def _of_towers(settings: Callable[[Tower], Settings]) -> Change:
    """Return a change of the decoder's settings and of the encoder's, if it is computed."""

    def fitting(tower: Tower) -> Settings:
        return {} if isinstance(tower, Encoder) and not tower.is_computed else settings(tower)

    return _with(Tower, fitting)


def _counted_from(start: int) -> Change:
    """Return a change of the position of the first token."""
    return _with(Sinusoidal, lambda positions: {"start": start})


def _of_loss(reduction: str) -> Change:
    """Return a change of whether the losses are averaged or added up."""
    return _with(Scenario, lambda s: {"loss": s.loss.model_copy(update={"reduction": reduction})})


VARIANTS: tuple[tuple[str, Change], ...] = (
    ("with the sample standard deviation, divided by n − 1", _of_norms(deviation="sample")),
    ("with the population standard deviation, divided by n", _of_norms(deviation="population")),
    *((f"with ε = {epsilon:f}", _of_norms(epsilon=epsilon)) for epsilon in EPSILONS),
    ("with ε outside the square root", _of_norms(epsilon_outside=True)),
    ("with ε inside the square root", _of_norms(epsilon_outside=False)),
    ("with a factor of 1 + γ", _of_norms(unit_offset=True)),
    ("with a factor of γ instead of 1 + γ", _of_norms(unit_offset=False)),
    ("with the tanh approximation of GELU", _of_activation("gelu", "gelu_tanh")),
    ("with the exact GELU", _of_activation("gelu_tanh", "gelu")),
    *((name, _with(kind, new)) for form in forms_of_ffn() for name, kind, new in form.variants),
    *((f"with √d_k rounded to {count(n, 'decimal')}", _of_scale(_rounded(n))) for n in (1, 2, 3)),
    ("without dividing by √d_k", _of_scale(lambda d_k: "none")),
    ("without norms after the sub-layers", _with(Layer, _without_norms_after)),
    ("with embeddings multiplied by √d_model", _of_towers(lambda _: {"embedding_scale": "sqrt"})),
    ("without a factor of the embeddings", _of_towers(lambda _: {"embedding_scale": "none"})),
    ("without a norm of the embeddings", _of_towers(lambda _: {"embedding_norm": None})),
    *((f"with positions counted from {n}", _counted_from(n)) for n in (0, 1)),
    ("without the soft cap of logits", _with(Unembedding, lambda _: {"softcap": None})),
    ("without dividing the logits", _with(Unembedding, lambda _: {"scale": None})),
    *((name, _with(kind, new)) for part in scenario_parts() for name, kind, new in part.variants),
    ("with the losses averaged", _of_loss("mean")),
    ("with the losses added up", _of_loss("sum")),
    ("without the mask", _with(Scenario, lambda scenario: {"mask": "none"})),
    ("with the same mask in every layer", _with(Attention, lambda _: {"mask": None})),
)
"""The name of each variant and its change."""
