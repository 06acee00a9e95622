"""The soft cap of an attention's scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.checkpoints.architecture import Architecture
from tracer.formula.numbers import as_typed
from tracer.scenario.fields import Frozen, Positive, described
from tracer.scenario.part import ScenarioPart


class AttentionKeys(Frozen):
    """The key of an attention."""

    softcap: Positive | None = described(
        "c of the soft cap c·tanh(s/c), which keeps each score s between −c and c.", "50", None
    )


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The soft cap of a checkpoint's attention."""
    cap = architecture.score_cap
    return {} if cap is None else {"softcap": as_typed(cap)}


PART = ScenarioPart(
    keys={"Attention": AttentionKeys},
    trained={"Attention": trained},
    variants=(("without the soft cap of scores", AttentionKeys, lambda _: {"softcap": None}),),
)
