"""What positions look like: waves, a heat map, and the dot product of two by their distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import Interleave
from tracer.decoder.roles import WaveRoles
from tracer.decoder.value import Value
from tracer.formula.expression import MatrixProduct, Number, Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.illustrations import (
    MOST_COLUMNS,
    MOST_TOKENS,
    SAMPLES,
    Found,
    figure,
    rounded_like,
    rows_of,
)
from tracer.lesson.steps.kind import Step
from tracer.names import distinct
from tracer.node import found

MOST_PAIRS = 4
"""The waves of so many pairs of columns can be distinguished at a glance."""


def positions(step: Step, ctx: LessonContext) -> Iterator[doc.Block]:
    """The waves, the vectors as a heat map, and the dot products by distance."""
    yield from _waves(step, ctx, roles.ADDED_WAVES)
    value = step.last.output
    is_small = 1 < value.shape[0] <= MOST_TOKENS and value.shape[1] <= MOST_COLUMNS
    if value.role is roles.POSITION and is_small:
        yield from _heat_map(step, ctx, value)
        yield from _dot_products(step, ctx, value)


def _heat_map(step: Step, ctx: LessonContext, value: Value) -> Found:
    cells = rows_of(ctx, value)
    numbers = list(found(cells, Number))
    if not all(number.value.is_finite() for number in numbers):
        return
    title, axes = "Position vectors", ("tokens", "features")
    scale = max(numbers, key=lambda number: abs(number.value))
    own = replace(figure(step, ctx, value, "heat", title), axes=axes, scale=scale)
    rows, columns = (distinct(axis.labels) for axis in value.axes)
    yield doc.HeatMaps(own, rows, columns, (doc.Multiple((), cells),), ctx.row(value))


ONLY_THEIR_DISTANCE = (
    "Without rounding, the dot product of two position vectors depends only on their distance. "
)


DOT_PRODUCT = MatrixProduct(Symbol("P", "i"), Symbol("P", "j"))


def _dot_products(step: Step, ctx: LessonContext, value: Value) -> Iterator[doc.Block]:
    """The dot product of two position vectors at each distance from the followed one.

    Only where each pair of columns has sine and cosine of one angle: for positions i and j and the
    frequencies ω, the dot product is then the sum of cos(ω (i − j)). It is computed so, because
    rounded vectors do not have these products.
    """
    in_pairs = isinstance(step.last.operation, Interleave) and not value.shape[1] % 2
    if not in_pairs or step.is_partly_given:
        return
    here, last = ctx.row(value), value.shape[0] - 1
    distances = range(max(here, last - here) + 1)
    [frequencies] = (r.output for r in step.records if r.output.role is roles.ADDED_WAVES.div_term)
    exact = frequencies.computed.astype(np.float64)
    products = (np.cos(exact * far).sum() for far in distances)
    numbers = tuple(rounded_like(value, product, ctx) for product in products)
    yield doc.Paragraph((ONLY_THEIR_DISTANCE, "Counted from ", ctx.name, ", it is:"))
    rows = zip(map(str, distances), numbers, strict=True)
    yield doc.Table.of(("distance", "dot product"), rows)
    own = figure(
        step, ctx, value, "distance", "The dot product of two position vectors by distance"
    )
    labels = tuple(f"distance {distance}" for distance in distances)
    yield doc.Groups(own, labels, (doc.Group((DOT_PRODUCT,), numbers),))


def waves_of(of: WaveRoles) -> Callable[[Step, LessonContext], Found]:
    """Return what draws the sine of each pair of columns over the positions."""
    return lambda step, ctx: _waves(step, ctx, of)


def _waves(step: Step, ctx: LessonContext, of: WaveRoles) -> Found:
    """The sine of each pair of columns over the positions; of many pairs, the first."""
    values = {record.output.role: record.output for record in step.records}
    if of.div_term not in values or step.is_partly_given:
        return
    index, sines, frequencies = (values[r] for r in (of.index, of.sin, of.div_term))
    count = sines.shape[0]
    if not 1 < count <= MOST_TOKENS:
        return
    first, last = float(index.read((0,))), float(index.read((count - 1,)))
    across = np.linspace(first, last, SAMPLES)
    names = distinct(sines.axes[0].labels)
    panels = []
    for j in range(min(sines.shape[1], MOST_PAIRS)):
        curve = np.sin(across * float(frequencies.read((j,))))
        points = tuple(
            doc.Point(names[i], ctx.number(index, i), ctx.number(sines, i, j)) for i in range(count)
        )
        function = tuple(zip(map(float, across), map(float, curve), strict=True))
        panels.append(doc.Panel((f"{frequencies.axes[0].labels[j]}",), function, points))
    few = f", the first {MOST_PAIRS} of {sines.shape[1]} pairs" * (sines.shape[1] > MOST_PAIRS)
    title = f"Position waves: the sine of each pair of columns{few}"
    own = figure(step, ctx, step.last.output, "waves", title)
    yield doc.Graph(own, tuple(panels), (Symbol("pos"),))
