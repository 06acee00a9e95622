"""Questions that are not arithmetic, each with its computed answer, beside the steps of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import TypeAlias, TypeVar

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.contract import Contract
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Index, Value
from tracer.errors import TracerError
from tracer.formula.expression import Number
from tracer.lesson import document as doc, entries
from tracer.lesson.context import LessonContext, joined, listed
from tracer.lesson.steps.attention import MASK_STEP
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.masks import mask_meaning
from tracer.lesson.steps.words import LOGITS_STEP
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct
from tracer.node import found as nodes

WEIGHTS = ("layer1.attention.head1.", "layer1.ffn.W_1", roles.W_U.name)
"""How the addresses of the matrices begin of which one weight is doubled."""
MOST_CHOICES = 8
"""So many words of a vocabulary are choices, the most probable."""
Questions: TypeAlias = dict[int, doc.Question]  # by the number of the step
_Choice = TypeVar("_Choice")


def questions(document: doc.Document, found: Trace, token: int, seed: int) -> Questions:
    """Return questions for a tutorial, at most one for each step of the decoder.

    `token`, counted from 0, is the one that the tutorial follows. The same seed asks the same.
    """
    drawn = Random(f"questions {seed}")
    ctx = LessonContext(found, token, symbols(found.records))
    shown = {section.number for section in document.sections}
    own = [s for s in steps(found.records) if s.number in shown and not s.place.encoder]
    mask = next((step for step in own if step.kind is MASK_STEP), None)
    logits = next((step for step in own if step.kind is LOGITS_STEP), None)
    asked: Questions = {}
    if mask and (question := _of_the_mask(mask, ctx, document, drawn)):
        asked[mask.number] = question
    if logits and (question := most_probable_word(ctx, document.title)):
        asked[logits.number] = question
    return asked | _of_a_weight([step for step in own if step.number not in asked], ctx, drawn)


def _of_the_mask(
    step: Step, ctx: LessonContext, text: doc.Document, drawn: Random
) -> doc.Question | None:
    """Ask which tokens are hidden from one, if the text states the rule and not the answer."""
    if isinstance(step.last.operation, op.Pinned) or mask_meaning(step, ctx) is None:
        return None
    if len({*ctx.masks}) > 1:
        return None  # “the mask” would be that of one layer or of another
    names, unseen = ctx.names, np.isneginf(step.last.inputs[1].array)
    hidden = {n: [names[j] for j in np.flatnonzero(r)] for n, r in zip(names, unseen, strict=True)}
    padding = {n for n, t in zip(names, ctx.tower.tokens, strict=True) if t == ctx.padding}
    masks = {None, *(s.number for s in steps(ctx.trace.records) if s.kind is MASK_STEP)}
    about = tuple(section.blocks for section in text.sections if section.number in masks)
    named = [[each.text for each in nodes(p, doc.Name)] for p in nodes(about, doc.Paragraph)]
    authors = map(_by_author, text.paragraphs)
    author = [{n for n in names if _is_in(said, n)} for said in authors]
    named += [[n, *h] for n, h in hidden.items() if any({n, *h} <= a < {*names} for a in author)]
    given_away = [(each[:1], {*each}) for each in named]
    among = [
        n for n, h in hidden.items() if not padding >= {*h} and ([n], {n, *h}) not in given_away
    ]
    if not among:
        return None
    name = one_of([n for n in among if n != ctx.name.text] or among, drawn)
    asks = ("Which tokens does the mask hide from ", doc.Name(name), "? Answer before you read on.")
    choices = doc.Choices(names, tuple(map(names.index, hidden[name])), several=True)
    return doc.Question(asks, (*listed(hidden[name]), "."), choices)


def most_probable_word(ctx: LessonContext, title: str) -> doc.Question | None:
    """Ask for the followed token's predicted word, unless words tie or the title names it."""
    predicted, shares = (ctx.trace[role.name] for role in (roles.PREDICTION, roles.PROBABILITIES))
    word = str(predicted.numbers[ctx.row(predicted)])
    rows = [FollowedRow.of(value, ctx) for value in (ctx.trace[roles.LOGITS.name], shares)]
    ties = any(not row.ranked() or row.labels[row.ranked()[0]] != word for row in rows)
    given = isinstance(ctx.trace.producers[shares].operation, op.Pinned)
    if ties or given or ctx.is_padding or _is_in(title, word):
        return None
    computed = rows[0].computed
    order = sorted(range(len(computed)), key=computed.__getitem__, reverse=True)
    labels = tuple(rows[0].labels[i] for i in sorted(order[:MOST_CHOICES]))
    asks = (f"Which word will be the most probable one {ctx.after} ", ctx.name, "?")
    choices = doc.Choices(labels, (labels.index(word),), several=False)
    return doc.Question(asks, (doc.Name(word), "."), choices)


def _of_a_weight(among: Sequence[Step], ctx: LessonContext, drawn: Random) -> Questions:
    """Ask what changes if one weight is doubled: the answer is computed with that weight."""
    places = {
        (step, record): found
        for step in among
        for record in step.records
        if len(record.inputs) > 1 and record.inputs[1].address.startswith(WEIGHTS)
        if (found := weights_that_count(record, ctx))
    }
    if not places:
        return {}
    step, record = key = one_of([*places], drawn)
    question = doubled_weight(record, one_of(places[key], drawn), ctx)
    return {step.number: question} if question else {}


def doubled_weight(record: Record, at: tuple[int, int], ctx: LessonContext) -> doc.Question | None:
    """Ask what changes if the weight at a place of a record's second operand is doubled.

    None if the number gets too large to compute with.
    """
    (i, j), w, value = at, record.inputs[1], record.output
    try:
        doubled = _with_doubled_weight(record, at, ctx.trace)
    except TracerError:
        return None
    changes, changed, row = list[doc.Sentence](), list[int](), ctx.row(value)
    columns = distinct(value.axes[1].labels)
    for column, label in enumerate(columns):
        old = ctx.number(value, row, column)
        new = entries.number(ctx.trace.pencil, doubled, (row, column))
        if by := _difference(doubled, value, (row, column), ctx.trace.pencil):
            shown: doc.Sentence = (" from ", old, " to ", new, " (by ", by, ")")
            if old.value == new.value:  # the printed digits do not show the change
                shown = (" by ", by)
            changes.append((doc.Name(label), " changes", *shown))
            changed.append(column)
    name, weight = distinct(w.axes[0].labels)[i], distinct(w.axes[1].labels)[j]
    asks: doc.Sentence = (
        *("Suppose that the weight of ", ctx.symbols[w.address], " in row ", doc.Name(name)),
        *(" and column ", doc.Name(weight), " is doubled. Which of the numbers of ", ctx.name),
        *(" in ", ctx.symbols[value.address], " change, and by how much?"),
    )
    answer = (*joined(changes), ".") if changes else ("None of them changes.",)
    return doc.Question(asks, answer, doc.Choices(tuple(columns), tuple(changed), several=True))


def _difference(new: Value, old: Value, at: Index, pencil: Pencil) -> Number | None:
    """Return by how much an entry changes, if it does; in full precision, rounded for print."""
    by = entries.exact(new, at) - entries.exact(old, at)
    if by and not pencil.rounds:
        by = pencil.printed(by, pencil.places(old.role, old.base_address, by))
    return Number(by) if by else None


def _with_doubled_weight(record: Record, at: Index, found: Trace) -> Value:
    """Return what a record computes of its inputs if one number of the second is doubled."""
    x, w, *others = record.inputs
    numbers = np.array(w.numbers)
    numbers[at] *= 2
    doubled = Value(w.role, w.place, w.address, numbers, w.axes, w.form, numbers)
    tape, value = Tape(arithmetic_of(found.scenario), found.pencil), record.output
    assert not isinstance(record.operation, op.Given | op.Pinned)
    with tape.computing(), tape.within(value.place):
        return tape.record_as(value.role, record.operation, value.axes, x, doubled, *others)


def weights_that_count(record: Record, ctx: LessonContext) -> list[tuple[int, int]]:
    """Return the places of the weights that multiply a number of the followed token."""
    w = record.inputs[1] if len(record.inputs) > 1 else record.output
    given = any(isinstance(ctx.trace.producers[v].operation, op.Pinned) for v in (w, record.output))
    is_product = isinstance(record.operation, Contract) and record.operation.is_matrix_product
    is_matrix = is_product and w.role.parameter and len(w.axes) == 2
    if given or not (is_matrix and record.output.per_token):
        return []
    row = record.inputs[0].numbers[ctx.row(record.inputs[0])]
    return [(int(i), int(j)) for i, j in np.argwhere(w.array != 0) if row[i]]


def one_of(among: Sequence[_Choice], drawn: Random) -> _Choice:
    """Return one; Python guarantees the same in every version only for `random()`."""
    return among[int(drawn.random() * len(among))]


def _by_author(paragraph: doc.Paragraph) -> str:
    """Return the words of an author's paragraph; nothing for another."""
    if not any(isinstance(part, doc.Plain | doc.Code | doc.Emphasis) for part in paragraph.parts):
        return ""
    kinds: tuple[type[doc.Plain | doc.Code | doc.Name], ...] = (doc.Plain, doc.Code, doc.Name)
    return " ".join(each.text for kind in kinds for each in nodes(paragraph, kind))


def _is_in(text: str, word: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))
