"""What a page asks beside its first picture: what a change of the scenario would do.

A reader predicts it; then the script of the page makes the change and computes the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.contract import Contract
from tracer.decoder.roles import Place
from tracer.decoder.value import Entry
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention import SOFTMAX_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.main_head import MainHead
from tracer.lesson.texts.questions import weights_that_count
from tracer.lesson.texts.teacher import Teacher


@dataclass(frozen=True)
class WhatIf:
    """A change, and what may change with it: a number, or the most probable word after a token.

    `changed` are two rows that are exchanged, a number that is doubled, the matrices of a head that
    are set to 0, or nothing, to remove the mask. `head` is the head of the change or of the number.
    """

    change: Literal["exchange", "double", "silence", "unmask"]
    changed: tuple[Entry, ...]
    watched: Entry
    head: str


def what_if(teacher: Teacher) -> Iterator[WhatIf]:
    """Yield questions about the followed token and its main head.

    A page can ask them if the numbers that change are typed, and not computed.
    """
    ctx, main = teacher.ctx, teacher.main_head
    routed = any(isinstance(record.operation, op.Keep) for record in ctx.trace.records)
    if main is None or routed or isinstance(main.softmax.last.operation, op.Pinned):
        return  # a token that goes to another network takes other steps
    step, weights = main.softmax, main.softmax.last.output
    columns, head = _by_attention(step, ctx), sentences.where(step, ctx)
    weight = Entry(weights, (ctx.row(weights), columns[0]))
    if rows := _different_rows(columns, step, ctx):
        yield WhatIf("exchange", rows, weight, head)
    if number := _largest_weight(step, ctx):
        yield WhatIf("double", (number,), weight, head)
    outcome, silent = _outcome(ctx), _silenced(main, teacher.steps)
    if outcome and silent and (matrices := _matrices_of_values(silent, ctx)):
        yield WhatIf("silence", matrices, outcome, sentences.where(silent, ctx))
    yield WhatIf("unmask", (), weight, head)


def _by_attention(step: Step, ctx: LessonContext) -> list[int]:
    """The columns of the attention weights, the largest of another token first."""
    weights = step.last.output
    row, width = weights.array[ctx.row(weights)], weights.shape[1]
    own = None if _crosses(step) else width - len(ctx.names) + ctx.token
    return sorted(range(width), key=lambda j: (row[j] == 0, j == own, -row[j]))


def _crosses(step: Step) -> bool:
    return step.place.sub_layer == "cross_attention"


def _different_rows(columns: Sequence[int], step: Step, ctx: LessonContext) -> tuple[Entry, ...]:
    """The vectors of the first column's token and of the next one with another vector."""
    vectors = ctx.value(Place(encoder=_crosses(step)), roles.EMBEDDING)
    if vectors is None and _crosses(step):
        vectors = ctx.trace.values.get(roles.ENCODER_OUTPUT.name)
    if vectors is None or vectors.shape[0] != len(columns):
        return ()
    first, rows = columns[0], vectors.array
    other = next((j for j in columns if (rows[j] != rows[first]).any()), None)
    return () if other is None else tuple(Entry(vectors, (j,)) for j in sorted((first, other)))


def _largest_weight(step: Step, ctx: LessonContext) -> Entry | None:
    """The weight of W_Q with the largest product in the followed token's query."""
    record = ctx.trace.by_address.get(step.place.address(roles.QUERY))
    places = weights_that_count(record, ctx) if record else []
    if record is None or not places:
        return None
    x, w = record.inputs[:2]
    row = x.array[ctx.row(x)]
    return Entry(w, max(places, key=lambda at: abs(row[at[0]] * w.array[at])))


def _silenced(main: MainHead, steps: Sequence[Step]) -> Step | None:
    """The main head; another one if the first picture names the word without the main one."""
    if main.word_without is None:
        return main.softmax
    place = main.softmax.place
    beside = (step for step in steps if replace(step.place, head=place.head) == place)
    return next((s for s in beside if s.kind is SOFTMAX_STEP and s is not main.softmax), None)


def _matrices_of_values(step: Step, ctx: LessonContext) -> tuple[Entry, ...]:
    """Matrix and bias of a head's values, or the values as they are given; no other head's."""
    value = ctx.value(step.place, roles.VALUE)
    readers = [record.output.role for record in ctx.trace.records if value in record.inputs]
    if value is None or readers != [roles.HEAD_OUTPUT]:
        return ()
    record = ctx.trace.producers[value]
    if isinstance(record.operation, Contract) and record.operation.is_matrix_product:
        return tuple(Entry(parameter, ()) for parameter in record.inputs[1:])
    return (Entry(value, ()),)


def _outcome(ctx: LessonContext) -> Entry | None:
    """The most probable word after the followed token, or its largest number at the output."""
    word, output = (ctx.trace.values.get(r.name) for r in (roles.PREDICTION, roles.OUTPUT))
    value = word or output
    if value is None or not ctx.follows(value):
        return None
    row = ctx.row(value)
    if word is None:
        return Entry(value, (row, int(np.argmax(np.abs(value.array[row])))))
    is_largest = isinstance(ctx.trace.producers[word].operation, op.ArgMax)
    return Entry(word, (row,)) if is_largest else None
