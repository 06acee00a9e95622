"""The heads of an attention, or experts, in a frame: beside each other, or stacked if too wide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from tracer.lesson.document import Row
from tracer.renderers.picture.boxes import arranged, numbers
from tracer.renderers.picture.drawing import Cell, Drawing, Stroke, Words
from tracer.renderers.picture.stack import Head, Level, Spot
from tracer.renderers.rows import cells

PADDING = 1
"""Cells between a head and its frame, on either side."""


def boxes_of(spots: Sequence[Spot]) -> Row:
    """The boxes of a row."""
    return tuple(spot.box for spot in spots)


def _width(head: Head, room: int) -> int:
    """The width of the widest line of a head."""
    rows = [Drawing(arranged(boxes_of(row), room)).width for row in head.rows.values()]
    return max([*rows, *map(cells, (head.title, *head.note))])


class HeadFrame:
    """The heads of an attention, drawn around column 0 from a row upward.

    `steps` are numbers beside the rows, `entrances` the cells where the encoder's vectors enter,
    `row` is the one above the frame.
    """

    def __init__(self, level: Level, beside: int, room: int, drawing: Drawing, row: int) -> None:
        self.drawing, self.row = drawing, row
        self.steps: list[tuple[int, str]] = []
        self.entrances: list[Cell] = []
        self.room = room - 2 * PADDING - 2
        widths = [_width(head, self.room) for head in level.heads]
        if beside == 1:
            widths = [max(widths)]
        places = list(accumulate((width + 2 * PADDING + 1 for width in widths), initial=0))
        self.edges = [place - places[-1] // 2 for place in places]
        for storey in [level.heads] if beside > 1 else [[head] for head in level.heads]:
            self._crossbar()
            if level.crosses:
                self.entrances.append((self.edges[0], self.row + 1))
            self._storey(storey)
        self._crossbar()
        for edge in self.edges:
            self._edge((edge, row), (edge, self.row - 1))

    def _edge(self, start: Cell, end: Cell) -> None:
        self.drawing.strokes.append(Stroke(start, end, "frame"))

    def _crossbar(self) -> None:
        self._edge((self.edges[0], self.row), (self.edges[-1], self.row))
        self.row += 1

    def _storey(self, heads: Sequence[Head]) -> None:
        """Heads beside each other, with titles above."""
        middles = [(left + right) // 2 for left, right in pairwise(self.edges)]
        placed = list(zip(heads, middles, strict=True))
        bottom = self.row
        for number in sorted({number for head in heads for number in head.rows}):
            rows = [(boxes_of(head.rows[number]), x) for head, x in placed if number in head.rows]
            words = [w.moved(x, self.row) for row, x in rows for w in arranged(row, self.room)]
            self.drawing.words += words
            self.row = max(word.top for word in words) + 1
            steps = " · ".join(numbers(row) for row, _ in rows if row)
            self.steps.append((self.row - 1, steps))
        for head, middle in placed:
            if head.note:
                self._named(head.note, middle, bottom)
                self.row = max(self.row, bottom + len(head.note))
        if any(head.title for head in heads):
            for head, middle in placed:
                self._named((head.title,), middle, self.row)
            self.row += 1

    def _named(self, lines: tuple[str, ...], middle: int, row: int) -> None:
        words = Words("title", lines)
        self.drawing.words.append(words.around(middle, row))
