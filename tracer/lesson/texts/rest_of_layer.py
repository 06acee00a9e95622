"""What the steps after a short text's head make of the followed token's vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracer.decoder import roles
from tracer.decoder.operations import Concat, Copy
from tracer.lesson import document as doc
from tracer.lesson.steps.ffn import ACTIVATION_STEP, HIDDEN_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.before_and_after import before_and_after
from tracer.lesson.texts.teacher import Teacher

REST = "The rest of the layer"
"""The title if there is only one layer: then its table leads from the input to the output."""


def rest_of_layer(teacher: Teacher) -> Iterator[doc.Section]:
    """The token's vector after each later step of the head's layer, a row each."""
    if teacher.main_head is None:
        return
    softmax, ctx = teacher.main_head.softmax, teacher.ctx
    own = softmax.place.layer, softmax.place.encoder
    later = [
        step
        for step in teacher.steps[softmax.number :]
        if (step.place.layer, step.place.encoder) == own and step.last.output.per_token
        if not (step.place.head or step.place.network) and ctx.follows(step.last.output)
        if not isinstance(step.last.operation, Concat | Copy)
    ]
    axes = later[-1].last.output.axes if later else ()
    results = [step for step in later if step.last.output.axes == axes]
    ends = [ctx.trace.values.get(role.name) for role in (roles.INPUT, roles.OUTPUT)]
    is_whole = ctx.layers == 1 and all(end is not None and end.axes == axes for end in ends)
    if softmax.place.layer is None or len(axes) != 2:
        return
    explained = [s for s in later if s in results or s.kind in (HIDDEN_STEP, ACTIVATION_STEP)]
    goals = _joined([teacher.goal(step) for step in explained])
    title = REST if is_whole else f"The rest of layer {softmax.place.layer}"
    drawn = before_and_after(ctx) if is_whole and roles.LOGITS.name not in ctx.trace.values else ()
    rows = [teacher.step_of[roles.INPUT.name], *results] if is_whole else results
    blocks = (doc.Paragraph(goals), _table(teacher, rows))
    drawings = (block for block in drawn if isinstance(block, doc.Groups))
    yield doc.Section(None, title, (*blocks, *drawings), trace=teacher.trace)


def _joined(said: Sequence[doc.Sentence]) -> doc.Sentence:
    """Sentences in one paragraph."""
    joined: list[doc.Inline] = []
    for sentence in filter(None, said):
        joined += [" ", *sentence] if joined else sentence
    return tuple(joined)


def _table(teacher: Teacher, rows: Sequence[Step]) -> doc.Table:
    """The followed token's row of each step's result."""
    ctx, last = teacher.ctx, rows[-1].last.output
    columns, labels = ctx.columns(last), last.axes[1].labels
    numbers: list[tuple[str | doc.Cell, ...]] = [
        (sentences.named(step), *(ctx.number(value, ctx.row(value), j) for j in columns))
        for step in rows
        for value in [step.last.output]
    ]
    return doc.Table.of((ctx.names[ctx.token], *(labels[j] for j in columns)), numbers)
