"""The steps of latent attention: the latent vectors, the rotary parts, what is joined of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer.decoder.operations import Concat, Rotate
from tracer.decoder.parameters import columns
from tracer.decoder.roles import NormRoles, Role
from tracer.formula.expression import Brackets, Expression, MatrixProduct, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.gradients import of_weights, summed_at
from tracer.lesson.steps.kind import (
    Gradient,
    InnerKind,
    Naming,
    RoleText,
    Step,
    SymbolOf,
)
from tracer.lesson.steps.part import LessonPart, is_cached_for_part
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.sub_layers import (
    layer_norm_roles,
    normalizes,
    rms_norm_roles,
    through_norm,
    why_epsilon,
)
from tracer.parts.latent import decoder
from tracer.parts.latent.scenario import HeadKeys
from tracer.scenario.part import keys_of

C, C_Q = Symbol("C"), Symbol("C", "Q")
R, K_R = Symbol("R"), Symbol("K", "R")


def _latent_goal(step: Step, ctx: LessonContext) -> Sentence:
    rows, columns = step.records[0].inputs[1].shape
    weights = ctx.symbols[step.records[0].inputs[1].address]
    return (
        *(weights, f" maps each vector of {rows} numbers to a latent vector of {columns}. All "),
        "heads compute their keys and values from it.",
    )


CACHED: Sentence = (
    "A cache keeps one latent vector per token in place of the keys and values of all heads. The "
    "heads compute their keys and values from it again.",
)


def _is_cached(step: Step) -> bool:
    """Whether a cache keeps the step's rows: only the decoder reads tokens of earlier passes."""
    return any(is_cached_for_part(record.output) for record in step.records)


def _query_goal(step: Step, ctx: LessonContext) -> Sentence:
    weights = ctx.symbols[step.records[0].inputs[1].address]
    return (
        *("The queries are computed from a latent vector of their own: each vector times "),
        *(weights, "."),
    )


FEWER: Sentence = (
    "Two narrow matrices have fewer learned numbers here than one wide matrix. No cache gets "
    "smaller by it, because a cache keeps no queries.",
)


def _why_queries(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """W_DQ saves numbers only if the latent vector is short enough."""
    attention = ctx.at(step.place).attention_at(step.place)
    heads = attention.heads if attention else ()
    matrices = [m for head in heads for m in (head.W_Q, keys_of(head, HeadKeys).W_QR)]
    read = sum(columns(matrix) for matrix in matrices if matrix is not None)
    width, latent = step.records[0].inputs[1].shape
    return (FEWER,) if (width + read) * latent < width * read else ()


def _product_sign(step: Step, ctx: LessonContext) -> Sign:
    """Return the product: several of them stand side by side, above what they read."""
    x, weights = (ctx.symbols[value.address] for value in step.records[0].inputs[:2])
    return (MatrixProduct(x, weights),)


def _norm_kind(
    name: str,
    title: str,
    of: NormRoles,
    symbol: SymbolOf,
    what: str,
    rows: Mapping[Role, RoleText],
) -> InnerKind:
    return InnerKind(
        name,
        title,
        f"{what}, normalized",
        lambda step, ctx: normalizes(step, "latent vector"),
        {**layer_norm_roles(of, symbol), **rms_norm_roles(of, symbol), **rows},
        gradient=through_norm(f" of {what}", of, of.gain, of.shift),
        sign=("norm ", C if of is decoder.NORM else C_Q),
        short="latent norm" if of is decoder.NORM else "latent query norm",
        reasons=lambda step, ctx: tuple(why_epsilon(step)),
        groups=("norm",),
    )


LATENT_STEP = InnerKind(
    "latent",
    "Latent vector",
    "what all keys and values are computed from",
    _latent_goal,
    {decoder.LATENT: RoleText(C), decoder.LATENTS: RoleText(C)},
    gradient=Gradient(
        "at the latent vector",
        summed_at("each latent vector"),
        (decoder.W_DKV,),
        reasons=of_weights,
    ),
    sign=_product_sign,
    reasons=lambda step, ctx: (CACHED,) if _is_cached(step) else (),
    groups=("qkv",),
)

QUERY_LATENT_STEP = InnerKind(
    "latent_query",
    "Latent vector of the queries",
    "what all queries are computed from",
    _query_goal,
    {decoder.LATENT_QUERY: RoleText(C_Q)},
    gradient=Gradient(
        "at the latent vector of the queries",
        summed_at("each latent vector of the queries"),
        (decoder.W_DQ,),
        reasons=of_weights,
    ),
    sign=_product_sign,
    short="latent query",
    reasons=_why_queries,
    groups=("qkv",),
)

NORM_STEP = _norm_kind(
    "latent_norm",
    "Latent vector, normalized",
    decoder.NORM,
    Symbol("C", "N"),
    "the latent vector",
    {decoder.NORMALIZED_LATENTS: RoleText(Symbol("C", "N"))},
)
QUERY_NORM_STEP = _norm_kind(
    "latent_query_norm",
    "Latent vector of the queries, normalized",
    decoder.QUERY_NORM,
    Symbol("C", "QN"),
    "the latent vector of the queries",
    {},
)

APART: Sentence = (
    "Positions rotate this part of the keys, not the latent vector. It is the same for all heads.",
)
SHARED: Sentence = ("It is the same for all heads.",)
CACHED_ONCE: Sentence = ("A cache therefore keeps it once per token.",)


def _is_rotated(step: Step) -> bool:
    """Whether positions rotate the part; a layer may have none."""
    return any(isinstance(record.operation, Rotate) for record in step.records)


def _rotary_goal(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return the goal of a rotary part."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        weights = ctx.symbols[step.records[0].inputs[1].address]
        rotated = " and rotated by the angles of its token."
        return (
            *(f"The rotary part of the {what} is computed with ", weights),
            rotated if _is_rotated(step) else ". This layer has no rotary positions to rotate it.",
        )

    return goal


def _why_rotary_key(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    why = APART if _is_rotated(step) else SHARED
    return (why, CACHED_ONCE) if _is_cached(step) else (why,)


ROTARY_KEY_STEP = InnerKind(
    "latent_key",
    "Rotary part of the keys",
    "the part of the keys that all heads share",
    _rotary_goal("keys"),
    {
        decoder.ROTARY_KEY: RoleText(R),
        decoder.UNROTATED_KEY: RoleText(R),
        decoder.ROTATED_KEY: RoleText(K_R, "Rotated by its position:"),
        decoder.ROTATED_KEYS: RoleText(K_R),
    },
    gradient=Gradient(
        "at the rotary part of the keys",
        summed_at("the rotary part of each key"),
        (decoder.W_KR,),
        reasons=of_weights,
    ),
    sign=lambda step, ctx: ("turn ", *_product_sign(step, ctx)),
    short="rotary part",
    reasons=_why_rotary_key,
    groups=("rotary",),
)

ROTARY_QUERY_STEP = InnerKind(
    "latent_rotary_query",
    "Rotary part of the query",
    "the part of the query that meets the rotary part of the keys",
    _rotary_goal("query"),
    {
        decoder.ROTARY_QUERY: RoleText(head_symbol("R", "Q")),
        decoder.ROTATED_QUERY: RoleText(head_symbol("Q", "R"), "Rotated by its position:"),
    },
    gradient=Gradient(
        "at the rotary part of the query",
        "the rotary part of each query",
        (decoder.W_QR,),
        reasons=of_weights,
    ),
    sign=(Symbol("Q", "R"),),
    short="rotary part",
    groups=("rotary",),
)


def _side_by_side(naming: Naming) -> Expression:
    return Brackets(naming.inputs)


def _joined_kind(name: str, what: str, role: Role) -> InnerKind:
    letter = what[0].upper()

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        assert isinstance(step.last.operation, Concat)
        own, rotary = (ctx.symbols[value.address] for value in step.last.inputs)
        parts: Sentence = (f"The {what} consists of ", own, " and its rotary part ", rotary)
        return (
            *parts,
            ". The dot product of query and key adds up the products of both parts.",
        )

    return InnerKind(
        name,
        f"{what.capitalize()} with its rotary part",
        f"the {what} and its rotary part side by side",
        goal,
        {role: RoleText(_side_by_side)},
        gradient=Gradient(f"at the {what} with its rotary part", f"each joined {what}"),
        sign=(Brackets((Symbol(letter), Symbol(letter, "R"))),),
        short=f"joined {what}",
        groups=("rotary",),
    )


JOINED_QUERY_STEP = _joined_kind("joined_query", "query", decoder.JOINED_QUERY)
JOINED_KEY_STEP = _joined_kind("joined_key", "key", decoder.JOINED_KEY)

PART = LessonPart(
    kinds={
        "encoder": (
            *(LATENT_STEP, NORM_STEP, QUERY_LATENT_STEP, QUERY_NORM_STEP, ROTARY_KEY_STEP),
        ),
        "value": (ROTARY_QUERY_STEP, JOINED_QUERY_STEP, JOINED_KEY_STEP),
    },
    operands={
        decoder.W_DKV: Symbol("W", "DKV"),
        decoder.W_DQ: Symbol("W", "DQ"),
        decoder.W_KR: Symbol("W", "KR"),
    },
    cached={
        decoder.LATENT: "latent vectors",
        decoder.UNROTATED_KEY: "rotary parts of the keys",
        decoder.ROTATED_KEY: "rotary parts of the keys",
    },
)
