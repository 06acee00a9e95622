"""How an attribution passes through experts, whose weights keep the numbers of the pass."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.vector_parts import KEY, QUERY, ScoreSide
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attribution import ONLY_WITH, texts_of
from tracer.lesson.steps.kind import InnerKind, StepKind
from tracer.lesson.steps.score_attribution import kind_of_side, parts_of
from tracer.parts.experts.decoder import (
    CHOSEN_PROBABILITIES,
    MIXTURE_OUTPUT,
    ROUTED,
    ROUTER_WEIGHTS,
)

WEIGHTS = (ROUTER_WEIGHTS, CHOSEN_PROBABILITIES)

DIRECTION_STEP = InnerKind(
    "direction_expert",
    "Direction at the expert",
    "the direction of the expert's output",
    (
        "The expert's output is multiplied by its weight for this token, which keeps its number "
        "from this pass. The direction of the output is therefore the direction of the sum times "
        "this weight.",
    ),
    texts_of((roles.FFN_OUTPUT,), {"logit_direction": None}) | texts_of(WEIGHTS, {"row": None}),
    gradient=None,
    sign=None,
    only_with=ONLY_WITH,
)

OF_PARTS: Sentence = (
    "The expert's output is multiplied by its weight for this token, which keeps its number from "
    "this pass. The parts of the output are multiplied by it, too.",
)


def _kind(side: ScoreSide) -> StepKind:
    weights = (parts_of(side.row, *WEIGHTS), parts_of(side.part, *WEIGHTS))
    return kind_of_side(side, "expert", "parts of the expert", OF_PARTS, *weights)


KINDS = {
    "head_part": (DIRECTION_STEP,),
    "query_ffn_parts": (_kind(QUERY),),
    "key_ffn_parts": (_kind(KEY),),
}

TEXTS = {
    "vector_part": texts_of((ROUTED, MIXTURE_OUTPUT), {"row": None, "part": None}),
    **{
        f"{name}_output_parts": (
            parts_of(side.row, ROUTED, MIXTURE_OUTPUT) | parts_of(side.parts, MIXTURE_OUTPUT)
        )
        for name, side in (("query", QUERY), ("key", KEY))
    },
}
