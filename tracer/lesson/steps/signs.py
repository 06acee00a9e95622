"""What stands in the picture of the model for several kinds of steps."""

from __future__ import annotations

from tracer.decoder.tape import Record
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sign
from tracer.lesson.steps.kind import Step


def linear(step: Step, ctx: LessonContext) -> Sign:
    """· W + b, of a step that multiplies with weights."""
    return linear_of(step.last, ctx)


def linear_of(record: Record, ctx: LessonContext) -> Sign:
    """· W + b, of a record that multiplies with weights."""
    weights, *bias = (v for v in record.inputs if v.role.parameter)
    added = [part for value in bias for part in (" + ", ctx.symbols[value.address])]
    return ("· ", ctx.symbols[weights.address], *added)
