"""The step of token types: which type each token has, and what is added to its embedding."""

from __future__ import annotations

from tracer.formula.expression import Sum, Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.gradients import learns
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind
from tracer.lesson.steps.part import LessonPart
from tracer.parts.token_types import decoder
from tracer.parts.token_types.scenario import TowerKeys, types_of
from tracer.scenario.part import keys_of

OF_TOKENS = Symbol("T")


def _goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    x, of_tokens = (ctx.symbols[value.address] for value in step.last.inputs)
    return (of_tokens, " is added to ", x, ".")


def _types(ctx: LessonContext) -> tuple[int, ...]:
    return types_of(keys_of(ctx.tower, TowerKeys), len(ctx.names))


def _why_types(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Say what types are for, and what several tokens of one type share."""
    several = len(set(_types(ctx))) > 1
    apart = "Types tell the model which tokens belong together, such as those of one sentence."
    alike = "All tokens have the same type, so the same vector is added to each."
    return ((apart if several else alike,),)


def _table(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """Each token with its type; then the vectors."""
    of_tokens, types = step.last.output, _types(ctx)
    before = len(ctx.names) - of_tokens.shape[0]
    rows = [(name, str(number)) for name, number in zip(ctx.names, types, strict=True)][before:]
    return [doc.Table.of(("token", "type"), rows, ctx.token - before), ctx.matrix(of_tokens)]


def _at_the_types(step: Step, ctx: LessonContext) -> doc.Sentence:
    rows = " Each row of the table adds up the gradients of the tokens of its type." * learns(step)
    return (f"Compute the gradient at the vector of each token's type.{rows}",)


TYPE_STEP = StepKind(
    "token_type",
    "Token types",
    "a vector for each token's type",
    ("The model looks up the vector of each token's type in a table with a row for each type.",),
    {decoder.OF_TOKENS: RoleText(OF_TOKENS)},
    gradient=Gradient("at the token types", _at_the_types, (decoder.TABLE,)),
    sign=(OF_TOKENS,),
    reasons=_why_types,
    outcome=_table,
)

SUM_STEP = StepKind(
    "embedding_with_type",
    "Embeddings with types",
    "the embeddings plus the vectors of their types",
    _goal,
    {decoder.WITH_TYPE: RoleText(Symbol("X", "T"))},
    gradient=Gradient("at the embeddings with types", "each embedding with its type"),
    sign=lambda step, ctx: (Sum(tuple(ctx.symbols[each.address] for each in step.last.inputs)),),
    short="embeddings + types",
)

PART = LessonPart(
    kinds={"embedding_scale": (TYPE_STEP, SUM_STEP)},
    operands={decoder.TABLE: Symbol("W", "T")},
)
