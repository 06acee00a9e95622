"""The text of the loss: the cross-entropy of the correct words."""

from __future__ import annotations

from tracer.decoder.operations import MeanOf
from tracer.decoder.roles import BATCH_LOSSES, LOSS, TARGET, TOKEN_LOSS
from tracer.formula.expression import Call, Negative, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Paragraph
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.names import count

P = Symbol("p")


def _not_counted(step: Step, ctx: LessonContext) -> list[Block]:
    """Return how many positions have no target, if there are any."""
    operation = step.last.operation
    if not isinstance(operation, MeanOf):
        return []
    left_out = step.last.inputs[0].shape[0] - len(operation.counted)
    have = "has no target and does" if left_out == 1 else "have no target and do"
    sentence = f"{count(left_out, 'position')} {have} not count in the mean."
    return [Paragraph((sentence,))] if left_out else []


LOSS_STEP = StepKind(
    "loss",
    "Cross-entropy loss",
    "how far the probabilities are from the correct words",
    (
        "The loss at a position is ",
        Negative(Call("ln", (P,))),
        ", where ",
        P,
        " is the probability of the correct word. The losses are averaged over all positions with "
        "a target.",
    ),
    {
        TARGET: RoleText(Symbol("target")),
        TOKEN_LOSS: RoleText(Symbol("ℓ"), "The loss at each position with a target:"),
        BATCH_LOSSES: RoleText(Symbol("ℓ", "batch"), "The losses of all examples:"),
        LOSS: RoleText(Symbol("L"), "Their mean:"),
    },
    sign=("loss",),
    reasons=(
        (
            "The loss is 0 if ",
            P,
            " is 1 and grows without bound as ",
            P,
            " approaches 0, so a confident wrong prediction costs most. Training changes the "
            "weights to lower the loss.",
        ),
    ),
    outcome=_not_counted,
    only_with="decoder-trace loss",
)

KINDS = (LOSS_STEP,)
