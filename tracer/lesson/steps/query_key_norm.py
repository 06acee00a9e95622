"""The norms of queries and keys, in each head or over all heads."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder import roles
from tracer.decoder.elementwise import Normalize
from tracer.decoder.operations import Concat
from tracer.decoder.roles import Role, derived
from tracer.formula.expression import Brackets, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.sub_layers import (
    division_of,
    layer_norm_roles,
    normalizes,
    rms_norm_roles,
    through_norm,
    why_epsilon,
)

MODERATE: Sentence = (
    "A dot product is at most the product of both vectors' lengths. Normalized queries and keys "
    "therefore keep the scores moderate, unless γ or β is large.",
)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why both are normalized, that heads share γ, and what ε is for."""
    part, operation = ctx.attention_at(step.place), division_of(step).operation
    both = part is not None and part.query_norm is not None and part.key_norm is not None
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


def _roles(norm: roles.NormRoles, together: Role, letter: str) -> dict[Role, RoleText]:
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
    _roles(roles.QUERY_NORM, roles.ALL_QUERIES, "Q"),
    gradient=through_norm(" of the queries", roles.QUERY_NORM),
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
        **_roles(roles.KEY_NORM, roles.ALL_KEYS, "K"),
        roles.NORMALIZED_KEYS: RoleText(head_symbol("K", "N")),
    },
    gradient=through_norm(" of the keys", roles.KEY_NORM),
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
    {roles.OWN_QUERY: RoleText(head_symbol("Q", "N"))},
    gradient=_of_columns(roles.OWN_QUERY, "queries"),
    sign=("columns of ", Symbol("Q", "N")),
    groups=("norm",),
)

OWN_KEY_STEP = InnerKind(
    "key_norm_columns",
    "Normalized key",
    "the head's columns of the normalized keys",
    ("The head gets its own columns of the normalized keys.",),
    {
        roles.OWN_KEY: RoleText(head_symbol("K", "N")),
        roles.OWN_KEYS: RoleText(head_symbol("K", "N")),
    },
    gradient=_of_columns(roles.OWN_KEY, "keys"),
    sign=("columns of ", Symbol("K", "N")),
    claim=lambda step, ctx: reused(step),
    groups=("norm",),
)

KINDS = (QUERY_NORM_STEP, KEY_NORM_STEP, OWN_QUERY_STEP, OWN_KEY_STEP)
