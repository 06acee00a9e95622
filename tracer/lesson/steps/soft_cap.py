"""What a soft cap does to scores or logits."""

from __future__ import annotations

from tracer.decoder.elementwise import SoftCap
from tracer.formula import expression as ex
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import Step


def capped(step: Step, before: ex.Symbol, noun: str) -> Sentence:
    """Say between which numbers the soft cap keeps each score or logit; nothing without one."""
    operation = step.last.operation
    if not isinstance(operation, SoftCap):
        return ()
    cap = ex.Number(operation.cap)
    low = ex.Number(-operation.cap)
    return (
        *("The soft cap ", operation.formula.symbols([before]), f" keeps each {noun} between "),
        *(low, " and ", cap, f"; {noun}s much closer to 0 than ", cap, " hardly change."),
    )
