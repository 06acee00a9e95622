"""The first picture of a page: where a token attends, what comes out, and a number to change."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.decoder import roles
from tracer.decoder.value import Entry, Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.illustrations import weight_arcs
from tracer.lesson.texts.answer import answer
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.what_if import WhatIf, what_if
from tracer.names import distinct, name_text

MOST_BARS = 12


@dataclass(frozen=True)
class FirstPicture:
    """What is shown of one token: attention with sentences, beside it bars; a number to change.

    Below it are `questions` about changes.
    """

    attention: tuple[doc.Block, ...]
    bars: tuple[doc.Bars, ...]
    number: Entry | None
    questions: tuple[WhatIf, ...]

    @property
    def blocks(self) -> tuple[doc.Block, ...]:
        """All blocks."""
        return (*self.attention, *self.bars)


def first_picture(teacher: Teacher) -> FirstPicture:
    """Return the head that matters most as arcs, the next words or the vector as bars."""
    ctx, head = teacher.ctx, teacher.main_head
    arcs = tuple(weight_arcs(head.softmax, ctx)) if head else ()
    blocks = answer(teacher)
    bars = [block for block in blocks if isinstance(block, doc.Bars)]
    if ctx.trace.values.get(roles.PROBABILITIES.name) is None:
        bars = _vectors(ctx)
    sentences = [block for block in blocks if isinstance(block, doc.Paragraph)][:2]
    return FirstPicture((*arcs, *sentences), tuple(bars), _number(ctx), tuple(what_if(teacher)))


def _vectors(ctx: LessonContext) -> list[doc.Bars]:
    """The token's numbers at the input and at the output."""
    found = []
    for role, where in ((roles.INPUT, "at the input"), (roles.OUTPUT, "at the output")):
        value = ctx.trace.values.get(role.name)
        if value is None or not ctx.follows(value) or value.shape[1] > MOST_BARS:
            return []
        row, labels = ctx.row(value), distinct(value.axes[1].labels)
        bars = tuple(doc.Bar(label, ctx.number(value, row, j)) for j, label in enumerate(labels))
        title = f"“{name_text(ctx.names[ctx.token])}” {where}"
        found.append(doc.Bars(bars, doc.Figure(f"{ctx.trace.name}.{role.name}", title)))
    return found


def _number(ctx: LessonContext) -> Entry | None:
    """The largest number of the token's embedding."""
    value = ctx.trace.values.get(roles.EMBEDDING.name)
    if value is None or not ctx.follows(value):
        return None
    row = ctx.row(value)
    return Entry(value, (row, _largest(value, row)))


def _largest(value: Value, row: int) -> int:
    return max(range(value.shape[1]), key=lambda j: abs(value.read((row, j))))
