"""The picture of a model in a width: the body, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.lesson.document import Heads, Name, Picture, Tower
from tracer.names import count
from tracer.renderers.picture.body import Body
from tracer.renderers.picture.boxes import TOWER, in_tower
from tracer.renderers.picture.drawing import Drawing, Stroke, Words
from tracer.renderers.picture.heads import MOST_STACKED
from tracer.renderers.rows import cells, short

UNLIMITED = 10_000

WAY, STEPS, ENTRANCE = 2, 3, 3
"""Columns from the body to the way around a sub-layer, from there to the steps; to the tower."""

LONGEST_TOKEN = 12


def laid_out(picture: Picture, width: int) -> Drawing:
    """The picture with as many heads beside each other as fit into `width` columns."""
    most = _most_heads(picture)
    # A few heads are all shown, below each other if need be; of many some are left out.
    fitting = min(most, width // len("head 1"))
    for beside in [*(range(fitting, 1, -1) if most > MOST_STACKED else [most]), 1]:
        body = Body(picture, beside, UNLIMITED)
        margins = _left(picture, body) + _right(body)
        if 2 * body.half + 1 + margins <= width:
            break
    else:
        # An odd width has a middle column.
        body = Body(picture, 1, (width - margins - 1) // 2 * 2 + 1)
    return _finished(picture, body, width)


def _finished(picture: Picture, body: Body, width: int) -> Drawing:
    """The body with its names, its ways around sub-layers, its steps, tokens and tower."""
    drawing, half = body.drawing, body.half
    left = -half - _left(picture, body)
    tokens = Words("tokens", (_on_a_line(picture.tokens, width + left + half),))
    drawing.words.append(tokens.moved(max(-half, -tokens.middle)))
    for row, name in [*body.names, *body.rules]:
        drawing.words += [Words("name", (name,), -half, row)] if name else []
    for row, name in body.rules:
        start = -half + cells(name) + 1 if name else -half
        drawing.strokes.append(Stroke((start, row), (half, row), "rule"))
    for way in body.ways:
        out = half + WAY
        corners = ((0, way.leaves), (out, way.leaves), (out, way.joins), (way.end + 2, way.joins))
        drawing.way(*corners, arrow=True)
    column = half + (WAY if body.ways else 0) + STEPS
    room = width - (column - left)
    drawing.words += [
        Words("steps", (_within(numbers, room),), column, row) for row, numbers in body.steps
    ]
    if picture.encoder:
        _tower(drawing, picture.encoder, body, left)
    return drawing


def _within(numbers: str, room: int) -> str:
    """The numbers of steps; what has no room on the narrowest screen is cut."""
    return numbers if cells(numbers) <= room else f"{numbers[: room - 1]}…"


def _most_heads(picture: Picture) -> int:
    parts = [part for layer in picture.layers for part in layer.parts]
    inside = [each for part in parts for each in part.inside]
    return max((len(each.heads) for each in inside if isinstance(each, Heads)), default=1)


def _right(body: Body) -> int:
    """How many columns stand at the right of the body."""
    widest = max(cells(numbers) for _, numbers in body.steps)
    return (WAY if body.ways else 0) + STEPS + widest - 1


def _left(picture: Picture, body: Body) -> int:
    """How many columns stand at its left: the encoder, and a way from there."""
    if picture.encoder is None:
        return 0
    tokens = map(cells, _below_each_other(picture.encoder, body))
    return max(in_tower(picture.encoder.box).width, *tokens) + ENTRANCE


def _tower(drawing: Drawing, encoder: Tower, body: Body, left: int) -> None:
    """The encoder beside the body: its tokens, its vectors, and their ways into the heads."""
    tokens, box = Words("tokens", _below_each_other(encoder, body)), in_tower(encoder.box)
    middle = left + (max(tokens.width, box.width) - 1) // 2
    top = body.tower - 2
    drawing.words += [
        tokens.around(middle, top - len(tokens.lines) + 1),
        box.around(middle, body.tower),
    ]
    drawing.way((middle, top + 1), (middle, body.tower))
    for column, row in body.entrances:
        drawing.way((middle, row), (column - 1, row), arrow=True)
    if body.entrances:
        drawing.way((middle, body.tower), (middle, body.entrances[-1][1]))


def _below_each_other(encoder: Tower, body: Body) -> tuple[str, ...]:
    """The encoder's tokens, the first on top; those that have no room are counted."""
    names = [short(token.text, TOWER) for token in encoder.tokens]
    rows = body.tower - 1
    left_out = len(names) - rows + 1
    return (*names[: rows - 1], f"… {left_out}") if left_out > 1 else tuple(names)


def _on_a_line(tokens: Sequence[Name], room: int) -> str:
    """The tokens beside each other; those that have no room are counted."""
    names = [short(token.text, LONGEST_TOKEN) for token in tokens]
    for shown in range(min(len(names), room // 3 + 1), 0, -1):
        left_out = len(names) - shown
        more = [f"… {left_out} more …"] if left_out else []
        line = "  ".join([*names[: shown - 1], *more, names[-1]])
        if cells(line) <= room:
            return line
    return count(len(tokens), "token")
