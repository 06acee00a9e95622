"""The sink of a head."""

from __future__ import annotations

from typing import Annotated

from tracer.scenario.fields import SINGLE, Frozen, Shape, Single, described
from tracer.scenario.part import ScenarioPart


class HeadKeys(Frozen):
    """The key of a head."""

    sink: Annotated[Single | None, Shape(SINGLE)] = described(
        "A learned number that takes part in the softmax beside the scores of each row; its share "
        "is left out of the weights (gpt-oss, Agarwal et al. 2025).",
        "0.5",
        None,
    )


PART = ScenarioPart(
    keys={"Head": HeadKeys},
    controls={"sink": "attention sink"},
    variants=(("without attention sinks", HeadKeys, lambda _: {"sink": None}),),
)
