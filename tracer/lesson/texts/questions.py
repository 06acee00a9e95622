"""Questions that are not arithmetic, each with its computed answer: on worksheets and pages.

A worksheet gives no answer away. The predicted word that a question asks for is [A] in sentences
and tables; an author's paragraph that names it is left out, and so is a generated text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias, TypeVar

import numpy as np

from tracer.decoder import operations as op, roles
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
from tracer.lesson.texts.training_pass import CORRECT
from tracer.lesson.texts.tutorial import GENERATION
from tracer.names import distinct
from tracer.node import found as nodes

LEFT_OUT = doc.Name("[A]")
IN_COLUMNS = dict.fromkeys(("comes", "prediction"), LEFT_OUT) | {"correct": doc.Name("?")}
"""What a table shows in place of the predicted word and of the verdict on it."""
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
    if logits and (question := _of_the_prediction(logits, ctx, document)):
        asked[logits.number] = question
    return asked | _of_a_weight([step for step in own if step.number not in asked], ctx, drawn)


def with_questions(document: doc.Document, found: Trace, token: int, seed: int) -> doc.Document:
    """Return a tutorial with questions for a worksheet."""
    asked = questions(document, found, token, seed)
    kinds = {step.number: step.kind for step in steps(found.records)}
    logits = next((number for number in asked if kinds[number] is LOGITS_STEP), None)
    if logits is not None:
        word = _correct_word(asked[logits])
        (*asks, _), answer = asked[logits].parts, (LEFT_OUT, " is ", doc.Name(word), ".")
        then = ("? Answer before you read on; this text calls it ", LEFT_OUT, ".")
        asked[logits] = replace(asked[logits], parts=(*asks, *then), answer=answer)
        document = _without_prediction(document, word, found.scenario.vocabulary or ())
    sections, number = list(document.sections), 0
    for i, section in enumerate(sections):
        if section.number is not None and section.number in asked:
            number += 1
            label: doc.Sentence = (doc.Emphasis((f"Q{number}.",), strong=True), " ")
            question = asked.pop(section.number)
            new = replace(
                question, parts=(*label, *question.parts), answer=(*label, *question.answer)
            )
            # The goal of the mask is its rule; the numbers below it are the answer.
            at = 1 if kinds[section.number] is MASK_STEP else len(section.blocks)
            blocks = (*section.blocks[:at], new, *section.blocks[at:])
            sections[i] = replace(section, blocks=blocks)
    return replace(document, sections=tuple(sections))


def _correct_word(question: doc.Question) -> str:
    """Return the word that is the answer."""
    (right,) = question.choices.right
    return question.choices.labels[right]


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
    name = _one_of([n for n in among if n != ctx.name.text] or among, drawn)
    asks = ("Which tokens does the mask hide from ", doc.Name(name), "? Answer before you read on.")
    choices = doc.Choices(names, tuple(map(names.index, hidden[name])), several=True)
    return doc.Question(asks, (*listed(hidden[name]), "."), choices)


def _of_the_prediction(
    step: Step, ctx: LessonContext, document: doc.Document
) -> doc.Question | None:
    """Ask for the followed token's predicted word, unless words tie or the title names it."""
    predicted, shares = (ctx.trace[role.name] for role in (roles.PREDICTION, roles.PROBABILITIES))
    word = str(predicted.numbers[ctx.row(predicted)])
    rows = [FollowedRow.of(value, ctx) for value in (step.last.output, shares)]
    ties = any(not row.ranked() or row.labels[row.ranked()[0]] != word for row in rows)
    given = isinstance(ctx.trace.producers[shares].operation, op.Pinned)
    if ties or given or ctx.is_padding or _is_in(document.title, word):
        return None
    computed = rows[0].computed
    order = sorted(range(len(computed)), key=computed.__getitem__, reverse=True)
    labels = tuple(rows[0].labels[i] for i in sorted(order[:MOST_CHOICES]))
    asks = ("Which word will be the most probable one after ", ctx.name, "?")
    choices = doc.Choices(labels, (labels.index(word),), several=False)
    return doc.Question(asks, (doc.Name(word), "."), choices)


def _of_a_weight(among: Sequence[Step], ctx: LessonContext, drawn: Random) -> Questions:
    """Ask what changes if one weight is doubled: the answer is computed with that weight."""
    places = {(s, r): found for s in among for r in s.records if (found := _that_count(r, ctx))}
    if not places:
        return {}
    step, record = key = _one_of([*places], drawn)
    w, value, (i, j) = record.inputs[1], record.output, _one_of(places[key], drawn)
    try:
        doubled = _with_doubled_weight(record, (i, j), ctx.trace)
    except TracerError:  # it is too large to compute with
        return {}
    changes, changed, at = list[doc.Sentence](), list[int](), ctx.row(value)
    columns = distinct(value.axes[1].labels)
    for column, label in enumerate(columns):
        old = ctx.number(value, at, column)
        new = entries.number(ctx.trace.pencil, doubled, (at, column))
        if by := _difference(doubled, value, (at, column), ctx.trace.pencil):
            shown: doc.Sentence = (" from ", old, " to ", new, " (by ", by, ")")
            if old.value == new.value:  # the printed digits do not show the change
                shown = (" by ", by)
            changes.append((doc.Name(label), " changes", *shown))
            changed.append(column)
    row, weight = distinct(w.axes[0].labels)[i], distinct(w.axes[1].labels)[j]
    asks: doc.Sentence = (
        *("Suppose that the weight of ", ctx.symbols[w.address], " in row ", doc.Name(row)),
        *(" and column ", doc.Name(weight), " is doubled. Which of the numbers of ", ctx.name),
        *(" in ", ctx.symbols[value.address], " change, and by how much?"),
    )
    answer = (*joined(changes), ".") if changes else ("None of them changes.",)
    choices = doc.Choices(tuple(columns), tuple(changed), several=True)
    return {step.number: doc.Question(asks, answer, choices)}


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


def _that_count(record: Record, ctx: LessonContext) -> list[tuple[int, int]]:
    """Return the places of the weights that multiply a number of the followed token."""
    w = record.inputs[1] if len(record.inputs) > 1 else record.output
    given = any(isinstance(ctx.trace.producers[v].operation, op.Pinned) for v in (w, record.output))
    is_matrix = w.role.parameter and w.address.startswith(WEIGHTS) and len(w.axes) == 2
    if given or not (is_matrix and record.output.per_token):
        return []
    row = record.inputs[0].numbers[ctx.row(record.inputs[0])]
    return [(int(i), int(j)) for i, j in np.argwhere(w.array != 0) if row[i]]


def _one_of(among: Sequence[_Choice], drawn: Random) -> _Choice:
    """Return one; Python guarantees the same in every version only for `random()`."""
    return among[int(drawn.random() * len(among))]


def _without_prediction(
    document: doc.Document, word: str, vocabulary: Sequence[str]
) -> doc.Document:
    """Return the document without sentences and cells of tables that tell a prediction."""

    def kept(blocks: Sequence[doc.Block]) -> Iterator[doc.Block]:
        for block in blocks:
            match block:
                case doc.Table(header, rows):
                    yield replace(block, rows=tuple(_blanked(header, row, word) for row in rows))
                case doc.Paragraph(("After ", token, *says)):
                    left = (LEFT_OUT if each == doc.Name(word) else each for each in says)
                    yield doc.Paragraph(("After ", token, *left))
                case doc.Paragraph() if _tells(block, word, vocabulary):
                    pass
                case _:
                    yield block

    sections = document.sections
    generated = tuple(section for section in sections if section.part == GENERATION)
    if any(_is_in(name.text, word) for name in nodes(generated, doc.Name)):
        sections = tuple(section for section in sections if section.part != GENERATION)
    sections = tuple(replace(each, blocks=tuple(kept(each.blocks))) for each in sections)
    return replace(document, introduction=tuple(kept(document.introduction)), sections=sections)


def _blanked(header: Sequence[str], row: tuple[doc.Cell, ...], word: str) -> tuple[doc.Cell, ...]:
    """Return a row of a table without the word as a prediction."""
    cells = list(zip(header, row, strict=True))
    names_it = any(IN_COLUMNS.get(h) == LEFT_OUT and cell == doc.Name(word) for h, cell in cells)
    return tuple(IN_COLUMNS.get(h, cell) for h, cell in cells) if names_it else row


def _tells(paragraph: doc.Paragraph, word: str, vocabulary: Sequence[str]) -> bool:
    """Whether it counts correct predictions, or an author names the word, but not all words."""
    text = _by_author(paragraph)
    is_named = _is_in(text, word) and not all(_is_in(text, each) for each in vocabulary)
    return is_named or str(paragraph.parts[0]).startswith(CORRECT)


def _by_author(paragraph: doc.Paragraph) -> str:
    """Return the words of an author's paragraph; nothing for another."""
    if not any(isinstance(part, doc.Plain | doc.Code | doc.Emphasis) for part in paragraph.parts):
        return ""
    kinds: tuple[type[doc.Plain | doc.Code | doc.Name], ...] = (doc.Plain, doc.Code, doc.Name)
    return " ".join(each.text for kind in kinds for each in nodes(paragraph, kind))


def _is_in(text: str, word: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))
