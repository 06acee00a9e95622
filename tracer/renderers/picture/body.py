"""A tower of a model: rows of boxes, heads, sums and layers above each other.

The residual stream runs upward in column 0. What stands beside the body is only noted here, since
its place depends on the width of the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from tracer.lesson import document as doc
from tracer.renderers.picture.boxes import arranged, numbers
from tracer.renderers.picture.drawing import Cell, Drawing, Stroke, Words
from tracer.renderers.picture.stack import Head, Level, Spot, levels_of
from tracer.renderers.rows import cells

WAY = 2
"""Columns from the body to a line around it."""

PADDING = 1
"""Cells between a head and its frame, on either side."""


class Body:
    """A tower's body in lines of at most `room` cells, with `beside` heads beside each other."""

    def __init__(self, tower: doc.TowerPicture, beside: int, room: int) -> None:
        self.beside, self.room = beside, room
        self.drawing = Drawing()
        self.row, self.drawn = 1, 1
        """The next free row, and how far the spine is drawn; below is room for the tokens."""
        self.leaves = 1
        """The row where the line around the present part leaves the spine."""
        self.ways: list[tuple[int, int, int]] = []
        """Around sub-layers: the rows of the fork and of the sum, the last column of its box."""
        self.inlets: list[tuple[int, int]] = []
        """Lines at the left: the row where one leaves the spine, and the row where it enters."""
        self.read = {p.reads.step for la in tower.layers for p in la.parts if p.reads}
        self.above: dict[int, int] = {}
        """The free rows above the boxes that are `read` there, by their steps."""
        self.entrances: list[Cell] = []
        self.names: list[tuple[int, str]] = []
        self.rules: list[tuple[int, str]] = []
        self.steps: list[tuple[int, str]] = []
        for i, level in enumerate(levels_of(tower, beside)):
            if i == len(tower.inputs):
                self.row += 1
            for frame in level.opens:
                self._open(frame.of)
            self._level(level)
            for frame in level.closes:
                self._close(frame.of, is_last=frame.of is tower.layers[-1])

    @property
    def half(self) -> int:
        """The width of the body to either side of column 0."""
        names = [cells(name) + 2 for _, name in (*self.names, *self.rules)]
        return max([*map(abs, self.drawing.columns), *names])

    @property
    def left(self) -> int:
        """How far it reaches to the left, inlets included."""
        return self.half + (WAY if self.inlets else 0)

    def _spine_to(self, row: int) -> None:
        self.drawing.connect((0, self.drawn), (0, row))
        self.drawn = row

    # --- rows of boxes ---------------------------------------------------------------------------

    def _level(self, level: Level) -> None:
        """A row of boxes, or heads."""
        if level.heads:
            self._heads(level)
            return
        row = boxes_of(level.spots)
        words = arranged(row, self.room)
        joins = self.row
        if len(words) > 1 and words[0].row == words[1].row:
            on = [word for word, box in zip(words, row, strict=True) if not box.aside]
            self._forked(words, on if level.goes_on else [], below=self.row > 1)
        else:
            self._placed(words)
            self._spine_to(self.row - 1)
        if level.spots[0].adds:
            self.ways.append((self.leaves, joins, self.drawing.words[-1].end))
        self.steps.append((self.drawing.words[-1].top, numbers(row)))
        for box in row:
            if box.step in self.read:
                self.above[box.step] = self.row
                self._spine_to(self.row)
                self.row += 1

    def _placed(self, words: Sequence[Words]) -> None:
        placed = [word.moved(0, self.row) for word in words]
        self.drawing.words += placed
        self.row = max(word.top for word in placed) + 1

    def _forked(self, words: Sequence[Words], on: Sequence[Words], *, below: bool) -> None:
        """Boxes beside each other, joined by lines below, and above if they go `on`."""
        if below:
            self._spine_to(self.row)
            self._crossbar(words, self.row + 1)
        self._placed(words)
        if on:
            self._crossbar(on, self.row - 1)

    def _crossbar(self, words: Sequence[Words], boxes: int) -> None:
        """A line in the next row through column 0, with a way to each box."""
        middles = [word.middle for word in words]
        ends = sorted((0, *middles))
        self.drawing.connect((ends[0], self.row), (ends[-1], self.row))
        for middle in middles:
            self.drawing.connect((middle, self.row), (middle, boxes))
        self.drawn = self.row
        self.row += 1

    # --- heads -----------------------------------------------------------------------------------

    def _heads(self, level: Level) -> None:
        """Heads in a frame: beside each other, or below each other if that is too wide."""
        self._spine_to(self.row)
        bottom, room = self.row, self.room - 2 * PADDING - 2
        widths = [_width(head, room) for head in level.heads]
        if self.beside == 1:
            widths = [max(widths)]
        places = list(accumulate((width + 2 * PADDING + 1 for width in widths), initial=0))
        edges = [place - places[-1] // 2 for place in places]
        for storey in [level.heads] if self.beside > 1 else [[head] for head in level.heads]:
            self._border(edges)
            if level.crosses:
                self.entrances.append((edges[0], self.row + 1))
            self._storey(storey, [(left + right) // 2 for left, right in pairwise(edges)], room)
        self._border(edges)
        self.drawn = self.row - 1
        strokes = (Stroke((edge, bottom), (edge, self.drawn), "frame") for edge in edges)
        self.drawing.strokes += strokes

    def _border(self, edges: Sequence[int]) -> None:
        self.drawing.strokes.append(Stroke((edges[0], self.row), (edges[-1], self.row), "frame"))
        self.row += 1

    def _storey(self, heads: Sequence[Head], middles: Sequence[int], room: int) -> None:
        """Heads beside each other, with titles above."""
        placed = list(zip(heads, middles, strict=True))
        bottom = self.row
        for number in sorted({number for head in heads for number in head.rows}):
            rows = [(boxes_of(head.rows[number]), x) for head, x in placed if number in head.rows]
            self._placed([word.moved(x) for row, x in rows for word in arranged(row, room)])
            self.steps.append((self.row - 1, ", ".join(numbers(row) for row, _ in rows if row)))
        for head, x in placed:
            if head.note:
                self.drawing.words.append(Words("title", head.note).around(x, bottom))
                self.row = max(self.row, bottom + len(head.note))
        if any(head.title for head in heads):
            self._placed([Words("title", (head.title,)).around(x, 0) for head, x in placed])

    # --- layers and their parts ------------------------------------------------------------------

    def _open(self, of: doc.LayerPicture | doc.SubLayerPicture) -> None:
        """What is below a layer or a part: its name, and where the line around it leaves."""
        if isinstance(of, doc.LayerPicture):
            self._rule(f"layer {of.first}")
            return
        if _fits_beside(of.name, self.room):
            self.names.append((self.row, of.name))
        else:
            self._placed([Words("title", (of.name,)).around(0, 0)])
        self.leaves = self.row
        self._spine_to(self.row)
        self.row += 1
        if of.reads:
            self.inlets.append((self.above[of.reads.step], self.row))
            self.drawn = self.row
            self.row += 1

    def _close(self, of: doc.LayerPicture | doc.SubLayerPicture, *, is_last: bool) -> None:
        """What is above a layer or a part."""
        if isinstance(of, doc.SubLayerPicture):
            self.row += 1
            return
        if of.others:
            self._rule(_times(of, self.room), of.others)
        if of.cycle:
            self._rule(_times_in_turn(of.cycle, self.room), of.cycle.others)
        if is_last and not (of.others or of.cycle):
            self._rule("")

    def _rule(self, name: str, steps: Sequence[int] = ()) -> None:
        """A dotted line with a name, and the first and the last step that it stands for."""
        if steps:
            self.steps.append((self.row, "–".join(map(str, steps))))
        self.rules.append((self.row, name))
        self.row += 1


def boxes_of(spots: Sequence[Spot]) -> doc.Row:
    """The boxes of a row."""
    return tuple(spot.box for spot in spots)


def _width(head: Head, room: int) -> int:
    """The width of the widest line of a head."""
    rows = [Drawing(arranged(boxes_of(row), room)).width for row in head.rows.values()]
    return max([*rows, *map(cells, (head.title, *head.note))])


def _times(layer: doc.LayerPicture, room: int) -> str:
    """× 12: layers 2–12 alike; or × 12, where there is no more room."""
    times = layer.last - layer.first + 1
    others = f"layers {layer.first + 1}–{layer.last}" if times > 2 else f"layer {layer.last}"
    whole = f"× {times}: {others} alike"
    return whole if _fits_beside(whole, room) else f"× {times}"


def _times_in_turn(cycle: doc.LayerCycle, room: int) -> str:
    """× 13: layers 3–26 like 1–2; or × 13, where there is no more room."""
    which = f"layers {cycle.last + 1}–{cycle.end} like {cycle.first}–{cycle.last}"
    whole = f"× {cycle.times}: {which}"
    return whole if _fits_beside(whole, room) else f"× {cycle.times}"


def _fits_beside(name: str, room: int) -> bool:
    """Whether a name has room at the left of the spine."""
    return 2 * cells(name) + 5 <= room
