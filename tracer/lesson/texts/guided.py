"""The stops of a guided walk through the calculation: a step of each kind, with one number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracer.decoder import roles
from tracer.decoder.gather import Gather
from tracer.decoder.operations import Given
from tracer.decoder.value import Entry, Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention import SOFTMAX_STEP
from tracer.lesson.steps.inputs import EMBEDDING_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.teacher import Teacher


@dataclass(frozen=True)
class Stop:
    """A step by its number: its title, its goal, and a number of the followed token's to work out.

    There is no such number if the result is a word or weights, or at the end the copy of another
    value.
    """

    step: int
    title: str
    goal: doc.Sentence
    number: Entry | None


def stops(teacher: Teacher, chosen: Sequence[Step]) -> tuple[Stop, ...]:
    """Return the stops among the chosen steps: of the heads, those of the one that matters most."""
    ctx, whole = teacher.ctx, len(chosen) == len(teacher.steps)
    head = teacher.main_head.softmax if whole and teacher.main_head else None
    head = head or next((step for step in chosen if step.kind is SOFTMAX_STEP), None)
    if head is None:
        return ()
    *before, end = _of_each_kind(chosen, head, ctx)
    steps = [step for step in before if step.kind is EMBEDDING_STEP or not _is_taken(step)]
    numbers = {step: _number(step.last.output, head, ctx) for step in steps}
    numbers[end] = None if _is_taken(end) else _number(end.last.output, head, ctx)
    return tuple(
        Stop(
            step.number,
            sentences.title(step, ctx.at(step.place)),
            step.kind.goal_of(step, ctx.at(step.place)),
            number,
        )
        for step, number in numbers.items()
    )


def _is_taken(step: Step) -> bool:
    """Whether the result of a step is given, or numbers of other steps."""
    return isinstance(step.last.operation, Given | Gather)


def _of_each_kind(chosen: Sequence[Step], head: Step, ctx: LessonContext) -> Iterator[Step]:
    """The first step of each kind that leads through a head and its layer."""
    met = set()
    for step in chosen:
        place = step.place
        leads = (
            place.layer in (None, head.place.layer)
            and place.head in (None, head.place.head)
            and place.sub_layer in (None, head.place.sub_layer, "ffn")
            and place.encoder == head.place.encoder
        )
        if leads and step.kind not in met and ctx.follows(step.last.output):
            met.add(step.kind)
            yield step


def _number(value: Value, head: Step, ctx: LessonContext) -> Entry | None:
    """The largest number of the token's row; of features, that of the largest one at the end.

    Keys and values of an encoder have no such row: it is that of the token attended to most.
    """
    if value.role.words or value.role.of_parameters or not value.axes:
        return None
    row = ctx.row(value) if value.per_token else _most_read(head, ctx)
    if len(value.axes) == 1:
        return Entry(value, (row,))
    output = ctx.trace.values.get(roles.OUTPUT.name)
    is_of_features = output and output.axes[1:] == value.axes[1:] and ctx.follows(output)
    ranked = output if output and is_of_features else value
    numbers = ranked.read((ctx.row(ranked) if ranked.per_token else row,))
    return Entry(value, (row, max(ctx.columns(value), key=lambda column: float(numbers[column]))))


def _most_read(head: Step, ctx: LessonContext) -> int:
    weights = head.last.output
    return int(weights.array[ctx.row(weights)].argmax())
