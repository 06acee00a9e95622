"""The first picture of a page: where a token attends, what comes out, and a number to change."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tracer.decoder import roles
from tracer.decoder.value import Entry, Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.illustrations import figure, followed, weight_arcs
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.answer import attention, next_words, predicted
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.what_if import WhatIf, what_if
from tracer.names import distinct, name_text

MOST_BARS = 12


@dataclass(frozen=True)
class FirstPicture:
    """What is shown of one token: attention with a sentence, beside it bars; a number to change.

    Below it are `questions` about changes.
    """

    attention: tuple[doc.Block, ...]
    sentence: tuple[doc.Paragraph, ...]
    bars: tuple[doc.Bars, ...]
    number: Entry | None
    questions: tuple[WhatIf, ...]

    @property
    def blocks(self) -> tuple[doc.Block, ...]:
        """All blocks."""
        return (*self.attention, *self.sentence, *self.bars)


def first_picture(teacher: Teacher) -> FirstPicture:
    """Return the head that matters most as arcs, the next words or the vector as bars."""
    ctx, head = teacher.ctx, teacher.main_head
    if ctx.is_padding:
        return FirstPicture((), (), (), _number(ctx), ())
    drawn = (*weight_arcs(head.softmax, ctx), *_in_image(head.softmax, ctx)) if head else ()
    predicts = ctx.trace.values.get(roles.PROBABILITIES.name)
    said = attention(head, ctx) if head else predicted(ctx, predicts) if predicts else None
    bars = next_words(ctx, predicts) if predicts else _vectors(ctx)
    return FirstPicture(drawn, doc.paragraphs(said), bars, _number(ctx), tuple(what_if(teacher)))


def _in_image(step: Step, ctx: LessonContext) -> tuple[doc.Matrix, ...]:
    """The weights of the parts of an image, each at its place, if their names are places.

    The parts are named row by row, as in `upper-left`, `upper-right`, `lower-left`, `lower-right`.
    """
    weights = step.last.output
    names = weights.axes[1].labels
    places = [name.split("-") for name in names]
    if any(len(place) != 2 for place in places):
        return ()
    rows, columns = (tuple(dict.fromkeys(axis)) for axis in zip(*places, strict=True))
    if min(len(rows), len(columns)) < 2 or tuple(map("-".join, product(rows, columns))) != names:
        return ()
    row = ctx.row(weights)
    numbers = [ctx.number(weights, row, j) for j in range(len(names))]
    starts = range(0, len(names), len(columns))
    cells = tuple(tuple(numbers[i : i + len(columns)]) for i in starts)
    drawn = figure(step, ctx, weights, "image", f"Where {followed(ctx)} looks")
    return (doc.Matrix(ctx.symbols[weights.address], rows, columns, cells, None, drawn),)


def _vectors(ctx: LessonContext) -> tuple[doc.Bars, ...]:
    """The token's numbers at the input and at the output."""
    has_positions = roles.POSITION.name in ctx.trace.values
    starts = "at the input, with its position" if has_positions else "at the input"
    found = []
    for role, where in ((roles.INPUT, starts), (roles.OUTPUT, "at the output")):
        value = ctx.trace.values.get(role.name)
        if value is None or not ctx.follows(value) or value.shape[1] > MOST_BARS:
            return ()
        row, labels = ctx.row(value), distinct(value.axes[1].labels)
        bars = tuple(doc.Bar(label, ctx.number(value, row, j)) for j, label in enumerate(labels))
        title = f"“{name_text(ctx.names[ctx.token])}” {where}"
        found.append(doc.Bars(bars, doc.Figure(f"{ctx.trace.name}.{role.name}", title)))
    return tuple(found)


def _number(ctx: LessonContext) -> Entry | None:
    """The largest number of the token's embedding."""
    value = ctx.trace.values.get(roles.EMBEDDING.name)
    if value is None or not ctx.follows(value):
        return None
    row = ctx.row(value)
    return Entry(value, (row, _largest(value, row)))


def _largest(value: Value, row: int) -> int:
    return max(range(value.shape[1]), key=lambda j: abs(value.read((row, j))))
