"""SwiGLU in the steps of the FFN: the limits, the gate, and what it multiplies."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tracer.decoder import elementwise as el, roles
from tracer.decoder.tape import Record
from tracer.formula.expression import Exponential, Expression, Negative, Number, Product, Symbol
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.ffn import ACTIVATION_STEP, GATE_STEP, MOST_NAMED, why_gated
from tracer.lesson.steps.kind import RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.names import count, distinct
from tracer.parts.swiglu import decoder

X = Symbol("x")
INFINITY = Decimal("Infinity")
OF_GELU = Decimal("1.702")
"""The α with which the gate approximates GELU (Hendrycks and Gimpel 2016)."""

CLOSE_TO_GELU: Sentence = ("With this factor the activation is close to GELU.",)
PASSES_GATE: Sentence = (
    "Because of the added 1, a unit whose second projection is 0 passes on its gate itself.",
)
FLAT: Sentence = (
    "Beyond a limit the slope is 0, so that a number there has no gradient from this unit.",
)


def _is_swiglu(step: Step, ctx: LessonContext) -> bool:
    return isinstance(ctx.operation(step.place, roles.ACTIVATION), el.ScaledSilu)


def _record_of(step: Step, role: roles.Role) -> Record | None:
    return next((record for record in step.records if record.output.role is role), None)


def _limit(record: Record | None) -> Decimal | None:
    """Return the limit that a record applies; None if there is none, or its numbers are given."""
    operation = record and record.operation
    return operation.limit if isinstance(operation, el.AtMost | el.Clamp) else None


def _activation_goal(step: Step, ctx: LessonContext) -> Sentence:
    operation = step.last.operation
    assert isinstance(operation, el.ScaledSilu)
    limit = _limit(_record_of(step, decoder.CLAMPED_HIDDEN))
    first: Sentence = ()
    if limit is not None:
        number = Number(limit)
        first = ("A number above ", number, " is replaced by ", number, ". ")
    scaled: Expression = X
    if operation.scale != 1:
        scaled = Product((Number(operation.scale), X))
    return (
        *(*first, "The activation divides each number ", X, " by 1 + "),
        *(Exponential(Negative(scaled)), ". Numbers near 0 are about halved, and large negative "),
        "numbers become almost 0.",
    )


def _activation_sign(step: Step, ctx: LessonContext) -> Sign:
    operation = step.last.operation
    assert isinstance(operation, el.ScaledSilu)
    limit = _limit(_record_of(step, decoder.CLAMPED_HIDDEN))
    first: Sign = () if limit is None else ("at most ", Number(limit), ", ")
    factor: Sign = () if operation.scale == 1 else (" with α = ", Number(operation.scale))
    return (*first, "SiLU", *factor)


def _activation_reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    operation = step.last.operation
    is_gelu = isinstance(operation, el.ScaledSilu) and operation.scale == OF_GELU
    record = _record_of(step, decoder.CLAMPED_HIDDEN)
    return (*[CLOSE_TO_GELU] * is_gelu, *_effect(record, ctx))


def _effect(record: Record | None, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say which numbers of the followed token a limit changes, and what that means."""
    limit = _limit(record)
    if record is None or limit is None or not ctx.follows(record.output):
        return ()
    before = record.inputs[0]
    is_clamp = isinstance(record.operation, el.Clamp)
    lowest = -limit if is_clamp else -INFINITY
    change = "limits change" if is_clamp else "limit changes"
    numbers, units = before.read_computed(ctx.row(before)), distinct(before.axes[1].labels)
    within = [lowest <= x <= limit for x in numbers]
    changed = [unit for unit, is_kept in zip(units, within, strict=True) if not is_kept]
    if not changed:
        return ((f"The {change} no number of ", ctx.name, "."),)
    if len(changed) > MOST_NAMED:
        which: Sentence = (f"{len(changed)} of {count(len(units), 'number')}",)
    else:
        which = listed(changed)
    return (("For ", ctx.name, f", the {change} ", *which, "."), FLAT)


def _gate_goal(step: Step, ctx: LessonContext) -> Sentence:
    limit = _limit(_record_of(step, decoder.CLAMPED_UP))
    operation = step.last.operation
    changes: list[Sentence] = []
    if limit is not None:
        low, high = Number(-limit), Number(limit)
        changes.append(("limited to the range from ", low, " to ", high))
    if isinstance(operation, el.MultiplyShifted):
        changes.append(("increased by ", Number(operation.offset)))
    goal = (
        "The activation is a gate: a second projection of the same vectors is multiplied by it "
        "element by element."
    )
    if not changes:
        return (goal,)
    joined = changes[0] if len(changes) == 1 else (*changes[0], " and then ", *changes[1])
    return (f"{goal} Before that, its numbers are ", *joined, ".")


def _gate_reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    added_one = step.last.operation == el.MultiplyShifted(Decimal(1))
    own = [PASSES_GATE] * added_one
    return (*why_gated(step, ctx), *own, *_effect(_record_of(step, decoder.CLAMPED_UP), ctx))


def _of_product(record: Record) -> str:
    is_shifted = isinstance(record.operation, el.MultiplyShifted)
    return f"Each {'sum' if is_shifted else 'number'} multiplied by its gate:"


OF_CLAMPED_HIDDEN = RoleText(head_symbol("c", "h"), "With the limit:")
OF_CLAMPED_UP = RoleText(head_symbol("c", "u"), "With its limits:")
OF_GATE = replace(ACTIVATION_STEP.roles[roles.ACTIVATION], caption="The activation:")

SWIGLU_ACTIVATION = replace(
    ACTIVATION_STEP,
    goal=_activation_goal,
    roles={decoder.CLAMPED_HIDDEN: OF_CLAMPED_HIDDEN, roles.ACTIVATION: OF_GATE},
    sign=_activation_sign,
    reasons=_activation_reasons,
)
SWIGLU_GATE = replace(
    GATE_STEP,
    goal=_gate_goal,
    roles={
        **GATE_STEP.roles,
        decoder.CLAMPED_UP: OF_CLAMPED_UP,
        roles.GATED: replace(GATE_STEP.roles[roles.GATED], caption=_of_product),
    },
    reasons=_gate_reasons,
)

PART = LessonPart(
    texts={
        "activation": {decoder.CLAMPED_HIDDEN: OF_CLAMPED_HIDDEN},
        "gate": {decoder.CLAMPED_UP: OF_CLAMPED_UP},
    },
    instead=((_is_swiglu, SWIGLU_ACTIVATION), (_is_swiglu, SWIGLU_GATE)),
)
