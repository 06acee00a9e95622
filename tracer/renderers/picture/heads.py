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
    """A head with its rows, or a note about heads that are left out.

    Rows are numbered from below and aligned at the top: in a backward pass, the lowest ones may
    belong to some of the heads only.
    """

    title: str
    rows: dict[int, Row]
    note: tuple[str, ...] = ()

    def width(self, room: int) -> int:
        """The width of its widest line."""
        rows = [Drawing(arranged(row, room)).width for row in self.rows.values()]
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
        placed = list(zip(columns, middles, strict=True))
        bottom = self.row
        for number in sorted({number for column in columns for number in column.rows}):
            rows = [(column.rows[number], x) for column, x in placed if number in column.rows]
            words = [w.moved(x, self.row) for row, x in rows for w in arranged(row, self.room)]
            self.drawing.words += words
            self.row = max(word.top for word in words) + 1
            steps = " · ".join(numbers(row) for row, _ in rows if row)
            self.steps.append((self.row - 1, steps))
        for column, middle in placed:
            if column.note:
                self._named(column.note, middle, bottom)
                self.row = max(self.row, bottom + len(column.note))
        if any(column.title for column in columns):
            for column, middle in placed:
                self._named((column.title,), middle, self.row)
            self.row += 1

    def _named(self, lines: tuple[str, ...], middle: int, row: int) -> None:
        words = Words("title", lines)
        self.drawing.words.append(words.around(middle, row))


def columns_of(heads: Heads, beside: int) -> list[Column]:
    """The heads that are shown, and a note about the others."""
    every = heads.heads
    fits = len(every) <= (beside if beside > 1 else MOST_STACKED)
    number = len(every) if fits else max(beside - 1, 1)
    shown, rest = every[:number], every[number:]
    titles = heads.names[:number] if len(every) > 1 else ("",)
    most = max(map(len, shown))
    columns = [
        Column(title, dict(enumerate(rows, most - len(rows))))
        for title, rows in zip(titles, shown, strict=True)
    ]
    if rest:
        alike = set(heads.alike[number:]) == {heads.alike[number - 1]}
        steps = f"{rest[0][0][0].step}–{rest[-1][-1][-1].step}"
        note = (f"{len(rest)} more", *(["alike"] if alike else []), "steps", steps)
        kind, ends_apart = heads.names[0].split()[0], "shared" in heads.names[-1]
        title = "the others" if ends_apart else f"{kind}s {number + 1}–{len(every)}"
        columns.append(Column(title, {}, note))
    return columns
