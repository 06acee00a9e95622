"""The soft cap of scores and logits, c · tanh(s / c): its goal and its reasons."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import SoftCap
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.kind import InnerKind, RoleText, Step
from tracer.lesson.steps.query_key_value import head_symbol


def capped(step: Step, before: ex.Symbol, noun: str) -> Sentence:
    """Say between which numbers the soft cap keeps each score or logit; nothing without one."""
    operation = step.last.operation
    if not isinstance(operation, SoftCap):
        return ()
    cap = ex.Number(operation.cap)
    low = ex.Number(-operation.cap)
    return (
        *("The soft cap ", operation.formula.symbols([before]), f" keeps each {noun} between "),
        *(low, " and ", cap, f"; {noun}s much smaller than ", cap, " hardly change."),
    )


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
    {roles.CAPPED: RoleText(head_symbol("S", "c"))},
    sign=_sign,
    reasons=(IN_ORDER,),
)
