"""The key of ALiBi, one of the ways to encode positions."""

from __future__ import annotations

from tracer.scenario.fields import Frozen, described
from tracer.scenario.part import NamedPositions, ScenarioPart


class PositionKeys(Frozen):
    """The key of positions."""

    alibi: bool = described(
        "Whether the distance of two tokens lowers their score (ALiBi, Press et al. 2022).",
        "true",
        False,
    )


PART = ScenarioPart(
    keys={"Positions": PositionKeys},
    positions={"alibi": NamedPositions({"alibi": True})},
    variants=(("without ALiBi", PositionKeys, lambda _: {"alibi": False}),),
)
