"""An attention score's attribution: the parts of its query and its key, and what each pair adds.

Each kind of step that carries parts exists twice, for the query and for the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Normalize
from tracer.decoder.operations import MatMul, PlaceColumns, PlaceRows, Stack
from tracer.decoder.part import all_norms, all_roles, ffn_outputs, parts
from tracer.decoder.roles import Role
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import HEAD_OUTPUTS
from tracer.decoder.vector_parts import KEY, QUERY, ScoreSide
from tracer.formula.expression import MatrixProduct, Symbol, Transposed
from tracer.lesson.context import LessonContext, joined
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attribution import attribution_kind, texts_of
from tracer.lesson.steps.kind import RoleText, SentenceOf, Step, StepKind

INPUTS = (roles.EMBEDDING, roles.SCALED_EMBEDDING, roles.POSITION)
"""What the input is the sum of."""

VECTORS = (roles.SUMMED_EMBEDDING, roles.INPUT, roles.RESIDUAL)
"""What a sub-layer or a norm reads, if it is the sum of what came before."""

OUTPUTS = (roles.ATTENTION_OUTPUT, roles.FFN_OUTPUT)
"""What a sub-layer computes before its residual connection."""

OUTPUT_WEIGHTS = tuple(role for role in all_roles() if role.name == roles.W_O.name)
NAMES = {QUERY: "query", KEY: "key"}


def kind_of_side(
    side: ScoreSide, name: str, title: str, goal: SentenceOf, *texts: dict[Role, RoleText]
) -> StepKind:
    """Return a kind of step that carries the parts of a side."""
    what = NAMES[side]
    name, whole = f"{what}_{name}_parts", f"{what.capitalize()}: {title}"
    return attribution_kind(name, whole, title, goal, *texts)


def norm_kind(side: ScoreSide, name: str, title: str, of: roles.NormRoles) -> StepKind:
    """Return the kind of step that carries the parts of a side through a norm."""
    results = (of.layer_norm, of.rms_norm)
    return kind_of_side(
        *(side, name, f"parts after the {title}", _of_norm),
        texts_of(side.row, of.std, of.rms, of.shift, of.deviation, *results),
        texts_of(side.part, of.mean, caption="The mean of each part:"),
        texts_of(side.part, of.deviation, caption="Each part minus its mean:"),
        texts_of(side.part, *results, caption="Divided by the norm's divisor:"),
        texts_of(side.parts, *results, caption="With β:"),
    )


def _side_kinds(side: ScoreSide, product: Role, bias: Role) -> tuple[StepKind, ...]:
    """The kinds of step for the query or the key, whose roles are given: x W, b."""
    what, kind = NAMES[side], partial(kind_of_side, side)
    encoder = (roles.ENCODER_OUTPUT,) if side is KEY else ()
    row, part, parts = side.row, side.part, side.parts

    vector: Sentence = (
        f"The {what} is computed from its token's vector, and this vector is a sum. Each row is "
        "what one component adds to it.",
    )

    return (
        kind(
            *("vector", "parts of the vector", vector),
            texts_of(row, *INPUTS, *VECTORS, *encoder),
            texts_of(parts, *VECTORS, *encoder),
        ),
        kind(
            *("output", "parts of the output", OF_OUTPUT),
            texts_of(row, *OUTPUTS, roles.CONCAT, roles.PROJECTED, roles.B_O),
            *(texts_of(part, roles.ATTENTION_OUTPUT), texts_of(parts, *OUTPUTS)),
        ),
        kind(
            *("head", "part of the head", _of_head),
            *(texts_of(row, *HEAD_OUTPUTS, *OUTPUT_WEIGHTS), texts_of(part, *HEAD_OUTPUTS)),
        ),
        kind(
            *("ffn", "part of the FFN", OF_FFN),
            texts_of(row, *roles.HIDDEN_LAYERS, roles.B_2),
            texts_of(part, roles.FFN_OUTPUT, roles.PROJECTED),
        ),
        norm_kind(side, "norm", "norm", roles.SUB_LAYER_NORM),
        norm_kind(side, "norm_after", "output norm", roles.NORM_AFTER),
        kind(
            *("product", "parts", _projection(what)),
            *(texts_of(row, product, bias), texts_of(part, product)),
            texts_of(side.placed, product),
            texts_of(parts, product, caption="With the bias:"),
        ),
    )


def _projection(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return the goal of a step that multiplies parts by weights."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        record = next(each for each in step.records if isinstance(each.operation, MatMul))
        weights = ctx.symbols[record.inputs[1].address]
        is_biased = any(isinstance(each.operation, Stack) for each in step.records)
        biased = f" The bias is a part of the {what}, too." * is_biased
        said: Sentence = (f"The {what} is its token's ", *_read(record, ctx), " times ", weights)
        linear: Sentence = (*said, ". The parts are therefore multiplied by ", weights)
        return (*linear, f", too.{biased}{_zeros(step)}")

    return goal


def _read(record: Record, ctx: LessonContext) -> Sentence:
    """Say what weights multiply: the token's vector, or what a part of the model makes of it."""
    x = record.inputs[0]
    assert x.role.of is not None
    of_parts = {role for part in parts() for own in part.roles.values() for role in own}
    if x.role.of not in of_parts - {*ffn_outputs()}:
        return ("vector",)
    return ("row of ", ctx.symbols[replace(x.place, phase="forward").address(x.role.of)])


def _zeros(step: Step) -> str:
    """Say what rows of zeros are, if there are any."""
    placed = any(isinstance(record.operation, PlaceRows) for record in step.records)
    return " A component that adds nothing to it has zeros." * placed


@cache
def carried(side: ScoreSide, forward: StepKind) -> StepKind:
    """Return the kind of step for the parts of a value between a token's vector and its key."""
    value = f"{forward.title[0].lower()}{forward.title[1:]}"
    multiplied = _projection(value)

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if any(isinstance(record.operation, MatMul) for record in step.records):
            return multiplied(step, ctx)
        return (f"Each row is what one component adds to the {value}.{_zeros(step)}",)

    return kind_of_side(side, forward.name, f"parts of the {value}", goal)


OF_OUTPUT: Sentence = (
    "The output of the sub-layer is a sum. Each row is what one component adds to it.",
)
OF_FFN: Sentence = ("The FFN adds its hidden layer times ", Symbol("W", "2"), ".")


def _of_head(step: Step, ctx: LessonContext) -> Sentence:
    """Say what a head adds to the output of its attention."""
    if isinstance(step.last.operation, PlaceColumns):
        return ("The output of attention is all heads side by side. A head adds its columns.",)
    weights = Symbol("W", "O")
    heads: Sentence = ("The output of attention is all heads side by side, times ", weights)
    return (*heads, ". A head adds its output times its rows of ", weights, ".")


def _of_norm(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the norm does to the parts."""
    divides = [r.operation for r in step.records if isinstance(r.operation, Normalize)]
    if not divides:
        return OF_OUTPUT
    factor = "1 + γ" if divides[0].unit_offset else "γ"
    centers = any(_is_mean(record) for record in step.records)
    mean = (
        "LayerNorm subtracts the mean of a token's numbers. That is the sum of the means of the "
        "parts, so each part's own mean is subtracted from it. "
    )
    return (
        f"{mean * centers}The norm's divisor keeps its number from this pass. The parts are "
        f"divided by it{f' and multiplied by {factor}' * divides[0].gain}."
        f"{' β is a part of its own.' * _has_shift(step)}",
    )


def _is_mean(record: Record) -> bool:
    return any(record.output.role.of is norm.mean for norm in all_norms())


def _has_shift(step: Step) -> bool:
    return any(r.output.role.of is norm.shift for r in step.records for norm in all_norms())


def _of_pairs(step: Step, ctx: LessonContext) -> Sentence:
    """Say what a pair adds."""
    divides = any(record.output.role is roles.PAIR_DOT for record in step.records)
    divided = ", divided as the score is" * divides
    return (
        "The score is the sum over all pairs of a part of the query and a part of the key. A pair "
        f"adds their dot product{divided}.",
    )


PAIRS_STEP = attribution_kind(
    "score_parts",
    "Parts of the score",
    "what each pair of parts adds to the score",
    _of_pairs,
    {
        roles.PAIR_DOT: RoleText(
            lambda naming: MatrixProduct(naming.inputs[0], Transposed(naming.inputs[1]))
        ),
        roles.PAIRS: RoleText(Symbol("s")),
    },
)


def _largest_sums(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which part of the query and which of the key has the largest sum in size, if one has."""
    said: list[Sentence] = []
    for record, what in zip(step.records, ("query", "key"), strict=True):
        sums = record.output
        order = np.argsort(-np.abs(sums.computed), kind="stable")[:2]
        first, *second = [ctx.number(sums, int(at)) for at in order]
        if second and abs(first.value) != abs(second[0].value):
            name = sums.axes[0].labels[order[0]]
            whose = f"{name} has the largest sum of the {what}'s parts ("
            said.append((whose, first, ")"))
    return ("In size, ", *joined(said), ".") if said else None


SUMS_STEP = attribution_kind(
    "score_sums",
    "Sums of the pairs",
    "what each part of the query and of the key adds to the score",
    (
        "The sum of a row is what one part of the query adds with all parts of the key. The sum of "
        "a column is what one part of the key adds with all parts of the query.",
    ),
    {
        roles.QUERY_SUMS: RoleText(Symbol("c", "a"), "Each part of the query:"),
        roles.KEY_SUMS: RoleText(Symbol("c", "b"), "Each part of the key:"),
    },
    claim=_largest_sums,
)

KINDS = (
    *_side_kinds(QUERY, roles.QUERY, roles.B_Q),
    *_side_kinds(KEY, roles.KEY, roles.B_K),
    *(PAIRS_STEP, SUMS_STEP),
)
