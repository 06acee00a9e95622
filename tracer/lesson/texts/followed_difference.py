"""What differs between two passes at the followed token: its rows, and what its heads attend to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import TOLERANCE, Alignment, Comparison, Floats, gap
from tracer.decoder.forward import Trace
from tracer.decoder.lens_of_rows import layer_ends, residual_points
from tracer.decoder.roles import Place
from tracer.decoder.value import Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.entries import number
from tracer.lesson.steps.gradient_claims import two_digits
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.texts.word_path import label, phrase
from tracer.names import distinct


@dataclass(frozen=True)
class _Rows:
    """A value in both passes, the followed token's row in each, and its numbers there."""

    values: tuple[Value, Value]
    rows: tuple[int, int]

    @property
    def numbers(self) -> tuple[Floats, Floats]:
        own, other = (
            np.asarray(value.read((row,)), np.float64)
            for value, row in zip(self.values, self.rows, strict=True)
        )
        return own, other

    @property
    def difference(self) -> float | None:
        """The largest difference of two numbers; None for rows of another width."""
        own, other = self.numbers
        if own.shape != other.shape or not own.size:
            return None
        found = gap(own, other)
        return found.largest if found.relative > TOLERANCE else 0.0


def followed_difference(comparison: Comparison) -> Iterator[doc.Section]:
    """The largest difference in the token's row after each sub-layer, and the head that moves most.

    Of a trained model, after each layer. Nothing if its row is the same in both passes.
    """
    first, second = comparison.first, comparison.second
    own, other = comparison.followed
    ctx = LessonContext(first, own % len(first.tokens), symbols(first.records))
    points = [(value, _rows(comparison, value)) for value in _points(first)]
    found = [
        (value, off)
        for value, rows in points
        if rows and (off := rows.difference) is not None and np.isfinite(off)
    ]
    since = next((value.place for value, off in found if off), None)
    if since is None:
        return
    token = _in_both(distinct(first.tokens)[own], distinct(second.tokens)[other])
    bars = tuple(doc.Bar(_label(ctx, value.place), two_digits(off)) for value, off in found)
    figure = doc.Figure(f"{first.name}.differences", "The differences of the token's row")
    begins = f"The row differs from {_label(ctx, since) if since.layer else 'the input'} on."
    if since.layer and not first.scenario.on_demand:
        begins = f"The row first differs after {phrase(ctx, since)}."
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph(("The largest difference in the row of ", *token, " at each point:")),
        *([doc.Bars(bars, figure)] if len(bars) > 1 else []),
        doc.Paragraph((begins, *_moved_most(comparison))),
    )
    yield doc.Section(None, "At the followed token", blocks)


def _label(ctx: LessonContext, place: Place) -> str:
    """`layer 3, FFN`; of a trained model, whose sub-layers are not compared, `layer 3`."""
    if place.layer and ctx.trace.scenario.on_demand:
        return f"layer {place.layer}"
    return label(ctx, place)


def _points(first: Trace) -> list[Value]:
    """The vectors between the sub-layers; of a trained model, those between the layers."""
    if not first.scenario.on_demand:
        return residual_points(first)
    return [first[roles.INPUT.name], *layer_ends(first)]


def _rows(comparison: Comparison, value: Value) -> _Rows | None:
    """The followed token's row of a matrix, if both passes have it."""
    other = comparison.second.values.get(value.address)
    if other is None or len(other.axes) != 2 or len(value.axes) != 2:
        return None
    n, m = len(comparison.first.tokens), len(comparison.second.tokens)
    i, j = comparison.followed[0] % n, comparison.followed[1] % m
    if not (value.has_row(i, n) and other.has_row(j, m)):
        return None
    return _Rows((value, other), (value.row(i, n), other.row(j, m)))


def _moved_most(comparison: Comparison) -> doc.Sentence:
    """Say which head's attention to a token changes most, if one does."""
    changes = []
    for value in comparison.first.values.values():
        is_of_decoder = value.place.layer and not value.place.encoder
        if value.role is roles.WEIGHTS and is_of_decoder and (rows := _rows(comparison, value)):
            keys = comparison.encoder_tokens if _crosses(value) else comparison.tokens
            changes += [(size, rows, pair) for size, pair in _changes(rows, keys)]
    changes.sort(key=lambda each: -each[0])
    if not changes or (len(changes) > 1 and changes[0][0] == changes[1][0]):
        return ()
    _, rows, keys_at = changes[0]
    runs = (comparison.first, comparison.second)
    before, after = (
        number(run.pencil, value, (row, key))
        for run, value, row, key in zip(runs, rows.values, rows.rows, keys_at, strict=True)
    )
    if before.value == after.value:
        return ()
    labels = (
        distinct(value.axes[1].labels)[key] for value, key in zip(rows.values, keys_at, strict=True)
    )
    value = rows.values[0]
    crosses = "cross-attention " * _crosses(value)
    head = f"{crosses}head {value.place.head} of layer {value.place.layer}"
    shares = (doc.Percent(before), " in the first run and ", doc.Percent(after), " in the second.")
    token = _in_both(*labels)
    return (f" Its attention changes most in {head}: ", *token, " gets ", *shares)


def _crosses(value: Value) -> bool:
    return value.place.sub_layer == "cross_attention"


def _in_both(own: str, other: str) -> doc.Sentence:
    """A token, and the other token at its place in the second run."""
    if own == other:
        return (doc.Name(own),)
    return (doc.Name(own), " (", doc.Name(other), " in the second run)")


def _changes(rows: _Rows, keys: Alignment | None) -> Iterator[tuple[float, tuple[int, int]]]:
    """How much the weight of each compared token changes, and its columns."""
    own, other = rows.numbers
    if keys is None or (len(own), len(other)) != (len(keys.first), len(keys.second)):
        return
    for pair in keys.pairs:
        change = abs(own[pair[0]] - other[pair[1]])
        if change > TOLERANCE:
            yield float(change), pair
