"""The gate of a head's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from tracer.checkpoints.architecture import Architecture
from tracer.scenario.fields import Frozen, Matrix, Row, Shape, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath


class HeadKeys(Frozen):
    """The keys of a head."""

    W_G: Annotated[Matrix | None, Shape(("width", "gate_width"))] = described(
        "Weights of a gate that multiplies the head's output (Qiu et al. 2025): one row per "
        "feature, one column per column of the values.",
        "[[1, 0], [0, 1]]",
        None,
    )
    b_G: Row | None = described("Bias of the gate, one number per column of W_G.", "[0, 0]", None)


class AttentionKeys(Frozen):
    """The key of an attention."""

    output_gate: Literal["sigmoid", "silu"] = described(
        "The function of the gates that W_G computes: sigmoid (Qiu et al. 2025) or silu (Sun et "
        "al. 2023).",
        "silu",
        "sigmoid",
    )


def check(sizes: ShapeChecker, place: YamlPath, names: Mapping[str, str]) -> None:
    """Check that each gate of an attention is as wide as the values of its head."""
    heads = [(*place, "heads", i) for i, _ in enumerate(sizes.entries(*place, "heads"))]
    gated = [head for head in heads if sizes.has(*head, "W_G")]
    if sizes.has(*place, "output_gate") and not gated:
        sizes.report((*place, "output_gate"), "a function of gates, but no head has W_G")
    for head in heads:
        if sizes.has(*head, "b_G") and head not in gated:
            sizes.report((*head, "b_G"), "a bias without W_G")
    for head in gated:
        at: YamlPath = (*head, "W_G")
        if sizes.is_typed(*place):
            typed = "queries, keys and values are typed"
            sizes.report(at, f"{typed}, so that it has no vectors to read")
            continue
        if sizes.has(*place, "latent"):
            sizes.report(at, "a gate of latent attention is not supported, expected no W_G")
            continue
        shared = sizes.part(*head, "shares")
        number = int(shared) if isinstance(shared, str) and shared.isdecimal() else 0
        own = heads[number - 1] if 0 < number <= len(heads) else head
        found, expected = sizes.widths.get(at), sizes.widths.get((*own, names["V"]))
        if found and expected and found != expected:
            sizes.report(at, f"{found} columns, expected {expected}, as many as the values have")


def trained_layer(architecture: Architecture, layer: int) -> Mapping[str, Any]:
    """The function of the gates of one layer of a checkpoint, if its heads have some."""
    if architecture.is_delta(layer):
        return {"output_gate": "silu"}
    return {"output_gate": "sigmoid"} if architecture.output_gate else {}


PART = ScenarioPart(
    keys={"Head": HeadKeys, "Attention": AttentionKeys},
    heads=check,
    trained_layer=trained_layer,
    variants=(
        ("without the gates of outputs", HeadKeys, lambda _: {"W_G": None, "b_G": None}),
        (
            "with the sigmoid as the gate of outputs",
            AttentionKeys,
            lambda _: {"output_gate": "sigmoid"},
        ),
        ("with SiLU as the gate of outputs", AttentionKeys, lambda _: {"output_gate": "silu"}),
    ),
)
