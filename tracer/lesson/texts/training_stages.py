"""The stages of one step of training, from the data to the update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.training import KIND_OF_LOSS, KINDS

REPEATED: doc.Sentence = ("Training repeats these stages, each time with the changed parameters.",)
STAGES: dict[str, Callable[[Step], bool]] = {
    "data": lambda step: False,
    "forward pass": lambda step: step.place.phase == "forward" and step.kind not in KINDS,
    "loss": lambda step: step.kind in KINDS,
    "backward pass": lambda step: step.place.phase == "gradient",
    "update": lambda step: step.place.phase == "update",
}
"""The name of each stage, and which steps belong to it."""

BELOW, ELSEWHERE = "below", "command decoder-trace train"


def stages(steps: Sequence[Step], ctx: LessonContext) -> tuple[doc.Block, ...]:
    """A table of the stages of training: what happens in each, and in which steps of the text.

    Without steps of the backward pass, the loss is not a step of the text either.
    """
    rows: list[tuple[str, str, str]] = []
    is_trained = any(step.place.phase != "forward" for step in steps)
    for stage, what in _what_happens(ctx):
        numbers = [step.number for step in steps if STAGES[stage](step)]
        if is_trained and stage == "update" and not numbers:
            continue
        if not numbers or (stage == "loss" and not is_trained):
            where = BELOW if stage in ("data", "loss") else ELSEWHERE
        else:
            where = _between(numbers)
            if is_trained and stage == "forward pass":
                where += " of run"
            elif stage == "update":  # only one of them is worked
                where = f"from step {numbers[0]} on"
        rows.append((stage, where, what))
    table = doc.Table.of(("stage", "where", "what happens"), rows)
    if ctx.trace.scenario.upstream:
        return (table,)
    return (table, doc.Paragraph((*REPEATED, *_way(ctx))))


def _way(ctx: LessonContext) -> doc.Sentence:
    """The way through encoder and decoder and back, if there is an encoder to attend to."""
    if not ctx.attends_to_the_encoder:
        return ()
    forward = " Forward: encoder → decoder → loss. Backward: loss → decoder"
    if ctx.has_two_towers:
        return (f"{forward} → encoder.",)
    return (f"{forward}; the encoder's vectors are given and stay as they are.",)


def _what_happens(ctx: LessonContext) -> Iterator[tuple[str, str]]:
    """Yield the name of each stage, and what happens in it."""
    scenario = ctx.trace.scenario
    targets = "the correct words" if scenario.loss.target is None else "numbers"
    is_given = bool(scenario.upstream)
    are = "" if is_given else f", {targets} are the targets"
    yield "data", f"the tokens are the input{are}"
    result = "a probability for each word after" if scenario.vocabulary else "a vector for"
    reads = "the model"
    if ctx.attends_to_the_encoder:
        reads = "the decoder reads its tokens and the encoder's vectors and"
    yield "forward pass", f"{reads} computes {result} each token"
    if not is_given:
        yield "loss", KIND_OF_LOSS[scenario.loss.kind].summary
    begins = "the given gradients" if is_given else "the loss"
    back = f"from {begins} back to the inputs: how much each parameter changes the loss"
    yield "backward pass", back
    yield "update", "each trained parameter is changed a little, using its gradient"


def _between(numbers: Sequence[int]) -> str:
    """`step 31`, `steps 32 to 58`."""
    first, last = min(numbers), max(numbers)
    return f"step {first}" if first == last else f"steps {first} to {last}"
