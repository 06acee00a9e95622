"""A factor of what a sub-layer adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.checkpoints.architecture import Architecture
from tracer.formula.numbers import as_typed
from tracer.scenario.fields import Frozen, Positive, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath, is_off


class SubLayerKeys(Frozen):
    """The key of a sub-layer."""

    residual_scale: Positive | None = described(
        "A factor of the sub-layer's output, before its input is added (Granite).", "0.22", None
    )


def check(sizes: ShapeChecker, place: YamlPath) -> None:
    """Report a factor of what is not added."""
    at: YamlPath = (*place, "residual_scale")
    if not sizes.has(*at):
        return
    if is_off(sizes.part(*place, "residual")):
        sizes.report(at, "a factor of what is added, but residual is false")
    if sizes.is_typed(*place):
        typed = "typed queries, keys and values are computed from no vectors"
        sizes.report(at, f"{typed} that could be added")


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The factor of each sub-layer of a checkpoint."""
    factor = architecture.output_factor
    return {} if factor is None else {"residual_scale": as_typed(factor)}


PART = ScenarioPart(
    keys={"SubLayer": SubLayerKeys},
    sub_layer=check,
    trained={"SubLayer": trained},
    variants=(
        (
            "without factors of what sub-layers add",
            SubLayerKeys,
            lambda _: {"residual_scale": None},
        ),
    ),
)
