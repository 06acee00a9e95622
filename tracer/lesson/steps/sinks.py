"""The step of an attention sink: its goal, its reasons, and what it does to the softmax."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.operations import DropColumn
from tracer.decoder.tape import Record
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import InnerKind, RoleText, Step
from tracer.lesson.steps.query_key_value import head_symbol

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

SINK_STEP = InnerKind(
    "sink",
    "Attention sink",
    "the scores, and the sink as a last column",
    _goal,
    {roles.SCORES_AND_SINK: RoleText(head_symbol("S", "s"))},
    sign=("sink",),
    reasons=(NOTHING_TO_FIND,),
)

SHARES = RoleText(head_symbol("A", "s"), "Each exponential divided by the sum:")
UNMASKED_SHARES = RoleText(head_symbol("U", "s"), "Each exponential divided by the sum:")

LEFT_OUT = (
    " The share of the sink is left out, so that, before rounding, the weights of a row add up to "
    "less than 1."
)


def has_sink(step: Step) -> bool:
    """Return whether the last column of a softmax, that of the sink, is left out."""
    return isinstance(step.last.operation, DropColumn)


def weights_caption(record: Record) -> str:
    """Return the words before the weights."""
    if isinstance(record.operation, DropColumn):
        return "The weights, without the share of the sink:"
    return "Each exponential divided by the sum:"
