"""The norm of each head's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.checkpoints.architecture import Architecture
from tracer.formula.numbers import as_typed
from tracer.scenario.fields import Frozen, OrNone, described
from tracer.scenario.norms import Normalization
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath


class AttentionKeys(Frozen):
    """The key of an attention."""

    output_norm: OrNone[Normalization] = described(
        "The norm of each head's output, before its gate if it has one (Sun et al. 2023). All "
        "heads have the same γ and β.",
        "{kind: rms_norm, gain: [1, 1]}",
        None,
    )


def check(sizes: ShapeChecker, place: YamlPath, names: Mapping[str, str]) -> None:
    """Check that γ and β have a number for each column of the values of every head."""
    heads = [(*place, "heads", i) for i, _ in enumerate(sizes.entries(*place, "heads"))]
    at: YamlPath = (*place, "output_norm")
    widths = {width for head in heads if (width := sizes.widths.get((*head, names["V"])))}
    if len(widths) == 1:
        sizes.norm(place, "output_norm", widths.pop(), f"one per column of {names['V']}")
    elif widths:
        found = f"heads with values of {' and '.join(map(str, sorted(widths)))} columns"
        for parameter in ("gain", "shift"):
            if sizes.has(*at, parameter):
                sizes.report((*at, parameter), f"{found}, expected equal widths")
        sizes.sample((*at, "deviation"), min(widths))


def trained_layer(architecture: Architecture, layer: int) -> Mapping[str, Any]:
    """The norm of the delta rule's outputs in a checkpoint, whose factor is γ itself."""
    if not architecture.is_delta(layer):
        return {}
    epsilon = as_typed(architecture.epsilon)
    return {"output_norm": Normalization.model_construct(kind="rms_norm", epsilon=epsilon)}


PART = ScenarioPart(
    keys={"Attention": AttentionKeys},
    heads=check,
    trained_layer=trained_layer,
    variants=(("without norms of outputs", AttentionKeys, lambda _: {"output_norm": None}),),
)
