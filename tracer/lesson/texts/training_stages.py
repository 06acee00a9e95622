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
    "encoder": lambda step: _is_forward(step) and step.place.encoder,
    "decoder": lambda step: _is_forward(step) and not step.place.encoder,
    "forward pass": lambda step: _is_forward(step),
    "loss": lambda step: step.kind in KINDS,
    "backward pass": lambda step: step.place.phase == "gradient",
    "update": lambda step: step.place.phase == "update",
}
"""The name of each stage, and which steps belong to it."""


def _is_forward(step: Step) -> bool:
    return step.place.phase == "forward" and step.kind not in KINDS


def stages(steps: Sequence[Step], ctx: LessonContext) -> tuple[doc.Block, ...]:
    """A table of the stages of training: what happens in each, and in which steps of the text.

    A text without steps of the backward pass does not name steps.
    """
    rows: list[tuple[str, ...]] = []
    is_trained = any(step.place.phase != "forward" for step in steps)
    for stage, what in _what_happens(ctx):
        numbers = [step.number for step in steps if STAGES[stage](step)]
        if not is_trained:
            rows.append((stage, what))
        elif numbers or stage != "update":
            rows.append((stage, _where(stage, numbers), what))
    header = ("stage", "where", "what happens") if is_trained else ("stage", "what happens")
    table = doc.Table.of(header, rows)
    if ctx.trace.scenario.upstream:
        return (table,)
    return (table, doc.Paragraph((*REPEATED, *_way(ctx))))


def _where(stage: str, numbers: Sequence[int]) -> str:
    """`steps 1 to 30 of run`; of updates, only one is worked."""
    if not numbers:
        return "below"
    if stage == "update":
        return f"from step {numbers[0]} on"
    is_forward = stage in ("encoder", "decoder", "forward pass")
    return f"{_between(numbers)}{' of run' if is_forward else ''}"


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
    of_words = f"a probability {'of each word for' if ctx.fills_in else 'for each word after'}"
    result = of_words if scenario.vocabulary else "a vector for"
    computes = f"computes {result} each token"
    if ctx.attends_to_the_encoder:
        given = "" if ctx.has_two_towers else "; here the vectors are given"
        yield "encoder", f"one forward pass computes a vector for each of its tokens{given}"
        reads = "one forward pass reads its tokens and the encoder's vectors and"
        yield "decoder", f"{reads} {computes}"
    else:
        yield "forward pass", f"the model {computes}"
    if not is_given:
        yield "loss", KIND_OF_LOSS[scenario.loss.kind].summary
    begins = "the given gradients" if is_given else "the loss"
    towers = " through the decoder and the encoder" if ctx.has_two_towers else ""
    back = f"from {begins} back{towers} to the inputs: how much each parameter changes the loss"
    yield "backward pass", back
    yield "update", "each trained parameter is changed a little, using its gradient"


def _between(numbers: Sequence[int]) -> str:
    """`step 31`, `steps 32 to 58`."""
    first, last = min(numbers), max(numbers)
    return f"step {first}" if first == last else f"steps {first} to {last}"
