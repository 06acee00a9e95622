"""The stages of one step of training, from the data to the update."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps import Step
from tracer.lesson.steps.training import LOSS_STEP

REPEATED: doc.Sentence = ("Training repeats these stages, each time with the changed parameters.",)
STAGES: tuple[tuple[str, str, Callable[[Step], bool]], ...] = (
    (
        "forward pass",
        "the model computes a probability for each word after each token",
        lambda step: step.place.phase == "forward" and step.kind is not LOSS_STEP,
    ),
    (
        "loss",
        LOSS_STEP.summary,
        lambda step: step.kind is LOSS_STEP,
    ),
    (
        "backward pass",
        "from the loss back to the inputs: how much each parameter changes the loss",
        lambda step: step.place.phase == "gradient",
    ),
    (
        "update",
        "each trained parameter is changed a little, using its gradient",
        lambda step: step.place.phase == "update",
    ),
)
"""The name of a stage, what happens in it, and which steps belong to it."""


WITH_ENCODER = (
    "the decoder reads its tokens and the encoder's vectors and computes a probability for each "
    "word after each token"
)
BELOW, ELSEWHERE = "below", "decoder-trace train"


def stages(steps: Sequence[Step], ctx: LessonContext) -> tuple[doc.Block, ...]:
    """A table of the stages of training: what happens in each, and in which steps of the text.

    Without steps of the backward pass, the loss is not a step of the text either.
    """
    rows = [("data", BELOW, "the tokens are the input, the correct words are the targets")]
    is_trained = any(step.place.phase != "forward" for step in steps)
    for stage, does, belongs in STAGES:
        what = WITH_ENCODER if stage == "forward pass" and ctx.attends_to_the_encoder else does
        numbers = [step.number for step in steps if belongs(step)]
        where = _between(numbers) if numbers else ELSEWHERE
        rows.append((stage, BELOW if stage == "loss" and not is_trained else where, what))
    return (doc.Table.of(("stage", "where", "what happens"), rows), doc.Paragraph(REPEATED))


def _between(numbers: Sequence[int]) -> str:
    """`step 31`, `steps 32 to 58`."""
    first, last = min(numbers), max(numbers)
    return f"step {first}" if first == last else f"steps {first} to {last}"
