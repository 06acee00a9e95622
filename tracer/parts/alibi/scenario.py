"""The key of ALiBi, one of the ways to encode positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.checkpoints.architecture import Architecture
from tracer.scenario.fields import Frozen, described
from tracer.scenario.part import NamedPositions, ScenarioPart


class PositionKeys(Frozen):
    """The key of positions."""

    alibi: bool = described(
        "Whether the distance of two tokens lowers their score (ALiBi, Press et al. 2022).",
        "true",
        False,
    )


def trained_positions(architecture: Architecture) -> Mapping[str, Any]:
    """The key of a checkpoint's positions, if it has ALiBi."""
    return {"alibi": True} if architecture.alibi else {}


PART = ScenarioPart(
    keys={"Positions": PositionKeys},
    trained_positions=trained_positions,
    positions={"alibi": NamedPositions({"alibi": True})},
    variants=(("without ALiBi", PositionKeys, lambda _: {"alibi": False}),),
)
