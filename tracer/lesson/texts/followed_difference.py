"""What differs between two passes at the followed token: its rows, and what its heads attend to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import TOLERANCE, Comparison, gap
from tracer.decoder.lens_of_rows import layer_ends, residual_points
from tracer.decoder.value import Value
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.entries import number
from tracer.lesson.steps.gradient_claims import two_digits
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.texts.word_path import label, phrase
from tracer.names import distinct


def followed_difference(comparison: Comparison) -> Iterator[doc.Section]:
    """The largest difference in the token's row after each sub-layer, and the head that moves most.

    Of a trained model, after each layer. Nothing if its row is the same in both passes.
    """
    first = comparison.first
    row = comparison.followed[0] % len(first.tokens)
    ctx = LessonContext(first, row, symbols(first.records))
    rows = [(value, _of_row(comparison, value)) for value in _points(comparison)]
    found = [(value, off) for value, off in rows if off is not None and np.isfinite(off)]
    since = next((value for value, off in found if off), None)
    if since is None:
        return
    bars = [doc.Bar(label(ctx, value.place), two_digits(off)) for value, off in found]
    names = (distinct(run.tokens) for run in (first, comparison.second))
    token = _in_both(*(each[at] for each, at in zip(names, comparison.followed, strict=True)))
    said: doc.Sentence = ("The largest difference in the row of ", *token, " at each point:")
    figure = doc.Figure(f"{first.name}.differences", "The differences of the token's row")
    begins = "The row differs from the input on."
    if since.place.layer:
        begins = f"The row first differs after {phrase(ctx, since.place)}."
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph(said),
        *([doc.Bars(tuple(bars), figure)] if len(bars) > 1 else []),
        doc.Paragraph((begins, *_moved_most(comparison, ctx))),
    )
    yield doc.Section(None, "At the followed token", blocks)


def _points(comparison: Comparison) -> list[Value]:
    """The rows between the sub-layers; of a trained model, those between the layers."""
    first = comparison.first
    if not first.scenario.on_demand:
        return residual_points(first)
    return [first[roles.INPUT.name], *layer_ends(first)]


def _row(value: Value, token: int, tokens: int) -> int | None:
    """The row of a token in a value, if it has one."""
    at = token % tokens
    return value.row(at, tokens) if value.has_row(at, tokens) else None


def _of_row(comparison: Comparison, value: Value) -> float | None:
    """The largest difference in the token's row; None if the rows cannot be compared."""
    rows = _rows(comparison, value)
    if rows is None or rows[0].shape != rows[1].shape or not rows[0].size:
        return None
    found = gap(*rows)
    return found.largest if found.relative > TOLERANCE else 0.0


def _rows(
    comparison: Comparison, value: Value
) -> tuple[np.typing.NDArray[np.float64], np.typing.NDArray[np.float64]] | None:
    """The followed token's row in both passes, if both have it."""
    other = comparison.second.values.get(value.address)
    if other is None or len(other.axes) != 2 or len(value.axes) != 2:
        return None
    runs = (comparison.first, comparison.second)
    found = []
    for run, of, token in zip(runs, (value, other), comparison.followed, strict=True):
        at = _row(of, token, len(run.tokens))
        if at is None:
            return None
        found.append(np.asarray(of.read((at,)), np.float64))
    return found[0], found[1]


def _moved_most(comparison: Comparison, ctx: LessonContext) -> doc.Sentence:
    """Say which head's attention to a token changes most, if one does."""
    found = []
    for value in comparison.first.values.values():
        if value.role is roles.WEIGHTS and not value.place.encoder and value.place.layer:
            found += list(_changes(comparison, value))
    found.sort(key=lambda each: -each[0])
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return ()
    _, value, (own, other) = found[0]
    second = comparison.second[value.address]
    rows = [
        of.row(token % len(run.tokens), len(run.tokens))
        for of, run, token in zip(
            (value, second), (comparison.first, comparison.second), comparison.followed, strict=True
        )
    ]
    before = number(comparison.first.pencil, value, (rows[0], own))
    after = number(comparison.second.pencil, second, (rows[1], other))
    if before.value == after.value:
        return ()
    token = _in_both(distinct(value.axes[1].labels)[own], distinct(second.axes[1].labels)[other])
    crosses = " of cross-attention" * (value.place.sub_layer == "cross_attention")
    head = f"head {value.place.head}{crosses} in layer {value.place.layer}"
    shares = (doc.Percent(before), " in the first run and ", doc.Percent(after), " in the second.")
    return (f" Its attention changes most in {head}: ", *token, " gets ", *shares)


def _in_both(own: str, other: str) -> doc.Sentence:
    """A token, and the other token at its place in the second run."""
    if own == other:
        return (doc.Name(own),)
    return (doc.Name(own), " (", doc.Name(other), " in the second run)")


def _changes(
    comparison: Comparison, value: Value
) -> Iterator[tuple[float, Value, tuple[int, int]]]:
    """How much the token's weight of each compared token changes in a head."""
    rows = _rows(comparison, value)
    crosses = value.place.sub_layer == "cross_attention"
    keys = comparison.encoder_tokens if crosses else comparison.tokens
    if rows is None or keys is None:
        return
    widths: Sequence[int] = (len(keys.first), len(keys.second))
    if [len(row) for row in rows] != list(widths):
        return
    for own, other in keys.pairs:
        change = abs(rows[0][own] - rows[1][other])
        if change > TOLERANCE:
            yield float(change), value, (own, other)
