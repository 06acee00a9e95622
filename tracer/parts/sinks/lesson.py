"""The step of an attention sink: its goal, its reasons, and what it does to the softmax."""

from __future__ import annotations

from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.gradients import learns
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.sinks import decoder

SINK = head_symbol("s")


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    sink = ctx.symbols[step.last.inputs[1].address]
    return (
        *("The sink ", sink, " is a learned number. It takes part in the softmax like the score "),
        "of one more key, which has no value.",
    )


NOTHING_TO_FIND: Sentence = (
    "A softmax always gives away all of its shares. With a sink, a token need not attend to any "
    "token: if the sink is much larger than the scores, all weights are small.",
)


def _at_the_sink(step: Step, ctx: LessonContext) -> Sentence:
    at = "Compute the gradient at the scores and the sink."
    learned = " The sink takes part in all rows: its gradient adds up their last column."
    return (at + learned * learns(step),)


SINK_STEP = InnerKind(
    "sink",
    "Attention sink",
    "the scores, and the sink as a last column",
    _goal,
    {decoder.SCORES_AND_SINK: RoleText(head_symbol("S", "s"))},
    gradient=Gradient("at the scores and the sink", _at_the_sink, (decoder.SINK,)),
    sign=("sink",),
    reasons=(NOTHING_TO_FIND,),
)

SHARES = RoleText(head_symbol("A", "s"))
UNMASKED_SHARES = RoleText(head_symbol("U", "s"))

PART = LessonPart(
    kinds={"mask": (SINK_STEP,)},
    texts={
        "softmax": {decoder.WEIGHTS_AND_SINK: SHARES},
        "unmasked": {
            decoder.UNMASKED_AND_SINK: RoleText(head_symbol("S", "s")),
            decoder.UNMASKED_WEIGHTS_AND_SINK: UNMASKED_SHARES,
        },
    },
    operands={decoder.SINK: SINK},
)
