"""The goals and reasons that the backward steps of several parts share."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder.operations import AccumulateGradients, Dot, PlaceRows, TransposedMatMul
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.gradient_claims import is_of_a_weight
from tracer.lesson.steps.kind import Step

OF_WEIGHTS: Sentence = (
    "A matrix product passes its gradient to both of its factors. The gradient at its input is the "
    "gradient at its output times the transposed weights. The gradient at its weights is the "
    "transposed input times the gradient at its output: it adds up the contributions of all "
    "tokens.",
)
WITHOUT_TARGET = " A position without a target has the gradient 0."


def gradient_at(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return a goal that names a value, and the weights that produce it if any are learned."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        and_weights = " and at the weights that produce it" * learns(step)
        return (f"Compute the gradient at {what}{and_weights}.",)

    return goal


def summed_at(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return the goal for a value that may act on the loss in several ways."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        several = any(
            isinstance(record.operation, AccumulateGradients) and not is_of_a_weight(record)
            for record in step.records
        )
        paths = ": add up the contributions of all paths from there to the loss" * several
        return (f"Compute the gradient at {what}{paths}.",)

    return goal


def learns(step: Step) -> bool:
    """Return whether a backward step computes the gradient of a learned parameter."""
    return any(map(is_of_a_weight, step.records))


def of_weights(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return what a matrix product passes back, in a step that goes back through one."""
    products = (r for r in step.records if isinstance(r.operation, Dot | TransposedMatMul))
    return (OF_WEIGHTS,) if any(products) else ()


def where_there_is_no_target(step: Step) -> Sentence:
    """Return that the gradient is 0 at positions without a target, if there are any."""
    placed = [r.operation for r in step.records if isinstance(r.operation, PlaceRows)]
    return (WITHOUT_TARGET,) if any(len(each.rows) < each.n for each in placed) else ()
