"""The step of ALiBi, which lowers scores with the distance: its goal and its reasons."""

from __future__ import annotations

from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.inputs import without_positions
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.alibi import decoder

DISTANCE, SLOPE = Symbol("D"), Symbol("m", "D")


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    return (
        *("The distance ", DISTANCE, " of two tokens, times the head's slope ", SLOPE),
        ", is subtracted from their score: before rounding, of two keys that match equally well, "
        "the nearer one keeps the higher score.",
    )


NOTHING_LEARNED: Sentence = (
    "Nothing is learned for single positions, so the same rule applies to texts that are longer "
    "than those in training.",
)
OWN_SLOPES: Sentence = (
    "Each head has its own slope: with a small one, distance matters little; with a large one, "
    "near tokens are favored.",
)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    several = ctx.heads_of(step.place) > 1
    return (*without_positions(ctx), NOTHING_LEARNED, *([OWN_SLOPES] if several else []))


ALIBI_STEP = InnerKind(
    "alibi",
    "Distance penalty (ALiBi)",
    "the scores after the distances are subtracted",
    _goal,
    {
        decoder.SLOPE: RoleText(head_symbol("m", "D"), "The slope of this head:"),
        decoder.BIASED: RoleText(
            head_symbol("S", "D"), "Each score minus the slope times the distance:"
        ),
    },
    gradient=Gradient("at the scores after ALiBi", "each score after ALiBi"),
    sign=("ALiBi",),
    short="distance penalty",
    reasons=_reasons,
)

PART = LessonPart(kinds={"scores": (ALIBI_STEP,)}, operands={decoder.DISTANCE: DISTANCE})
