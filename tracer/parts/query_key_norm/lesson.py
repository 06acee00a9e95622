"""The norms of queries and keys, in each head or over all heads."""

from __future__ import annotations

from tracer.decoder.elementwise import Normalize
from tracer.decoder.operations import AccumulateGradients, Concat
from tracer.decoder.roles import derived
from tracer.decoder.vector_parts import KEY, QUERY
from tracer.formula.expression import Brackets, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps import sub_layers
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.attribution import texts_of
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.score_attribution import norm_kind
from tracer.parts.query_key_norm import decoder
from tracer.parts.query_key_norm.decoder import KEYS, QUERIES
from tracer.parts.query_key_norm.scenario import AttentionKeys
from tracer.scenario.part import keys_of

MODERATE: Sentence = (
    "A dot product is at most the product of both vectors' lengths. Therefore, dot products of "
    "normalized queries and keys are of a moderate size, unless γ or β is large.",
)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why both are normalized, that heads share γ, and what ε is for."""
    part, operation = ctx.attention_at(step.place), sub_layers.division_of(step).operation
    norms = keys_of(part, AttentionKeys) if part else AttentionKeys()
    both = norms.query_norm is not None and norms.key_norm is not None
    learned = isinstance(operation, Normalize) and (operation.gain or operation.shift)
    shared: Sentence = ("All heads use the same learned numbers here.",)
    several = learned and step.place.head and ctx.heads_of(step.place) > 1
    return (
        *([MODERATE] if both else []),
        *([shared] if several else []),
        *sub_layers.why_epsilon(step),
    )


def _at_the_scale(step: Step, ctx: LessonContext) -> Sentence:
    learned = {record.output.role.of for record in step.records}
    of_norms = {
        "γ": (QUERIES.norm.gain, KEYS.norm.gain),
        "β": (QUERIES.norm.shift, KEYS.norm.shift),
    }
    names = " and ".join(name for name, roles in of_norms.items() if learned & {*roles})
    of_heads = {value.place.head for record in step.records for value in record.inputs}
    several = isinstance(step.last.operation, AccumulateGradients) and len(of_heads) > 1
    added = ": add up the contributions of all heads" * several
    return (f"Compute the gradient at {names}{added}.",)


def _kinds(what: str, several: str, of: decoder.HeadNormRoles) -> tuple[InnerKind, ...]:
    """Return the steps of a norm, of a head's columns of it, and of the gradients of γ and β."""
    letter, among = what[0].upper(), "In its columns among those of all heads:"
    symbol = head_symbol(letter, "N")

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if isinstance(step.records[0].operation, Concat):
            return (
                f"The {several} of all heads are normalized together. ",
                *sub_layers.normalizes(step),
            )
        return sub_layers.normalizes(step, what)

    norm = InnerKind(
        f"{what}_norm",
        f"{what.capitalize()}, normalized",
        f"the {what} of each token, normalized",
        goal,
        {
            of.together: RoleText(lambda naming: Brackets(naming.inputs)),
            **sub_layers.layer_norm_roles(of.norm, symbol),
            **sub_layers.rms_norm_roles(of.norm, symbol),
        },
        gradient=sub_layers.through_norm(f" of the {several}", of.norm),
        sign=("norm ", Symbol(letter)),
        short=f"{what} norm",
        reasons=_reasons,
        claim=lambda step, ctx: reused(step),
        groups=("norm",),
    )
    columns = InnerKind(
        f"{what}_norm_columns",
        f"Normalized {what}",
        f"the head's columns of the normalized {several}",
        (f"The head gets its own columns of the normalized {several}.",),
        {of.own: RoleText(symbol)},
        gradient=Gradient(
            f"at the normalized {several}",
            f"the head's normalized {several}",
            own={derived(of.own, "left"): RoleText(Symbol("∂"), among)},
        ),
        sign=("columns of ", Symbol(letter, "N")),
        claim=lambda step, ctx: reused(step),
        groups=("norm",),
    )
    scale = InnerKind(
        f"{what}_norm_scale_back",
        f"Gradient at the scale of the {several}",
        f"the gradient of the loss at γ and β of the {several}",
        _at_the_scale,
        {
            derived(each, "gradient"): RoleText(Symbol("∂"))
            for each in (of.norm.gain, of.norm.shift)
        },
        gradient=None,
        sign=None,
        claim=effect_of_raising,
    )
    return norm, columns, scale


QUERY_NORM_STEP, OWN_QUERY_STEP, QUERY_SCALE_STEP = _kinds("query", "queries", QUERIES)
KEY_NORM_STEP, OWN_KEY_STEP, KEY_SCALE_STEP = _kinds("key", "keys", KEYS)

PART = LessonPart(
    kinds={
        "value": (QUERY_NORM_STEP, KEY_NORM_STEP, OWN_QUERY_STEP, OWN_KEY_STEP),
        "query_norm_after_parts": (norm_kind(QUERY, "own_norm", "query norm", QUERIES.norm),),
        "key_norm_after_parts": (norm_kind(KEY, "own_norm", "key norm", KEYS.norm),),
    },
    texts={
        "key_norm": {decoder.NORMALIZED_KEYS: RoleText(head_symbol("K", "N"))},
        "key_norm_columns": {decoder.OWN_KEYS: RoleText(head_symbol("K", "N"))},
        "query_product_parts": texts_of(QUERY.row, QUERIES.own),
        "key_product_parts": texts_of(KEY.row, KEYS.own),
    },
    backward={QUERY_SCALE_STEP: QUERY_NORM_STEP, KEY_SCALE_STEP: KEY_NORM_STEP},
)
