"""The norms of queries and keys, in each head or over all heads."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder.elementwise import Normalize
from tracer.decoder.operations import AccumulateGradients, Concat
from tracer.decoder.roles import NormRoles, Role, derived
from tracer.decoder.vector_parts import KEY, QUERY
from tracer.formula.expression import Brackets, Partial, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step, StepKind
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.score_attribution import norm_kind, parts_of
from tracer.lesson.steps.sub_layers import (
    division_of,
    layer_norm_roles,
    normalizes,
    rms_norm_roles,
    through_norm,
    why_epsilon,
)
from tracer.parts.query_key_norm import decoder
from tracer.parts.query_key_norm.scenario import AttentionKeys
from tracer.scenario.part import keys_of

MODERATE: Sentence = (
    "A dot product is at most the product of both vectors' lengths. Normalized queries and keys "
    "therefore keep the scores moderate, unless γ or β is large.",
)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why both are normalized, that heads share γ, and what ε is for."""
    part, operation = ctx.attention_at(step.place), division_of(step).operation
    norms = keys_of(part, AttentionKeys) if part else AttentionKeys()
    both = norms.query_norm is not None and norms.key_norm is not None
    learned = isinstance(operation, Normalize) and (operation.gain or operation.shift)
    shared: Sentence = ("All heads use the same learned numbers here.",)
    several = learned and step.place.head and ctx.heads_of(step.place) > 1
    return (*([MODERATE] if both else []), *([shared] if several else []), *why_epsilon(step))


def _goal(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return the goal of a norm of each head's queries or keys, or of those of all heads."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if isinstance(step.records[0].operation, Concat):
            several = {"query": "queries", "key": "keys"}[what]
            return (f"The {several} of all heads are normalized together. ", *normalizes(step))
        return normalizes(step, what)

    return goal


def _roles(norm: NormRoles, together: Role, letter: str) -> dict[Role, RoleText]:
    """Return the texts of a norm of queries or keys."""
    return {
        together: RoleText(lambda naming: Brackets(naming.inputs)),
        **layer_norm_roles(norm, head_symbol(letter, "N")),
        **rms_norm_roles(norm, head_symbol(letter, "N")),
    }


AMONG_ALL_HEADS = "In its columns among those of all heads:"


def _of_columns(role: Role, what: str) -> Gradient:
    """Return the gradient at a head's columns, which stand among those of all heads."""
    own = {derived(role, "left"): RoleText(Symbol("∂"), AMONG_ALL_HEADS)}
    return Gradient(f"at the normalized {what}", f"the head's normalized {what}", own=own)


QUERY_NORM_STEP = InnerKind(
    "query_norm",
    "Query, normalized",
    "the query of each token, normalized",
    _goal("query"),
    _roles(decoder.QUERY_NORM, decoder.ALL_QUERIES, "Q"),
    gradient=through_norm(" of the queries", decoder.QUERY_NORM),
    sign=("norm ", Symbol("Q")),
    reasons=_reasons,
    groups=("norm",),
)

KEY_NORM_STEP = InnerKind(
    "key_norm",
    "Key, normalized",
    "the key of each token, normalized",
    _goal("key"),
    {
        **_roles(decoder.KEY_NORM, decoder.ALL_KEYS, "K"),
        decoder.NORMALIZED_KEYS: RoleText(head_symbol("K", "N")),
    },
    gradient=through_norm(" of the keys", decoder.KEY_NORM),
    sign=("norm ", Symbol("K")),
    reasons=_reasons,
    claim=lambda step, ctx: reused(step),
    groups=("norm",),
)

OWN_QUERY_STEP = InnerKind(
    "query_norm_columns",
    "Normalized query",
    "the head's columns of the normalized queries",
    ("The head gets its own columns of the normalized queries.",),
    {decoder.OWN_QUERY: RoleText(head_symbol("Q", "N"))},
    gradient=_of_columns(decoder.OWN_QUERY, "queries"),
    sign=("columns of ", Symbol("Q", "N")),
    groups=("norm",),
)

OWN_KEY_STEP = InnerKind(
    "key_norm_columns",
    "Normalized key",
    "the head's columns of the normalized keys",
    ("The head gets its own columns of the normalized keys.",),
    {
        decoder.OWN_KEY: RoleText(head_symbol("K", "N")),
        decoder.OWN_KEYS: RoleText(head_symbol("K", "N")),
    },
    gradient=_of_columns(decoder.OWN_KEY, "keys"),
    sign=("columns of ", Symbol("K", "N")),
    claim=lambda step, ctx: reused(step),
    groups=("norm",),
)


def _back_to_scale(norm: NormRoles, kind: InnerKind, whose: str) -> StepKind:
    """Return the kind of step that adds up the gradients of γ and β over the heads."""
    return InnerKind(
        f"{kind.name}_scale_back",
        f"Gradient at the scale of the {whose}",
        f"the gradient of the loss at γ and β of the {whose}",
        _at_the_scale,
        {derived(role, "gradient"): RoleText(Symbol("∂")) for role in (norm.gain, norm.shift)},
        gradient=None,
        sign=None,
        claim=effect_of_raising,
        only_with="decoder-trace train",
    )


def _at_the_scale(step: Step, ctx: LessonContext) -> Sentence:
    learned = " and ".join(
        name
        for name in ("γ", "β")
        if any(ctx.symbols[r.output.address] == Partial(Symbol(name)) for r in step.records)
    )
    of_heads = {value.place.head for record in step.records for value in record.inputs}
    several = isinstance(step.last.operation, AccumulateGradients) and len(of_heads) > 1
    added = ": add up the contributions of all heads" * several
    return (f"Compute the gradient at {learned}{added}.",)


PART = LessonPart(
    kinds={
        "value": (QUERY_NORM_STEP, KEY_NORM_STEP, OWN_QUERY_STEP, OWN_KEY_STEP),
        "query_norm_after_parts": (
            norm_kind(QUERY, "own_norm", "parts after the query norm", decoder.QUERY_NORM),
        ),
        "key_norm_after_parts": (
            norm_kind(KEY, "own_norm", "parts after the key norm", decoder.KEY_NORM),
        ),
    },
    texts={
        "query_product_parts": parts_of(QUERY.row, decoder.OWN_QUERY),
        "key_product_parts": parts_of(KEY.row, decoder.OWN_KEY),
    },
    backward={
        _back_to_scale(decoder.QUERY_NORM, QUERY_NORM_STEP, "queries"): QUERY_NORM_STEP,
        _back_to_scale(decoder.KEY_NORM, KEY_NORM_STEP, "keys"): KEY_NORM_STEP,
    },
)
