"""The steps of convolutions of queries, keys and values."""

from __future__ import annotations

from tracer.decoder.elementwise import ScaledSilu
from tracer.decoder.operations import BelowZeros, Convolve, Rows
from tracer.decoder.roles import Role
from tracer.decoder.tape import Record
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.gradients import gradient_at
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.names import count
from tracer.parts.convolution import decoder
from tracer.parts.convolution.decoder import KEYS, QUERIES, VALUES, ConvolutionRoles
from tracer.parts.convolution.scenario import FILTERS, HeadKeys
from tracer.scenario.fields import shape_of
from tracer.scenario.model import Scenario
from tracer.scenario.part import keys_of

CAUSAL: Sentence = ("The convolution is causal: no sum reads a later token.",)


def _convolution(step: Step) -> Record:
    return next(record for record in step.records if isinstance(record.operation, Convolve))


def _sums(record: Record) -> str | None:
    return "The weighted sums:" if isinstance(record.operation, Convolve) else None


def _result(record: Record) -> str | None:
    return "SiLU of each sum:" if isinstance(record.operation, ScaledSilu) else _sums(record)


def _kind(what: str, several: str, of: ConvolutionRoles, *together: Role) -> InnerKind:
    """Return the step of a convolution; `together`: its rows below those of an earlier pass."""
    letter = what[0].upper()

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        before = _convolution(step).inputs[1].shape[0] - 1
        weights = ctx.symbols[_convolution(step).inputs[1].address]
        with_silu = any(isinstance(record.operation, ScaledSilu) for record in step.records)
        silu = " SiLU is applied to each {}." if with_silu else ""
        if not before:
            return (
                *(f"Each column of the {several} is multiplied by its weight in the filter ",),
                *(weights, f".{silu.format('product')}"),
            )
        others = f"the {what}" if before == 1 else f"the {before} {several}"
        return (
            f"Each {what} is replaced by a weighted sum of itself and {others} before it. Each "
            "column has its own weights, a column of the filter ",
            *(weights, f".{silu.format('sum')}"),
        )

    def reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
        before = _convolution(step).inputs[1].shape[0] - 1
        if not before:
            return ()
        last = f"last {what}" if before == 1 else f"last {before} {several}"
        kept = f"A cache keeps the {last} before the convolution, which the next sums read."
        return (CAUSAL, (kept,))

    def rows(record: Record) -> str:
        if not isinstance(record.operation, BelowZeros):
            return f"The new {several} below these:"
        return f"The {several} below {count(record.operation.zeros, 'row')} of zeros:"

    def kept(record: Record) -> str:
        number = len(record.operation.rows) if isinstance(record.operation, Rows) else 0
        return f"The last {what if number == 1 else several} of the previous turn:"

    return InnerKind(
        f"conv_{what}",
        f"Convolved {what}",
        f"each {what}, mixed with those of the tokens just before",
        goal,
        {
            of.before: RoleText(head_symbol(letter, "b"), kept),
            of.rows: RoleText(head_symbol(letter, "0"), rows),
            of.sums: RoleText(head_symbol(letter, "w"), _sums),
            of.result: RoleText(head_symbol(letter, "c"), _result),
            **{role: RoleText(head_symbol(letter, "c")) for role in together},
        },
        gradient=Gradient(
            f"at the convolved {what}", gradient_at(f"each convolved {what}"), (of.filter,)
        ),
        sign=("convolved ", Symbol(letter)),
        short=f"convolved {what}",
        reasons=reasons,
        claim=lambda step, ctx: reused(step),
        groups=("convolution",),
    )


def _cached(scenario: Scenario) -> int:
    """The numbers that a cache keeps for convolutions, beside keys and values or states."""
    heads = [head for layer in scenario.layers if layer.attention for head in layer.attention.heads]
    filters = [getattr(keys_of(head, HeadKeys), name) for head in heads for name in FILTERS]
    # Heads of a checkpoint that read one key convolve it once.
    apart = {
        getattr(each, "source", None) or id(each): each for each in filters if each is not None
    }
    shapes = [shape_of(each) for each in apart.values()]
    return sum((window - 1) * columns for window, columns in shapes)


def _memory(scenario: Scenario) -> Sentence | None:
    number = _cached(scenario)
    if not number:
        return None
    kept = f"the last rows before each convolution, {count(number, 'number')} in all"
    return (f"A cache also keeps {kept}, whatever the length of the text.",)


def _not_in_caches(scenario: Scenario) -> Sentence | None:
    number = _cached(scenario)
    if not number:
        return None
    return (f"The rows before convolutions, {count(number, 'number')} in all, are not counted.",)


QUERY_STEP = _kind("query", "queries", QUERIES)
KEY_STEP = _kind("key", "keys", KEYS, decoder.ALL_KEYS)
VALUE_STEP = _kind("value", "values", VALUES, decoder.ALL_VALUES)

PART = LessonPart(
    kinds={"value": (QUERY_STEP, KEY_STEP, VALUE_STEP)},
    operands={
        of.filter: head_symbol("F", letter)
        for of, letter in ((QUERIES, "Q"), (KEYS, "K"), (VALUES, "V"))
    },
    memory=_memory,
    not_in_caches=_not_in_caches,
)
