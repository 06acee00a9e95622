"""The paths of the tokens through a pass, in the plane of two features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import MatMul
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.illustrations import MOST_COLUMNS, MOST_TOKENS, point
from tracer.names import distinct, name_text
from tracer.node import found

MOST_REGIONS = 8
"""So many words have regions that can be distinguished."""

MARGIN, LEAST_AREA = 0.25, 1e-3
"""How far regions go beyond the points, of the extent of these; the least part that is seen."""

Column: TypeAlias = tuple[float, float, float]
"""The weights of two features for a word, and its bias."""


def paths(ctx: LessonContext, stations: Mapping[str, Value]) -> Iterator[doc.Plane]:
    """Each token at the stations, by the two features that change most for the followed one.

    The first station is the input; all have the same features.
    """
    first, *_, last = stations.values()
    if last.shape[0] > MOST_TOKENS or not 2 <= last.shape[1] <= MOST_COLUMNS:
        return
    columns = _most_changed(ctx, first, last)
    if not columns:
        return
    trails = [
        doc.Trail(name, tuple(point(ctx, v, i, columns, where) for where, v in stations.items()))
        for i, name in enumerate(ctx.names)
    ]
    if not all(number.value.is_finite() for number in found(tuple(trails), Number)):
        return
    followed = trails.pop(ctx.token)
    labels = distinct(last.axes[1].labels)
    across, upward = ((labels[j],) for j in columns)
    few = f"2 of {len(labels)} features; no other changes more for {name_text(followed.name)}"
    regions = _regions(ctx, (followed, *trails)) if len(labels) == 2 else ()
    figure = doc.Figure(f"{ctx.trace.name}.plane", "The paths of the tokens, from the input (dot)")
    note = few if len(labels) > 2 else ""
    yield doc.Plane(figure, followed, tuple(trails), (across, upward), note, regions)


def _most_changed(ctx: LessonContext, first: Value, last: Value) -> list[int]:
    """The two features of the followed token that change most, in their order; none for none."""
    ends = [np.asarray(value.read_computed(ctx.row(value)), float) for value in (first, last)]
    if not np.isfinite(ends).all():
        return []
    changes = abs(ends[1] - ends[0])
    order = np.argsort(-changes, kind="stable")
    return sorted(int(j) for j in order[:2]) if changes.any() else []


# --- regions -------------------------------------------------------------------------------------


def _regions(ctx: LessonContext, trails: Sequence[doc.Trail]) -> tuple[doc.Region, ...]:
    """The region of each word that would be predicted after an output in the plane.

    What follows the product with W_U, a division and a soft cap, keeps the order of the logits.
    """
    output = ctx.trace[roles.OUTPUT.name]
    product = next((r for r in ctx.trace.records if _maps_to_words(r, output)), None)
    if product is None or product.output.shape[1] > MOST_REGIONS:
        return ()
    _, weights, *added = (value.array for value in product.inputs)
    bias = added[0] if added else np.zeros(weights.shape[1])
    columns = np.vstack([weights, bias]).T.tolist()
    words: dict[Column, str] = {}
    for word, (a, b, c) in zip(distinct(product.output.axes[1].labels), columns, strict=True):
        words.setdefault((a, b, c), word)  # of equal logits, the first is predicted
    frame = _frame(trails)
    regions = ((word, _region(column, words, frame)) for column, word in words.items())
    least = LEAST_AREA * _area(frame)
    return tuple(doc.Region(word, corners) for word, corners in regions if _area(corners) > least)


def _maps_to_words(record: Record, output: Value) -> bool:
    of_words = record.output.role in roles.OF_WORDS
    return of_words and isinstance(record.operation, MatMul) and record.inputs[0] is output


def _frame(trails: Sequence[doc.Trail]) -> doc.Samples:
    """The corners of a rectangle around the origin and all points."""
    points = [*found(tuple(trails), doc.Point)]
    sides = []
    for along in ([float(p.x.value) for p in points], [float(p.y.value) for p in points]):
        low, high = min(0.0, *along), max(0.0, *along)
        sides.append((low - MARGIN * (high - low), high + MARGIN * (high - low)))
    (left, right), (bottom, top) = sides
    return (left, bottom), (right, bottom), (right, top), (left, top)


def _region(own: Column, columns: Iterable[Column], corners: doc.Samples) -> doc.Samples:
    """The part of a convex polygon in which no other column has a larger logit."""
    for other in columns:
        a, b, c = (mine - its for mine, its in zip(own, other, strict=True))
        heights = [a * x + b * y + c for x, y in corners]
        corners = _above_zero(corners, heights)
    return corners


def _above_zero(corners: doc.Samples, heights: Sequence[float]) -> doc.Samples:
    """The part of a convex polygon whose height is not negative (Sutherland and Hodgman 1974)."""
    kept = []
    for i, ((x, y), height) in enumerate(zip(corners, heights, strict=True)):
        (left, low), before = corners[i - 1], heights[i - 1]
        if min(before, height) < 0 < max(before, height):
            share = before / (before - height)
            kept.append((left + share * (x - left), low + share * (y - low)))
        if height >= 0:
            kept.append((x, y))
    return tuple(kept)


def _area(corners: doc.Samples) -> float:
    """The area of a polygon whose corners are listed counterclockwise."""
    sides = ((corners[i - 1], corner) for i, corner in enumerate(corners))
    return sum(a * d - b * c for (a, b), (c, d) in sides) / 2
