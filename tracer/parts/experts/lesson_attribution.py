"""How an attribution passes through experts, whose weights keep the numbers of the pass."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.vector_parts import KEY, QUERY, ScoreSide
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attribution import attribution_kind, texts_of
from tracer.lesson.steps.kind import StepKind
from tracer.lesson.steps.score_attribution import kind_of_side
from tracer.parts.experts.decoder import (
    CHOSEN_PROBABILITIES,
    GATE_WEIGHT,
    GATED_OUTPUT,
    MIXTURE_OUTPUT,
    ROUTED,
    ROUTER_WEIGHTS,
)

WEIGHTS = (ROUTER_WEIGHTS, CHOSEN_PROBABILITIES, GATE_WEIGHT)

DIRECTION_STEP = attribution_kind(
    "direction_expert",
    "Direction at the expert",
    "the direction of the expert's output",
    (
        "The expert's output is multiplied by its weight for this token, which keeps its number "
        "from this pass. The direction of the output is therefore the direction of the sum times "
        "this weight.",
    ),
    texts_of("logit_direction", roles.FFN_OUTPUT),
    texts_of("row", *WEIGHTS),
)

OF_PARTS: Sentence = (
    "The expert's output is multiplied by its weight for this token, which keeps its number from "
    "this pass. The parts of the output are multiplied by it, too.",
)


def _kind(side: ScoreSide) -> StepKind:
    weights = (texts_of(side.row, *WEIGHTS), texts_of(side.part, *WEIGHTS))
    return kind_of_side(side, "expert", "parts of the expert", OF_PARTS, *weights)


KINDS = {
    "head_part": (DIRECTION_STEP,),
    "query_ffn_parts": (_kind(QUERY),),
    "key_ffn_parts": (_kind(KEY),),
}

TEXTS = {
    f"{name}_output_parts": (
        texts_of(side.row, GATED_OUTPUT, ROUTED, MIXTURE_OUTPUT)
        | texts_of(side.parts, MIXTURE_OUTPUT)
    )
    for name, side in (("query", QUERY), ("key", KEY))
}
