"""The followed token's numbers on their way, and the largest change of each sub-layer."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder import roles
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Pinned
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.texts.picture import NAMES
from tracer.lesson.texts.plane import paths
from tracer.lesson.wiring import sub_layer_results, summands
from tracer.names import distinct, name_text

MOST_STATIONS = 4
"""So many columns of numbers fit beside each other."""

MOST_FEATURES = 16
"""So many bars are compared at a glance."""

CHANGES: doc.Sentence = ("The largest change that each sub-layer adds, before any norm:",)


def before_and_after(ctx: LessonContext) -> tuple[doc.Block, ...]:
    """The followed token's numbers at the input and at the stations after it."""
    value = ctx.trace.values.get(roles.INPUT.name)
    if value is None or ctx.is_padding:
        return ()
    where, stations = _stations(ctx, value)
    labels = distinct(value.axes[1].labels)
    rows: list[tuple[str | doc.Cell, ...]] = [
        (labels[j], *(ctx.number(each, ctx.row(each), j) for each in (value, *stations.values())))
        for j in ctx.columns(value)
    ]
    before: doc.Sentence = ("The numbers of ", ctx.name, f" at the input and {where}:")
    table = doc.Table.of(("feature", "input", *stations), rows)
    if not stations:
        return ()
    return (doc.Paragraph(before), table, *_profile(ctx, value, stations))


def paths_of_tokens(ctx: LessonContext) -> tuple[doc.Block, ...]:
    """The path of each token through the stations; nothing of padding."""
    value = ctx.trace.values.get(roles.INPUT.name)
    if value is None or ctx.is_padding:
        return ()
    _, stations = _stations(ctx, value)
    return tuple(paths(ctx, {"input": value, **stations})) if stations else ()


def _profile(ctx: LessonContext, value: Value, stations: dict[str, Value]) -> list[doc.Block]:
    """The numbers at the input and at the last station as bars, if there are not too many."""
    labels = distinct(value.axes[1].labels)
    if not 1 < len(labels) <= MOST_FEATURES:
        return []
    last = list(stations)[-1]
    ends = {"input": value, last: stations[last]}
    groups = tuple(doc.Group((name,), _row(ctx, each)) for name, each in ends.items())
    if not all(number.value.is_finite() for group in groups for number in group.numbers):
        return []
    figure = doc.Figure(
        f"{ctx.trace.name}.profile", f"“{name_text(ctx.names[ctx.token])}” before and after"
    )
    return [doc.Groups(figure, labels, groups, alike=True)]


def _row(ctx: LessonContext, value: Value) -> tuple[Number, ...]:
    return tuple(ctx.number(value, ctx.row(value), j) for j in range(value.shape[1]))


def largest_changes(ctx: LessonContext) -> Iterator[doc.Block]:
    """The largest change that each sub-layer adds; nothing of padding."""
    if ctx.is_padding:
        return
    changes = [row for record in _sums(ctx) if (row := _most_changed(record, ctx))]
    if changes:
        yield doc.Paragraph(CHANGES)
        yield doc.Table.of(("sub-layer", "feature", "change"), changes)


def _stations(ctx: LessonContext, value: Value) -> tuple[str, dict[str, Value]]:
    """The vectors after each sub-layer, or each layer if these are too many, and the output.

    Only those with the features of the input; and in words where they stand.
    """
    left = [v for v in sub_layer_results(ctx.trace.records) if v.place.layer and _is_of_model(v)]
    by_layer = {f"after layer {v.place.layer}": v for v in left}
    by_sub_layer = {f"after {_sub_layer(v, ctx)}": v for v in left}
    output = ctx.trace[roles.OUTPUT.name]
    passed_on = ctx.trace.producers[output].inputs
    for where, stations in (("sub-layer", by_sub_layer), ("layer", by_layer)):
        if 0 < len(stations) < MOST_STATIONS and all(
            v.axes == value.axes for v in (*stations.values(), output)
        ):
            last = {} if left[-1] in passed_on else {"output": output}
            return f"after each {where}", stations | last
    return "at the output", {"output": output} if output.axes == value.axes else {}


def _is_of_model(value: Value) -> bool:
    return not value.place.encoder and value.place.example is None


def _sub_layer(value: Value, ctx: LessonContext) -> str:
    assert value.place.sub_layer
    layer = f"layer {value.place.layer}, " if ctx.layers > 1 else ""
    return layer + NAMES[value.place.sub_layer]


def _sums(ctx: LessonContext) -> Iterator[Record]:
    """The residual connections of the decoder."""
    for record in ctx.trace.records:
        is_sum = record.output.role is roles.RESIDUAL and isinstance(record.operation, Add)
        if is_sum and _is_of_model(record.output):
            yield record


def _most_changed(record: Record, ctx: LessonContext) -> tuple[str | doc.Cell, ...] | None:
    """The feature that a sub-layer changes most, and by how much; nothing for a tie."""
    _, change = summands(record)
    ranked = FollowedRow.of(change, ctx).sizes().ranked()
    if not ranked or isinstance(ctx.trace.producers[change].operation, Pinned):
        return None
    feature = FollowedRow.of(record.output, ctx).labels[ranked[0]]
    return (_sub_layer(change, ctx), feature, ctx.number(change, ctx.row(change), ranked[0]))
