"""Layers whose attention and FFN are parallel: what they need, and what cannot be in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.checkpoints.architecture import Architecture
from tracer.scenario.fields import Frozen, described
from tracer.scenario.part import ScenarioPart, ShapeChecker, form_of_ffn, keys_of
from tracer.scenario.reader import YamlPath, is_off, is_on


class LayerKeys(Frozen):
    """The key of a layer."""

    parallel: bool = described(
        "Whether attention and the FFN both read the layer's input, and both results are added to "
        "it. An FFN that has no norm reads what attention reads.",
        "true",
        False,
    )


IN_PARALLEL = ("attention", "ffn")


def check(sizes: ShapeChecker, layer: YamlPath) -> None:
    """Report what a parallel layer lacks, and what it cannot have."""
    place: YamlPath = (*layer, "parallel")
    if not is_on(sizes.part(*place)):
        return
    for name in IN_PARALLEL:
        if not sizes.has(*layer, name):
            sizes.report(place, f"no {name}, expected attention and ffn in a parallel layer")
    if sizes.has(*layer, "cross_attention"):
        message = "cross-attention in a parallel layer, expected only attention and ffn"
        sizes.report((*layer, "cross_attention"), message)
    if sizes.is_typed(*layer, "attention"):
        sizes.report(place, "a layer of typed queries, keys and values has no input to add to")
    if form := form_of_ffn(sizes.part(*layer, "ffn")):
        message = f"{form.key} in a parallel layer, expected an ffn with W_1 and W_2"
        sizes.report((*layer, "ffn"), message)
    for name in IN_PARALLEL:
        if is_off(sizes.part(*layer, name, "residual")):
            message = "false in a parallel layer, expected true: its input is added to both"
            sizes.report((*layer, name, "residual"), message)
    norms = {
        (*layer, name, "norm") if sizes.has(*layer, name, "norm") else (*layer, "norm")
        for name in IN_PARALLEL
    }
    for norm in sorted(norms, key=str):
        if isinstance(found := sizes.part(*norm), dict) and found.get("placement") != "pre":
            message = "a norm after the residual connection in a parallel layer"
            sizes.report(norm, f"{message}, expected placement: pre")


def is_parallel(layer: Any) -> bool:
    """Return whether attention and the FFN of a layer are parallel."""
    return keys_of(layer, LayerKeys).parallel


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The key of each layer of a checkpoint."""
    return {"parallel": architecture.parallel}


PART = ScenarioPart(
    keys={"Layer": LayerKeys},
    layer=check,
    joins=is_parallel,
    trained={"Layer": trained},
    variants=(
        (
            "with attention and the FFN one after the other",
            LayerKeys,
            lambda _: {"parallel": False},
        ),
    ),
)
