"""What stands in the picture of the model for several kinds of steps."""

from __future__ import annotations

from tracer.decoder.tape import Record
from tracer.lesson.document import Sign
from tracer.lesson.steps.kind import Step
from tracer.lesson.told import Told


def linear(step: Step, told: Told) -> Sign:
    """· W + b, of a step that multiplies with weights."""
    return linear_of(step.last, told)


def linear_of(record: Record, told: Told) -> Sign:
    """· W + b, of a record that multiplies with weights."""
    weights, *bias = (v for v in record.inputs if v.role.parameter)
    added = [part for value in bias for part in (" + ", told.symbols[value.address])]
    return ("· ", told.symbols[weights.address], *added)
