"""What a step's numbers look like: attention as arcs, a softmax as bars, functions as curves.

Only where a reader can see something: not of a single token, nor of many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import roles
from tracer.decoder.elementwise import Activate, DivideByRowSum, Exp
from tracer.decoder.operations import Dot
from tracer.decoder.value import Value
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.arithmetic import FLOATS
from tracer.formula.expression import Number
from tracer.formula.numbers import as_decimal
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention_claims import hidden_tokens
from tracer.lesson.steps.kind import Step
from tracer.names import distinct, name_text
from tracer.node import found

Found: TypeAlias = Iterator[doc.Drawing]

MOST_TOKENS, MOST_COLUMNS, MOST_HEADS, MOST_WORDS = 12, 16, 16, 8
"""So many tokens, columns, heads and words can be distinguished at a glance."""

LARGEST_UNIT = 100
"""Around larger numbers, all activation functions look alike."""

SAMPLES = 60
"""Points of a function's curve."""


def figure(step: Step, ctx: LessonContext, value: Value, name: str, title: str) -> doc.Figure:
    """Return the figure of a value, with its layer and head in its title."""
    place = step.place
    where = [
        f"layer {place.layer}" if place.layer and ctx.layers > 1 else "",
        "cross-attention" if place.sub_layer == "cross_attention" else "",
        f"head {place.head}" if place.head and ctx.heads_of(place) > 1 else "",
        place.network.name if place.network else "",
        "encoder" if place.encoder else "",
    ]
    whole = ", ".join([title, *filter(None, where)])
    return doc.Figure(f"{ctx.trace.name}.{value.address}.{name}", whole)


def followed(ctx: LessonContext) -> str:
    """Return the followed token between quotes."""
    return f"“{name_text(ctx.names[ctx.token])}”"


# --- attention -----------------------------------------------------------------------------------


def softmax(step: Step, ctx: LessonContext) -> Found:
    """The followed token's scores, exponentials and weights as bars; all weights as arcs."""
    yield from softmax_bars(step, ctx)
    yield from weight_arcs(step, ctx)


def weight_arcs(step: Step, ctx: LessonContext) -> Found:
    """The attention weights as arcs."""
    weights = step.last.output
    rows, columns = (distinct(axis.labels) for axis in weights.axes)
    if not 1 < len(columns) <= MOST_TOKENS or len(rows) > MOST_TOKENS:
        return
    shown = rows_of(ctx, weights)
    if any(number.value.is_nan() for row in shown for number in row):
        return
    title = "Attention weights" + " without the mask" * (weights.role is roles.UNMASKED_WEIGHTS)
    crosses = step.place.sub_layer == "cross_attention"
    own = figure(step, ctx, weights, "arcs", title)
    yield doc.Arcs(own, rows, columns, shown, ctx.row(weights), crosses)


def heads(step: Step, ctx: LessonContext) -> Found:
    """The attention weights of all heads of an attention, if they are several."""
    places = (replace(step.place, head=n) for n in range(1, ctx.heads_of(step.place) + 1))
    weights = [value for place in places if (value := ctx.value(place, roles.WEIGHTS))]
    if not 1 < len(weights) <= MOST_HEADS or not 1 < weights[0].shape[1] <= MOST_TOKENS:
        return
    maps = tuple(
        doc.Multiple((f"head {value.place.head}",), rows_of(ctx, value)) for value in weights
    )
    if not all(number.value.is_finite() for number in found(maps, Number)):
        return
    rows, columns = (distinct(axis.labels) for axis in weights[0].axes)
    title = f"Attention weights of {len(weights)} heads"
    own = figure(step, ctx, step.last.output, "heads", title)
    yield doc.HeatMaps(own, rows, columns, maps, ctx.row(weights[0]))


def softmax_bars(step: Step, ctx: LessonContext) -> Found:
    """The followed token's row before the softmax, its exponentials and its shares."""
    exps = next((r.output for r in step.records if isinstance(r.operation, Exp)), None)
    divided = (r.output for r in step.records if isinstance(r.operation, DivideByRowSum))
    shares = next(divided, None)
    if exps is None or shares is None or not 1 < shares.shape[1] <= MOST_TOKENS:
        return
    scores = step.records[0].inputs[0]
    groups = tuple(
        doc.Group((ctx.symbols[value.address],), _row(ctx, value, ctx.row(value)))
        for value in (scores, exps, shares)
    )
    if not all(_is_drawn(number) for group in groups for number in group.numbers):
        return
    own = figure(step, ctx, shares, "softmax", f"From scores to weights: {followed(ctx)}")
    yield doc.Groups(own, distinct(shares.axes[1].labels), groups)


def _row(ctx: LessonContext, value: Value, row: int) -> tuple[Number, ...]:
    return tuple(ctx.number(value, row, j) for j in range(value.shape[1]))


def rows_of(ctx: LessonContext, value: Value) -> tuple[tuple[Number, ...], ...]:
    """Return the numbers of a matrix as they are printed."""
    return tuple(_row(ctx, value, i) for i in range(value.shape[0]))


def _is_drawn(number: Number) -> bool:
    """Return whether a number has a place in a picture; -∞ has none, and no bar."""
    return number.value.is_finite() or number.value == -Decimal("Infinity")


def query_and_keys(step: Step, ctx: LessonContext) -> Found:
    """The followed token's query and all keys in the plane of two columns.

    Of more columns, those that contribute most to its largest score.
    """
    products = next((r for r in step.records if isinstance(r.operation, Dot)), None)
    if products is None:
        return
    query, keys = products.inputs
    if not 2 <= query.shape[1] <= MOST_COLUMNS or not 1 < keys.shape[0] <= MOST_TOKENS:
        return
    names = distinct(keys.axes[0].labels)
    chosen, note = _two_columns(ctx, step, query, keys)
    own = doc.Trail("query", (point(ctx, query, ctx.row(query), chosen),))
    others = tuple(doc.Trail(n, (point(ctx, keys, i, chosen),)) for i, n in enumerate(names))
    title = f"The query of {followed(ctx)} and the keys"
    labels = distinct(query.axes[1].labels), distinct(keys.axes[1].labels)
    across, upward = (tuple(dict.fromkeys((labels[0][j], labels[1][j]))) for j in chosen)
    if all(number.value.is_finite() for number in found((own, others), Number)):
        drawn = figure(step, ctx, step.last.output, "arrows", title)
        yield doc.Plane(drawn, own, others, (across, upward), note)


def _two_columns(
    ctx: LessonContext, step: Step, query: Value, keys: Value
) -> tuple[Sequence[int], str]:
    """Return the two columns to show; of more, those that add most to the largest score seen."""
    width = query.shape[1]
    if width == 2:
        return (0, 1), ""
    scores = step.last.output.read((ctx.row(step.last.output),))
    seen = set(range(len(scores))) - set(hidden_tokens(step, ctx)) or set(range(len(scores)))
    best = max(sorted(seen), key=scores.__getitem__)
    q, k = query.read((ctx.row(query),)), keys.read((best,))
    chosen = sorted(sorted(range(width), key=lambda j: -(q[j] * k[j]))[:2])
    name = distinct(keys.axes[0].labels)[best]
    return chosen, f"2 of {width} columns: those that add most to the score for {name_text(name)}"


def point(
    ctx: LessonContext, value: Value, row: int, columns: Sequence[int], name: str = ""
) -> doc.Point:
    """Return the point of a row in the plane of two columns."""
    x, y = (ctx.number(value, row, j) for j in columns)
    return doc.Point(name, x, y)


# --- activation ----------------------------------------------------------------------------------


def activation(step: Step, ctx: LessonContext) -> Found:
    """The function's curve, with the followed token's units on it."""
    record = step.last
    if not isinstance(record.operation, Activate) or not ctx.follows(record.output):
        return
    before, after = record.inputs[0], record.output
    if after.shape[1] > MOST_COLUMNS:
        return
    numbers = zip(
        distinct(after.axes[1].labels),
        *(_row(ctx, value, ctx.row(value)) for value in (before, after)),
        strict=True,
    )
    points = tuple(doc.Point(*each) for each in numbers)
    if not all(abs(point.x.value) <= LARGEST_UNIT for point in points):
        return
    xs = [float(point.x.value) for point in points]
    low, high = floor(min(-3, *xs)), ceil(max(3, *xs))
    x = np.array(sorted({*np.linspace(low, high, SAMPLES).tolist(), 0.0}))
    y = record.operation.formula.compute([x], FLOATS, lambda part: part)
    function = tuple(zip(map(float, x), map(float, y), strict=True))
    symbols = ctx.symbols[before.address], ctx.symbols[after.address]
    panel = doc.Panel((symbols[1],), function, points)
    name = ACTIVATIONS[record.operation.function].title
    title = f"{name}, with the hidden units of {followed(ctx)}"
    own = figure(step, ctx, after, "curve", title)
    yield doc.Graph(own, (panel,), (symbols[0],))


# --- words ---------------------------------------------------------------------------------------


def next_words(step: Step, ctx: LessonContext) -> Found:
    """The most probable words after the followed token, and the rest as one bar."""
    probabilities = step.last.inputs[0]
    words = probabilities.shape[1]
    if words < 2 or not ctx.follows(probabilities):
        return
    row = ctx.row(probabilities)
    computed = np.asarray(probabilities.read((row,)))
    order = np.argsort(-computed, kind="stable")
    shown = [int(j) for j in (order if words <= MOST_WORDS + 1 else order[:MOST_WORDS])]
    labels = distinct(probabilities.axes[1].labels)
    names = [labels[j] for j in shown]
    numbers = [ctx.number(probabilities, row, j) for j in shown]
    if not all(number.value.is_finite() for number in numbers):
        return
    if rest := words - len(shown):
        names.append(f"{rest} other words")
        numbers.append(_total(ctx, probabilities, computed[order[len(shown) :]]))
    title = f"The {'' if ctx.fills_in else 'next '}word {ctx.after} {followed(ctx)}"
    own = doc.Figure(f"{ctx.trace.name}.{probabilities.address}.words", title)
    group = doc.Group((ctx.symbols[probabilities.address],), tuple(numbers))
    yield doc.Groups(own, tuple(names), (group,))


def _total(ctx: LessonContext, value: Value, numbers: NDArray[Any]) -> Number:
    """Return the sum of some entries, with as many decimals as an entry of its size has."""
    return rounded_like(value, numbers.sum(), ctx)


def rounded_like(value: Value, number: Any, ctx: LessonContext) -> Number:
    """Return a number with as many decimals as an entry of its size has."""
    exact, pencil = as_decimal(number), ctx.trace.pencil
    return Number(pencil.printed(exact, pencil.places(value.role, value.base_address, exact)))
