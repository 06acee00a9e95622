"""What texts and programs do differently: each variant is one change of a scenario.

A change that changes nothing gives the scenario itself.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from tracer.formula.numbers import round_half_away, trimmed
from tracer.names import count
from tracer.scenario.layers import Attention, Layer, Normalization, SubLayer
from tracer.scenario.model import Scenario

Change: TypeAlias = Callable[[Scenario], Scenario]
_Part = TypeVar("_Part", bound=SubLayer)
_Norm = TypeVar("_Norm", bound=Normalization)

EPSILONS = tuple(map(Decimal, ("0", "0.00001", "0.000001", "0.00000001", "0.000000000001")))


def _of_norms(**changed: Any) -> Change:
    """Every norm with other settings; RMSNorm has no deviation from a mean."""

    def change(scenario: Scenario) -> Scenario:
        norms = [n for n in _norms(scenario) if _changes(n, changed)]
        if not norms:
            return scenario

        def other(norm: _Norm | None) -> _Norm | None:
            return norm if norm is None else norm.model_copy(update=changed)

        def with_norm(part: _Part | None) -> _Part | None:
            if part is None or "norm" not in part.model_fields_set:
                return part
            return part.model_copy(update={"norm": other(part.norm)})

        layers = [
            layer.model_copy(
                update={
                    "norm": other(layer.norm),
                    **{name: with_norm(getattr(layer, name)) for name in SUB_LAYERS},
                }
            )
            for layer in scenario.layers
        ]
        final = other(scenario.final_norm)
        return scenario.model_copy(update={"layers": tuple(layers), "final_norm": final})

    return change


SUB_LAYERS = ("attention", "cross_attention", "ffn")


def _norms(scenario: Scenario) -> list[Normalization]:
    """Those that are used."""
    parts = [
        layer.norm_of(part)
        for layer in scenario.layers
        for name in SUB_LAYERS
        if (part := getattr(layer, name))
    ]
    return [norm for norm in (*parts, scenario.final_norm) if norm]


def _changes(part: Any, changed: dict[str, Any]) -> bool:
    if "deviation" in changed and part.kind == "rms_norm":
        return False
    if "epsilon_outside" in changed and not part.epsilon:
        return False
    return any(getattr(part, name) != setting for name, setting in changed.items())


def _of_activation(one: str, other: str) -> Change:
    """The second form of a function where the first stands."""

    def change(scenario: Scenario) -> Scenario:
        if not any(layer.ffn and layer.ffn.activation == one for layer in scenario.layers):
            return scenario
        return _with_layers(scenario, lambda layer: _activated(layer, one, other))

    return change


def _activated(layer: Layer, one: str, other: str) -> Layer:
    if layer.ffn is None or layer.ffn.activation != one:
        return layer
    return layer.model_copy(update={"ffn": layer.ffn.model_copy(update={"activation": other})})


def _of_scale(scale: Callable[[int], Decimal | str]) -> Change:
    """Another divisor of the scores where it is √d_k; `scale` makes it of d_k."""

    def other(attention: Attention | None) -> Attention | None:
        if attention is None or attention.scale != "sqrt":
            return attention
        d_k = len(attention.heads[0].W_Q[0])
        return attention.model_copy(update={"scale": scale(d_k)})

    def scaled(layer: Layer) -> Layer:
        names = ("attention", "cross_attention")
        return layer.model_copy(update={name: other(getattr(layer, name)) for name in names})

    def change(scenario: Scenario) -> Scenario:
        parts = [
            part for each in scenario.layers for part in (each.attention, each.cross_attention)
        ]
        if not any(part and part.scale == "sqrt" for part in parts):
            return scenario
        return _with_layers(scenario, scaled)

    return change


def _rounded(places: int) -> Callable[[int], Decimal]:
    return lambda d_k: trimmed(round_half_away(Decimal(d_k).sqrt(), places))


def _with_layers(scenario: Scenario, other: Callable[[Layer], Layer]) -> Scenario:
    return scenario.model_copy(update={"layers": tuple(map(other, scenario.layers))})


def _of_positions(name: str, **changed: Any) -> Change:
    """Sinusoidal or rotary positions with other settings."""

    def change(scenario: Scenario) -> Scenario:
        positions = scenario.positions
        kind = getattr(positions, name) if positions else None
        if positions is None or kind is None or not _changes(kind, changed):
            return scenario
        other = positions.model_copy(update={name: kind.model_copy(update=changed)})
        return scenario.model_copy(update={"positions": other})

    return change


def _unmasked(scenario: Scenario) -> Scenario:
    if scenario.mask == "none":
        return scenario
    return scenario.model_copy(update={"mask": "none"})


VARIANTS: tuple[tuple[str, Change], ...] = (
    ("with σ of a sample, divided by one less", _of_norms(deviation="sample")),
    ("with σ of the population", _of_norms(deviation="population")),
    *((f"with ε = {epsilon:f}", _of_norms(epsilon=epsilon)) for epsilon in EPSILONS),
    ("with ε outside of the root", _of_norms(epsilon_outside=True)),
    ("with ε inside of the root", _of_norms(epsilon_outside=False)),
    ("with the GELU made of tanh", _of_activation("gelu", "gelu_tanh")),
    ("with the exact GELU", _of_activation("gelu_tanh", "gelu")),
    *((f"with √d_k rounded to {count(n, 'decimal')}", _of_scale(_rounded(n))) for n in (1, 2, 3)),
    ("without dividing by √d_k", _of_scale(lambda d_k: "none")),
    *((f"with positions counted from {n}", _of_positions("sinusoidal", start=n)) for n in (0, 1)),
    *((f"with turns counted from {n}", _of_positions("rotary", start=n)) for n in (0, 1)),
    ("with neighbours turned together", _of_positions("rotary", layout="pairs")),
    ("with halves turned together", _of_positions("rotary", layout="halves")),
    ("without the mask", _unmasked),
)
"""What it is called, and what it makes of a scenario."""
