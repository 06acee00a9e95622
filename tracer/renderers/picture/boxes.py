"""The words of a box in the picture of a model, in lines that fit."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from tracer.lesson.document import Box, Row
from tracer.renderers.picture.drawing import Words
from tracer.renderers.rows import cells
from tracer.renderers.text import text

BETWEEN = 2
"""Cells between adjacent boxes."""


def arranged(row: Row, room: int) -> list[Words]:
    """The boxes of a row around column 0, beside each other if they fit, else stacked."""
    if len(row) > 1:
        beside = [Words("box", _parts(box), given=box.given) for box in row]
        width = sum(words.width + BETWEEN for words in beside) - BETWEEN
        if width <= room:
            column = -((width - 1) // 2)
            placed = []
            for words in beside:
                placed.append(words.moved(column))
                column += words.width + BETWEEN
            return placed
    placed = []
    for box in row:
        words = Words("box", folded(" ".join(_parts(box)), room), given=box.given)
        placed.append(words.around(0, placed[-1].top + 1 if placed else 0))
    return placed


def folded(words: str, room: int) -> tuple[str, ...]:
    """Words in lines of at most `room` cells."""
    return (words,) if cells(words) <= room else tuple(wrap(words, room))


def sign(box: Box) -> str:
    """The sign of a step."""
    return "".join(part if isinstance(part, str) else text(part) for part in box.sign)


def shape(box: Box) -> str:
    """`4×6`; nothing for a single number or words."""
    return "×".join(map(str, box.shape)) if len(box.shape) > 1 else ""


def numbers(row: Sequence[Box]) -> str:
    """The steps of consecutive boxes: 4–6."""
    first, last = row[0].step, row[-1].step
    return str(first) if first == last else f"{first}–{last}"


def _parts(box: Box) -> tuple[str, ...]:
    return tuple(words for words in (sign(box), shape(box)) if words)
