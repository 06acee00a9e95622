"""The step of the soft cap of scores: its goal and its reasons."""

from __future__ import annotations

from tracer.decoder.elementwise import SoftCap
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.soft_cap import capped
from tracer.parts.softcap import decoder


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    return capped(step, ex.Symbol("s"), "score")


def _sign(step: Step, ctx: LessonContext) -> Sign:
    operation = step.last.operation
    cap = (" ", ex.Number(operation.cap)) if isinstance(operation, SoftCap) else ()
    return ("soft cap", *cap)


IN_ORDER: Sentence = (
    "Cutting the scores off at a limit would make all larger scores equal and stop their gradient. "
    "Before rounding, the soft cap keeps their order, and its slope is nowhere 0.",
)

SOFTCAP_STEP = InnerKind(
    "softcap",
    "Soft cap",
    "the scores after the soft cap",
    _goal,
    {decoder.CAPPED: RoleText(head_symbol("S", "c"))},
    gradient=Gradient("at the scores after the soft cap", "each score after the soft cap"),
    sign=_sign,
    reasons=(IN_ORDER,),
)

PART = LessonPart(kinds={"scores": (SOFTCAP_STEP,)})
