"""The keys of SwiGLU, and checks of what they need."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from tracer.checkpoints.architecture import Architecture
from tracer.formula.numbers import as_typed
from tracer.scenario.fields import Frozen, Number, Positive, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath

SWIGLU = "swiglu"
ONE = Decimal(1)


class NetworkKeys(Frozen):
    """The keys of a network with `activation: swiglu`.

    With g = x W_1 + b_1 and u = x W_3 + b_3, its units are g σ(α g) ⊙ (u + c). A limit L replaces g
    by min(L, g) and u by max(-L, min(L, u)).
    """

    gate_scale: Positive | None = described(
        "α of `activation: swiglu`, where the gate is g σ(α g). Default: 1.", "1.702", None
    )
    gate_limit: Positive | None = described(
        "The largest number that enters the gate of `activation: swiglu`, and the largest size of "
        "the numbers that it multiplies. Default: no limit.",
        "7",
        None,
    )
    gate_offset: Number | None = described(
        "What `activation: swiglu` adds to the numbers that the gate multiplies. Default: 1 with "
        "gate_limit (gpt-oss, Agarwal et al. 2025), else 0.",
        "1",
        None,
    )

    @property
    def offset(self) -> Decimal:
        """What is added to the numbers that the gate multiplies."""
        if self.gate_offset is None:
            return Decimal(self.gate_limit is not None)
        return self.gate_offset


def check(sizes: ShapeChecker, place: YamlPath) -> None:
    """Report SwiGLU without what it multiplies, and its keys with another activation."""
    if sizes.part(*place, "activation") == SWIGLU:
        at: YamlPath = (*place, "activation")
        if not sizes.has(*place, "W_3"):
            sizes.report(at, "swiglu multiplies two projections, expected W_3 beside W_1")
        if sizes.part(*place, "activates") == "output":
            sizes.report(at, "swiglu on the output, expected activates: hidden")
        return
    for key in NetworkKeys.model_fields:
        if sizes.has(*place, key):
            sizes.report((*place, key), "a key of swiglu, expected activation: swiglu")


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of each network of a checkpoint."""
    gate = architecture.gate
    if gate is None:
        return {}
    return {
        "activation": SWIGLU,
        "gate_scale": as_typed(gate.scale),
        "gate_limit": as_typed(gate.limit),
    }


Settings: TypeAlias = dict[str, Any]


def _without_limit(keys: NetworkKeys) -> Settings:
    return {"gate_limit": None, "gate_offset": keys.offset} if keys.gate_limit else {}


def _without_scale(keys: NetworkKeys) -> Settings:
    return {"gate_scale": None} if keys.gate_scale not in (None, ONE) else {}


def _without_offset(keys: NetworkKeys) -> Settings:
    return {"gate_offset": Decimal(0)} if keys.offset else {}


PART = ScenarioPart(
    keys={"Network": NetworkKeys},
    network=check,
    activations=(SWIGLU,),
    trained={"Network": trained},
    variants=(
        ("without limits of the gate", NetworkKeys, _without_limit),
        ("without the factor α of the gate", NetworkKeys, _without_scale),
        ("without the offset behind W_3", NetworkKeys, _without_offset),
    ),
)
