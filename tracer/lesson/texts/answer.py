"""What comes out for the followed token: sentences and a picture, before the working."""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import roles
from tracer.decoder.operations import Pinned
from tracer.decoder.value import Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.detail import Detail
from tracer.lesson.steps.attention_claims import largest_shares
from tracer.lesson.steps.claims import FollowedRow, is_named
from tracer.lesson.steps.illustrations import rounded_like
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.texts import sentences
from tracer.lesson.texts.before_and_after import before_and_after
from tracer.lesson.texts.main_head import MainHead
from tracer.lesson.texts.teacher import Teacher
from tracer.names import name_text

WITHOUT_IT = " Without this head (its output set to 0 for all tokens), the model predicts "

AT_THE_INPUT = "at the input of the first layer"
MOST_WORDS = 5
"""So many words are compared at a glance."""


def answer(teacher: Teacher) -> tuple[doc.Block, ...]:
    """What the model predicts after the followed token, or how its vector changes; then attention.

    Nothing of padding, and of values that are given instead of computed.
    """
    ctx = teacher.ctx
    if ctx.is_padding:
        return ()
    predicts = ctx.trace.values.get(roles.PROBABILITIES.name)
    head = teacher.main_head
    outcome = doc.paragraphs(predicted(ctx, predicts) if predicts else _changed(ctx))
    attends = doc.paragraphs(_attention(head, ctx) if head else None)
    picture = next_words(ctx, predicts) if predicts else before_and_after(ctx) if ctx.layers else ()
    if teacher.detail is not Detail.FULL:
        last = [step for step in teacher.steps if step.kind is PREDICTION_STEP]
        said = [
            *([head.softmax] if head and attends else []),
            *(last if predicts and outcome else []),
        ]
        teacher.answered.update(step.number for step in said)
    return (*outcome, *attends, *picture)


def attention(head: MainHead, ctx: LessonContext) -> doc.Sentence | None:
    """`In head 1, Alex gives 96.4 % of its attention to Frank and 2.6 % to Emma.`"""
    step = head.softmax
    if isinstance(step.last.operation, Pinned):
        return None
    shares, where = largest_shares(step, ctx), sentences.where(step, ctx)
    return (*([f"In {where}, "] if where else []), *shares) if shares else None


def _attention(head: MainHead, ctx: LessonContext) -> doc.Sentence | None:
    """Where the token attends in a head, and what the model predicts without the head."""
    attends = attention(head, ctx)
    if attends is None or head.word_without is None:
        return attends
    return (*attends, WITHOUT_IT, doc.Name(head.word_without), ".")


# --- words ---------------------------------------------------------------------------------------


def predicted(ctx: LessonContext, probabilities: Value) -> doc.Sentence | None:
    """Which word is the most probable next one, and which follows it."""
    if not _is_computed(ctx, probabilities):
        return None
    row = FollowedRow.of(probabilities, ctx)
    ranked = row.ranked()
    if not ranked:
        return None
    first, *others = ranked
    predicted = (*ctx.after_it, ", the model predicts ")
    if row.printed(first).value == 1:
        return (*predicted, *row.name(first), ".")
    then = [("; the next most probable word is ", *_with_share(row, i)) for i in others]
    return (*predicted, *_with_share(row, first), *chain(*then), ".")


def next_words(ctx: LessonContext, probabilities: Value) -> tuple[doc.Bars, ...]:
    """The probabilities of the most probable words."""
    if not _is_computed(ctx, probabilities):
        return ()
    row = FollowedRow.of(probabilities, ctx)
    order = sorted(range(len(row.labels)), key=row.computed.__getitem__, reverse=True)
    bars = tuple(doc.Bar(row.labels[i], row.printed(i)) for i in order[:MOST_WORDS])
    word = "word" if ctx.fills_in else "next word"
    title = f"Probabilities of the {word} {ctx.after} “{name_text(ctx.names[ctx.token])}”"
    return (doc.Bars(bars, doc.Figure(f"{ctx.trace.name}.next-word", title)),)


def _is_computed(ctx: LessonContext, value: Value) -> bool:
    """Whether a value has a row for the followed token that is computed."""
    return not isinstance(ctx.trace.producers[value].operation, Pinned) and ctx.follows(value)


def _with_share(row: FollowedRow, column: int) -> doc.Sentence:
    return (*row.name(column), " (", doc.Percent(row.printed(column)), ")")


# --- the token's vector --------------------------------------------------------------------------


def _changed(ctx: LessonContext) -> doc.Sentence | None:
    """How the token's vector changes from the input to the output."""
    ends = [ctx.trace.values.get(role.name) for role in (roles.INPUT, roles.OUTPUT)]
    before, after = ends
    if before is None or after is None or not ctx.layers:
        return None
    if not all(_is_computed(ctx, value) for value in (before, after)):
        return None
    nearest = _nearest(ctx, before, after)
    equal = _equal(ctx, before, after) if nearest else ()
    largest = _largest(ctx, before, after)
    between = (" ",) if nearest and largest else ()
    return (*equal, *nearest, *between, *largest)


def _equal(ctx: LessonContext, before: Value, after: Value) -> doc.Sentence:
    """Which other token has the same embedding, if one has, and how far apart the two are."""
    embedding = ctx.trace.values.get(roles.EMBEDDING.name)
    if embedding is None or len(embedding.numbers) != len(ctx.names):
        return ()
    own, tokens = embedding.numbers[ctx.token], ctx.trace.tokens
    alike = [i for i, row in enumerate(embedding.numbers) if (row == own).all() and i != ctx.token]
    if len(alike) != 1 or tokens[alike[0]] == tokens[ctx.token]:
        return ()
    if (before.numbers[alike[0]] == before.numbers[ctx.token]).all():
        return ()
    both: doc.Sentence = (ctx.name, " and ", doc.Name(ctx.names[alike[0]]))
    first, last = (rounded_like(v, _distances(ctx, v)[alike[0]], ctx) for v in (before, after))
    apart: doc.Sentence = ("Their distance is ", first, f" {AT_THE_INPUT} and ", last)
    equal = " are equal; their positions tell them apart. "
    return ("The embeddings of ", *both, equal, *apart, " at the output. ")


def _nearest(ctx: LessonContext, before: Value, after: Value) -> doc.Sentence:
    """Which other token's vector is nearest to the followed one's, at the input and the output."""
    first, last = _nearest_row(ctx, before), _nearest_row(ctx, after)
    if first is None or last is None:
        return ()
    starts: doc.Sentence = ("The vector of ", ctx.name, " is closest to that of ")
    was, now = doc.Name(ctx.names[first]), doc.Name(ctx.names[last])
    near = rounded_like(before, _distances(ctx, before)[first], ctx)
    end: doc.Sentence = (rounded_like(after, _distances(ctx, after)[last], ctx), ").")
    begins: doc.Sentence = (f" {AT_THE_INPUT} (Euclidean distance ", near, ") and ")
    if first == last:
        return (*starts, now, *begins, "at the output (", *end)
    return (*starts, was, *begins, "to that of ", now, " at the output (", *end)


def _nearest_row(ctx: LessonContext, value: Value) -> int | None:
    """The row at the smallest Euclidean distance; None if there are fewer than two, or a tie."""
    rows = value.array
    if len(rows) != len(ctx.names) or len(rows) < 3 or not np.isfinite(rows).all():
        return None
    distances = _distances(ctx, value)
    first, second = sorted((i for i in range(len(rows)) if i != ctx.token), key=distances.item)[:2]
    is_tie = np.isclose(distances[first], distances[second], rtol=1e-6)
    return None if is_tie else first


def _distances(ctx: LessonContext, value: Value) -> NDArray[np.float64]:
    """The Euclidean distance of each row from the followed token's."""
    rows = value.array
    return np.asarray(np.linalg.norm(rows - rows[ctx.token], axis=1))


def _largest(ctx: LessonContext, before: Value, after: Value) -> doc.Sentence:
    """Its largest feature at the input and at the output, where the author has named them."""
    was, now = FollowedRow.of(before, ctx), FollowedRow.of(after, ctx)
    first, last = was.ranked()[:1], now.ranked()[:1]
    if was.labels != now.labels or not (first and last) or not is_named(was.labels[first[0]]):
        return ()
    ends: doc.Sentence = (" (", now.printed(last[0]), ") at the output.")
    starts: doc.Sentence = ("The largest feature is ", *was.name(first[0]), " (")
    starts = (*starts, was.printed(first[0]), f") {AT_THE_INPUT} and ")
    return (*starts, *now.name(last[0]), *ends)
