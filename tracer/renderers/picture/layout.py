"""The layout of a picture in a width: towers and their side texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracer.lesson.document import Heads, Name, Picture, TowerPicture
from tracer.names import count
from tracer.node import found
from tracer.renderers.picture.body import WAY, Body
from tracer.renderers.picture.drawing import Cell, Drawing, Stroke, Words
from tracer.renderers.picture.stack import MOST_STACKED
from tracer.renderers.rows import cells, shortened

UNLIMITED = 10_000

STEPS, ENTRANCE = 3, 3
"""Columns from the way around a sub-layer to the steps; between towers."""

LONGEST_TOKEN = 12


def laid_out(picture: Picture, width: int) -> Drawing:
    """The picture with as many heads beside each other as fit `width` columns.

    The encoder is drawn at the left of the decoder, or below it where both do not fit.
    """
    decoder, encoder = picture.decoder, picture.encoder
    if encoder is None:
        return _finished(decoder, _fitted(decoder, width), width)
    for beside in _beside([decoder, encoder], width):
        bodies = Body(decoder, beside, UNLIMITED), Body(encoder, beside, UNLIMITED)
        if sum(map(_width, bodies)) + ENTRANCE <= width:
            return _beside_each_other(decoder, encoder, bodies, width)
    return _above_each_other(decoder, encoder, width)


def _beside(towers: Sequence[TowerPicture], width: int) -> Iterable[int]:
    """How many heads to try beside each other, the most first; a few are all shown, or stacked."""
    most = max(map(_most_heads, towers))
    fitting = min(most, width // len("head 1"))
    return [*(range(fitting, 1, -1) if most > MOST_STACKED else [most]), 1]


def _fitted(tower: TowerPicture, width: int) -> Body:
    """The body of a tower alone in a width."""
    for beside in _beside([tower], width):
        body = Body(tower, beside, UNLIMITED)
        if _width(body) <= width:
            return body
    # An odd width has a middle column.
    room = width - _right(body) - (body.left - body.half)
    return Body(tower, 1, (room - 1) // 2 * 2 + 1)


def _finished(tower: TowerPicture, body: Body, width: int) -> Drawing:
    """The body with its names, ways around sub-layers, steps and tokens."""
    drawing, half, left = body.drawing, body.half, body.left
    tokens = Words("tokens", (on_a_line(tower.tokens, width),))
    drawing.words.append(tokens.moved(max(-left, -tokens.middle)))
    for row, name in [*body.names, *body.rules]:
        drawing.words += [Words("name", (name,), -half, row)] if name else []
    for row, name in body.rules:
        start = -half + cells(name) + 1 if name else -half
        drawing.strokes.append(Stroke((start, row), (half, row), "rule"))
    for leaves, joins, end in body.ways:
        out = half + WAY
        drawing.connect((0, leaves), (out, leaves), (out, joins), (end + 2, joins), arrow=True)
    for below, above in body.inlets:
        drawing.connect((0, below), (-left, below), (-left, above), (0, above))
    column = half + (WAY if body.ways else 0) + STEPS
    room = width - (column + left)
    drawing.words += [
        Words("steps", (_within(numbers, room),), column, row) for row, numbers in body.steps
    ]
    return drawing


def _beside_each_other(
    decoder: TowerPicture, encoder: TowerPicture, bodies: tuple[Body, Body], width: int
) -> Drawing:
    """Place the encoder to the left of the decoder."""
    body, encoder_body = bodies
    left_tower = _finished(encoder, encoder_body, width - ENTRANCE - _width(body))
    right_tower = _finished(decoder, body, width - ENTRANCE - left_tower.width)
    left = right_tower.columns[0]
    spine = left - ENTRANCE - 1 - left_tower.columns[1]
    above = spine, left_tower.height
    return _joined(right_tower, left_tower.moved(spine), above, left, body.entrances)


def _above_each_other(decoder: TowerPicture, encoder: TowerPicture, width: int) -> Drawing:
    """The encoder below the decoder, with a way along their left side."""
    bodies = [_fitted(tower, width - WAY) for tower in (decoder, encoder)]
    left = max(body.left for body in bodies)
    upper, lower = (
        _finished(tower, body, width - WAY - (left - body.left))
        for tower, body in zip((decoder, encoder), bodies, strict=True)
    )
    above = lower.height + bool(bodies[0].entrances)
    entrances = [(column, row + above) for column, row in bodies[0].entrances]
    return _joined(upper.moved(0, above), lower, (0, lower.height), -left, entrances)


def _joined(
    decoder: Drawing, encoder: Drawing, above: Cell, left: int, entrances: Sequence[Cell]
) -> Drawing:
    """Both towers, with a way for the encoder's vectors from `above` it to the heads."""
    both = Drawing([*decoder.words, *encoder.words], [*decoder.strokes, *encoder.strokes])
    if entrances:
        (spine, row), column = above, left - WAY
        rows = [row, *(row for _, row in entrances)]
        both.connect((spine, row - 1), (spine, row), (column, row))
        both.connect((column, min(rows)), (column, max(rows)))
        for edge, row in entrances:
            both.connect((column, row), (edge - 1, row), arrow=True)
    return both


def _within(numbers: str, room: int) -> str:
    """The numbers of steps, cut if the room is too small."""
    return numbers if cells(numbers) <= room else f"{numbers[: room - 1]}…"


def _most_heads(tower: TowerPicture) -> int:
    return max((len(each.heads) for each in found(tower.layers, Heads)), default=1)


def _width(body: Body) -> int:
    """Return the columns of a body with its side text."""
    return body.left + 1 + body.half + _right(body)


def _right(body: Body) -> int:
    """The columns at the right of a body."""
    widest = max(cells(numbers) for _, numbers in body.steps)
    return (WAY if body.ways else 0) + STEPS + widest - 1


def on_a_line(tokens: Sequence[Name], room: int) -> str:
    """The tokens beside each other; those without room are counted."""
    names = [shortened(token.text, LONGEST_TOKEN) for token in tokens]
    for shown in range(min(len(names), room // 3 + 1), 0, -1):
        left_out = len(names) - shown
        more = [f"… {left_out} more …"] if left_out else []
        line = "  ".join([*names[: shown - 1], *more, names[-1]])
        if cells(line) <= room:
            return line
    return count(len(tokens), "token")
