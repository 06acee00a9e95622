"""The path of a word as a text: its rank after each sub-layer, as a table and as a curve."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder.roles import Place, SubLayer
from tracer.decoder.value import Value
from tracer.decoder.word_path import PathPoint, WordPath
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.sub_layers import SUB_LAYERS
from tracer.lesson.texts.picture import NAMES

LEAST_DRAWN = 4
"""The points of the shortest path that is drawn."""

RANK_IS: doc.Sentence = ("The rank of a word is 1 plus the number of words with a larger logit.",)


def path_section(ctx: LessonContext, path: WordPath) -> doc.Section:
    """A word at each point: its rank, logit and probability, and the most probable word."""
    rows = [
        (
            label(ctx, point.value.place),
            point.leader,
            *(Number.of(point.rank), printed(ctx, point.logit), printed(ctx, point.probability)),
        )
        for point in path.points
    ]
    left_out: doc.Sentence = (
        "The lens cannot read vectors of another width, so the table leaves out "
        f"{path.left_out} of {path.left_out + len(rows)} points.",
    )
    asked = ("The rank, the logit and the probability of ", doc.Name(path.word), f" {ctx.after} ")
    first = "before the first layer and " if path.points[0].value.place.layer is None else ""
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph((*asked, ctx.name, f", {first}after each sub-layer:")),
        doc.Table.of(("after", "prediction", "rank", "logit", "probability"), rows),
        doc.Paragraph(RANK_IS),
        *doc.paragraphs(left_out if path.left_out else None),
    )
    return doc.Section(None, "A word after each sub-layer", blocks)


def printed(ctx: LessonContext, value: Value) -> Number:
    """A single number as it is printed; its address is that of the whole row."""
    return Number(ctx.number(value).value)


def ends(ctx: LessonContext, path: WordPath) -> doc.Sentence:
    """Say how probable the word is in the end, and which word is more probable."""
    last = path.points[-1]
    share = doc.Percent(printed(ctx, last.probability))
    most = ("; the most probable word is ", doc.Name(last.leader)) if last.rank > 1 else ()
    return (
        *(*ctx.after_it, ", ", doc.Name(path.word), " ends with rank ", Number.of(last.rank)),
        *(" and a probability of ", share, *most, "."),
    )


def claims(ctx: LessonContext, path: WordPath) -> Iterator[doc.Sentence]:
    """Say where the word leads, and which sub-layer changes its rank most."""
    if ctx.is_padding:
        return
    yield _leads(ctx, path)
    if move := path.largest_move:
        before, after = move
        where = phrase(ctx, after.value.place)
        ranks = (Number.of(before.rank), " to ", Number.of(after.rank), ".")
        yield (f"The rank changes by the largest factor through {where}: from ", *ranks)


def _leads(ctx: LessonContext, path: WordPath) -> doc.Sentence:
    """Say from which point on no word has a larger logit."""
    word, points = doc.Name(path.word), path.points
    first, kept = path.first_lead, path.lead_kept
    if first is None:
        best = min(points, key=lambda point: point.rank)
        rank: doc.Sentence = (" never has rank 1. Its best rank is ", Number.of(best.rank))
        return (word, *rank, f", first reached {_when(ctx, best)}.")
    if kept is points[0]:
        start = "" if first.value.place.layer else "before the first layer and "
        return (word, f" has rank 1 {start}after each sub-layer.")
    begins = f" first has rank 1 {_when(ctx, first)}"
    if kept is None:
        return (word, f"{begins}, but not at the end.")
    if kept is not first:
        return (word, f"{begins}, and has it again, to keep it, {_when(ctx, kept)}.")
    if kept is points[-1]:
        return (word, f" has rank 1 only at the end, {_when(ctx, kept)}.")
    return (word, f"{begins}, and keeps it.")


def _when(ctx: LessonContext, point: PathPoint) -> str:
    """`before layer 1`, `after attention in layer 3`."""
    layer = point.value.place.layer
    return f"after {phrase(ctx, point.value.place)}" if layer else "before the first layer"


def curve(ctx: LessonContext, path: WordPath) -> tuple[doc.Block, ...]:
    """The ranks as a curve, if they change and begin before the first layer."""
    ranks = path.ranks
    is_drawn = len(ranks) >= LEAST_DRAWN and len(set(ranks)) > 1
    if not is_drawn or path.left_out or path.points[0].value.place.layer:
        return ()
    figure = doc.Figure(f"{ctx.trace.name}.rank", "The rank of the word after each sub-layer")
    return (doc.Curve("rank", tuple(map(Number.of, ranks)), figure, "sub-layer", of_ranks=True),)


def label(ctx: LessonContext, place: Place) -> str:
    """`layer 3, FFN`; `layer 3` for a joint layer; `input` before all layers."""
    if place.layer is None:
        return "input"
    sub_layer = sub_layer_at(ctx, place)
    return f"layer {place.layer}, {NAMES[sub_layer]}" if sub_layer else f"layer {place.layer}"


def phrase(ctx: LessonContext, place: Place) -> str:
    """The same inside a sentence: `the FFN in layer 3`."""
    sub_layer = sub_layer_at(ctx, place)
    layer = f"layer {place.layer}"
    return f"{SUB_LAYERS[sub_layer]} in {layer}" if sub_layer else layer


def sub_layer_at(ctx: LessonContext, place: Place) -> SubLayer | None:
    """The sub-layer before a point, if there is one; None in a joint layer."""
    is_joint = place.layer and ctx.tower.layers[place.layer - 1].is_joint
    return None if is_joint else place.sub_layer
