"""The loss: how surprised the model is by the right next words."""

from __future__ import annotations

from tracer.decoder.operations import MeanOf
from tracer.decoder.roles import BATCH_LOSSES, LOSS, TARGET, TOKEN_LOSS
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Paragraph
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.names import count


def _not_counted(step: Step, ctx: LessonContext) -> list[Block]:
    """Which positions do not count, if there are any."""
    operation = step.last.operation
    if not isinstance(operation, MeanOf):
        return []
    left_out = step.last.inputs[0].shape[0] - len(operation.counted)
    positions, do = count(left_out, "position"), "does" if left_out == 1 else "do"
    why = "no word of the vocabulary is to be guessed there"
    sentence = f"{positions} {do} not count in the mean: {why}."
    return [Paragraph((sentence,))] if left_out else []


LOSS_STEP = StepKind(
    "loss",
    "Cross-entropy loss",
    "how surprised the model is",
    (
        "The lower the probability of the right word, the larger the loss at a position; the "
        "losses are averaged over the positions that have a right word.",
    ),
    {
        TARGET: RoleText(Symbol("target")),
        TOKEN_LOSS: RoleText(
            Symbol("ℓ"), "The loss at each such position, with the probability of the right word:"
        ),
        BATCH_LOSSES: RoleText(
            Symbol("ℓ", "batch"), "The losses of all examples, one behind the other:"
        ),
        LOSS: RoleText(Symbol("L"), "Their mean:"),
    },
    sign=("loss",),
    reasons=(
        (
            "The logarithm is taken because the loss is then 0 for a right word that was certain, "
            "and grows without bound as its probability goes to 0: to be sure and wrong costs "
            "most. Training changes the weights to make this number smaller.",
        ),
    ),
    outcome=_not_counted,
    only_with="decoder-trace loss",
)

KINDS = (LOSS_STEP,)
