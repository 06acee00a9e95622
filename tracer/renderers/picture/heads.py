"""The heads of an attention, or experts, in a frame: beside each other, or stacked if too wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tracer.lesson.document import Heads, Row
from tracer.renderers.picture.boxes import arranged, numbers
from tracer.renderers.picture.drawing import Cell, Drawing, Stroke, Words
from tracer.renderers.rows import cells

PADDING = 1
"""Cells between a head and its frame, on either side."""

MOST_STACKED = 3
"""The most stacked heads; of more, only the first is drawn."""


@dataclass(frozen=True)
class Column:
    """A head with its rows from below, or a note about heads that are left out."""

    title: str
    rows: tuple[Row, ...] = ()
    note: tuple[str, ...] = ()

    def width(self, room: int) -> int:
        """The width of its widest line."""
        rows = [Drawing(arranged(row, room)).width for row in self.rows]
        return max([*rows, *map(cells, (self.title, *self.note))])


class Frame:
    """The heads of an attention, drawn around column 0 from a row upward.

    `steps` are numbers beside the rows, `entrances` the cells where the encoder's vectors enter,
    `row` is the one above the frame.
    """

    def __init__(self, heads: Heads, beside: int, room: int, drawing: Drawing, row: int) -> None:
        self.drawing, self.row = drawing, row
        self.steps: list[tuple[int, str]] = []
        self.entrances: list[Cell] = []
        self.room = room - 2 * PADDING - 2
        columns = columns_of(heads, beside)
        widths = [column.width(self.room) for column in columns]
        if beside == 1:
            widths = [max(widths)]
        places = list(accumulate((width + 2 * PADDING + 1 for width in widths), initial=0))
        self.edges = [place - places[-1] // 2 for place in places]
        for storey in [columns] if beside > 1 else [[column] for column in columns]:
            self._crossbar()
            if any(heads.crosses):
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

    def _storey(self, columns: Sequence[Column]) -> None:
        """Columns beside each other, with rows aligned at the top, and titles above."""
        middles = [(left + right) // 2 for left, right in pairwise(self.edges)]
        bottom = self.row
        heads = [(c, m) for c, m in zip(columns, middles, strict=True) if c.rows]
        # In a backward pass, the lowest rows may belong to some of the heads only.
        for above in range(max((len(column.rows) for column, _ in heads), default=0), 0, -1):
            there = [(c.rows[-above], middle) for c, middle in heads if len(c.rows) >= above]
            rows = [row for row, _ in there]
            words = [
                word.moved(middle, self.row)
                for row, middle in there
                for word in arranged(row, self.room)
            ]
            self.drawing.words += words
            self.row = max(word.top for word in words) + 1
            self.steps.append((self.row - 1, " · ".join(map(numbers, filter(None, rows)))))
        for column, middle in zip(columns, middles, strict=True):
            if column.note:
                self._named(column.note, middle, bottom)
                self.row = max(self.row, bottom + len(column.note))
        if any(column.title for column in columns):
            for column, middle in zip(columns, middles, strict=True):
                self._named((column.title,), middle, self.row)
            self.row += 1

    def _named(self, lines: tuple[str, ...], middle: int, row: int) -> None:
        words = Words("title", lines)
        self.drawing.words.append(words.around(middle, row))


def columns_of(heads: Heads, beside: int) -> list[Column]:
    """The heads that are shown, and a note about the others."""
    every = heads.heads
    if len(every) == 1:
        return [Column("", every[0])]
    fits = len(every) <= (beside if beside > 1 else MOST_STACKED)
    shown = len(every) if fits else max(beside - 1, 1)
    columns = [Column(*each) for each in zip(heads.names[:shown], every[:shown], strict=True)]
    if rest := every[shown:]:
        alike = set(heads.alike[shown:]) == {heads.alike[shown - 1]}
        steps = f"{rest[0][0][0].step}–{rest[-1][-1][-1].step}"
        note = (f"{len(rest)} more", *(["alike"] if alike else []), "steps", steps)
        kind, ends_apart = heads.names[0].split()[0], "shared" in heads.names[-1]
        title = "the others" if ends_apart else f"{kind}s {shown + 1}–{len(every)}"
        columns.append(Column(title, note=note))
    return columns
