"""The norms of queries and keys, in each head."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import Normalize
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.kind import InnerKind, RoleText, Step
from tracer.lesson.steps.query_key_value import of_head
from tracer.lesson.steps.sub_layers import (
    divided,
    layer_norm_roles,
    normalizes,
    rms_norm_roles,
    why_epsilon,
)

MODERATE: Sentence = (
    "A dot product is at most the product of both vectors' lengths. Normalized queries and keys "
    "therefore keep the scores moderate, unless γ or β is large.",
)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why both are normalized, that heads share γ, and what ε is for."""
    part, operation = ctx.attention_at(step.place), divided(step).operation
    both = part is not None and part.query_norm is not None and part.key_norm is not None
    learned = isinstance(operation, Normalize) and (operation.gain or operation.shift)
    shared: Sentence = ("All heads use the same learned numbers here.",)
    several = learned and ctx.heads_of(step.place) > 1
    return (*([MODERATE] if both else []), *([shared] if several else []), *why_epsilon(step))


QUERY_NORM_STEP = InnerKind(
    "query_norm",
    "Query, normalized",
    "the query of each token, normalized",
    lambda step, ctx: normalizes(step, "query"),
    {
        **layer_norm_roles(roles.QUERY_NORM, of_head("Q", "N")),
        **rms_norm_roles(roles.QUERY_NORM, of_head("Q", "N")),
    },
    sign=("norm ", Symbol("Q")),
    reasons=_reasons,
    groups=("norm",),
)


def _key_goal(step: Step, ctx: LessonContext) -> Sentence:
    return normalizes(step, "key")


KEY_NORM_STEP = InnerKind(
    "key_norm",
    "Key, normalized",
    "the key of each token, normalized",
    _key_goal,
    {
        **layer_norm_roles(roles.KEY_NORM, of_head("K", "N")),
        **rms_norm_roles(roles.KEY_NORM, of_head("K", "N")),
        roles.NORMALIZED_KEYS: RoleText(of_head("K", "N")),
    },
    sign=("norm ", Symbol("K")),
    reasons=_reasons,
    claim=lambda step, ctx: reused(step),
    groups=("norm",),
)

KINDS = (QUERY_NORM_STEP, KEY_NORM_STEP)
