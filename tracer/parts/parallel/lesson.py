"""What the FFN of a parallel layer says of attention beside it."""

from __future__ import annotations

from dataclasses import replace

from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.ffn import HIDDEN_STEP, UNITS, why_hidden
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import LessonPart
from tracer.parts.parallel.scenario import is_parallel

IN_PARALLEL: Sentence = (
    "Attention and the FFN are parallel here: neither reads the other's result, so that a program "
    "can compute both at the same time.",
)


def _is_in_parallel(step: Step, ctx: LessonContext) -> bool:
    return is_parallel(ctx.at(step.place).tower.layers[(step.place.layer or 1) - 1])


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    reasons = why_hidden(step, ctx)
    at = reasons.index(UNITS)
    return (*reasons[:at], IN_PARALLEL, *reasons[at:])


PART = LessonPart(instead=((_is_in_parallel, replace(HIDDEN_STEP, reasons=_reasons)),))
