"""A picture's boxes and frames in pixels, from below: what is as wide and as high as what.

Towers are stacks of levels. A level is a row of boxes, or heads beside each other, each of which
is a stack of its own. Below each level is a gap for its arrows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tracer.lesson.document import Box, Heads, Layer, Part, Picture, Row, Tower
from tracer.renderers.picture.heads import columns_of

Size: TypeAlias = tuple[float, float]
"""Width and height."""

SizeOf: TypeAlias = Callable[[Box, bool], Size]
"""The size of a box; whether it is alone in its row."""

Gap: TypeAlias = tuple[int, int, int]
"""Below a row of a level of a tower; below a level itself, it is that of row 0."""

HeightOf: TypeAlias = Callable[[int, int, int], float]
"""The height of a gap."""

BETWEEN, PADDING, TITLE, LANE = 7, 8, 17, 9
"""From box to box and from head to head; inside a frame; a line of words; from line to line."""

LETTER = 6.5

MOST_HEADS = {1: 4, 2: 3}
"""The most heads beside each other, by the number of towers; of more, some are left out."""


@dataclass(eq=False)
class Spot:
    """A box with its size; `x` is its middle, `y` its bottom."""

    box: Box
    width: float
    height: float
    adds: bool = False
    x: float = 0
    y: float = 0


@dataclass(eq=False)
class Head:
    """A head: rows that are aligned with those of the other heads; or a note on heads left out."""

    title: str
    rows: dict[int, list[Spot]]
    note: tuple[str, ...] = ()
    width: float = 0
    x: float = 0
    lanes: dict[str, list[int]] = field(default_factory=dict)
    """At its sides, the boxes at the lower ends of lines that pass other rows."""

    def half(self, rows: Iterable[int] | None = None) -> float:
        """Half the width of some rows, or of all."""
        chosen = self.rows if rows is None else [row for row in rows if row in self.rows]
        return max((width_of(self.rows[row]) / 2 for row in chosen), default=0)


@dataclass(eq=False)
class Level:
    """A row of boxes, or heads; `first` and `last` are the frames that it opens and closes."""

    spots: list[Spot] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    opens: list[Frame] = field(default_factory=list)
    closes: list[Frame] = field(default_factory=list)
    y: float = 0
    height: float = 0

    @property
    def rows(self) -> int:
        """How many rows its highest head has."""
        return max((row + 1 for head in self.heads for row in head.rows), default=0)

    @property
    def width(self) -> float:
        """The width of its boxes or heads."""
        if self.heads:
            return sum(head.width + BETWEEN for head in self.heads) - BETWEEN
        return width_of(self.spots)


@dataclass(eq=False)
class Frame:
    """A rectangle around a layer or a part of it, with its name."""

    sort: Literal["layer", "part"]
    title: str
    depth: int
    bottom: float = 0
    top: float = 0


@dataclass(frozen=True)
class At:
    """Where a box is: its tower, its level, and its head and row there, if it is in one."""

    tower: int
    level: int
    head: int | None = None
    row: int = 0


class Stack:
    """A tower: its levels from below."""

    def __init__(self, tower: Tower, most_heads: int, size_of: SizeOf) -> None:
        self.tower, self.most_heads, self.size_of = tower, most_heads, size_of
        self.levels: list[Level] = []
        self._rows(tower.inputs)
        for layer in tower.layers:
            self._layer(layer)
        self._rows(tower.outputs)
        self.left, self.right = 0.0, 0.0
        """How far it reaches from its middle, its lines included."""
        self.x = 0.0

    def _rows(self, rows: Iterable[Row], *, adds: bool = False) -> None:
        for row in rows:
            self.levels.append(Level(self._spots(row, adds=adds)))

    def _spots(self, row: Row, *, adds: bool = False) -> list[Spot]:
        alone = len(row) == 1
        return [Spot(box, *self.size_of(box, alone), adds=adds) for box in row]

    def _layer(self, layer: Layer) -> None:
        first = len(self.levels)
        for part in layer.parts:
            self._part(part)
        if len(self.tower.layers) > 1 or layer.last > 1:
            self._framed(Frame("layer", title_of(layer), 0), first)

    def _part(self, part: Part) -> None:
        first = len(self.levels)
        for inside in part.inside:
            if isinstance(inside, Heads):
                self.levels.append(Level(heads=self._heads(inside)))
            else:
                self._rows([inside])
        if part.residual:
            self._rows([(part.residual,)], adds=True)
        self._rows(part.behind)
        self._framed(Frame("part", part.name, 1), first)

    def _framed(self, frame: Frame, first: int) -> None:
        if first < len(self.levels):
            self.levels[first].opens.insert(0, frame)
            self.levels[-1].closes.append(frame)

    def _heads(self, heads: Heads) -> list[Head]:
        return [
            Head(
                column.title,
                {number: self._spots(row) for number, row in column.rows.items()},
                column.note,
            )
            for column in columns_of(heads, self.most_heads)
        ]


class Placing:
    """All boxes of a picture, and where they are."""

    def __init__(self, picture: Picture, size_of: SizeOf) -> None:
        towers = [picture.encoder, picture.decoder] if picture.encoder else [picture.decoder]
        most = MOST_HEADS[len(towers)]
        self.stacks = [Stack(tower, most, size_of) for tower in towers]
        self.spots: dict[int, Spot] = {}
        self.at: dict[int, At] = {}
        for spot, at in self._all():
            self.spots[spot.box.step], self.at[spot.box.step] = spot, at

    def _all(self) -> Iterator[tuple[Spot, At]]:
        for t, stack in enumerate(self.stacks):
            for i, level in enumerate(stack.levels):
                yield from ((spot, At(t, i)) for spot in level.spots)
                for h, head in enumerate(level.heads):
                    for row, spots in head.rows.items():
                        yield from ((spot, At(t, i, h, row)) for spot in spots)

    def level(self, at: At) -> Level:
        """The level of a box."""
        return self.stacks[at.tower].levels[at.level]

    def head_of(self, at: At) -> Head:
        """The head of a box."""
        assert at.head is not None
        return self.level(at).heads[at.head]

    def row(self, at: At) -> list[Spot]:
        """The boxes beside each other where a box is."""
        return self.level(at).spots if at.head is None else self.head_of(at).rows[at.row]

    # --- across ----------------------------------------------------------------------------------

    def set_across(self, lanes: Sequence[dict[str, int]]) -> None:
        """Set all `x`; `lanes` has the number of lines at the sides of each tower."""
        edge = 0.0
        for stack, beside in zip(self.stacks, lanes, strict=True):
            for level in stack.levels:
                for head in level.heads:
                    _set_width(head)
            half = max(level.width for level in stack.levels) / 2
            stack.left, stack.right = (
                half + 2 * PADDING + LANE * beside[side] + BETWEEN for side in ("left", "right")
            )
            stack.x = edge + stack.left
            edge = stack.x + stack.right + PADDING
            for level in stack.levels:
                _spread(level.heads, stack.x)
                _spread(level.spots, stack.x)
                for head in level.heads:
                    for spots in head.rows.values():
                        _spread(spots, head.x)

    # --- upward ----------------------------------------------------------------------------------

    def set_upward(self, gap: HeightOf) -> dict[Gap, float]:
        """Set all `y`; return the bottoms of the gaps."""
        bottoms: dict[Gap, float] = {}
        for t, stack in enumerate(self.stacks):
            y = float(TITLE)
            for i, level in enumerate(stack.levels):
                for frame in level.opens:
                    y += BETWEEN
                    frame.bottom = y
                bottoms[t, i, 0] = y
                y += gap(t, i, 0)
                level.y = y
                y = self._rows_upward(level, y, (t, i), gap, bottoms)
                level.height = y - level.y
                for frame in level.closes:
                    y += TITLE + PADDING / 2
                    frame.top = y
            bottoms[t, len(stack.levels), 0] = y
        return bottoms

    def _rows_upward(
        self,
        level: Level,
        y: float,
        place: tuple[int, int],
        gap: HeightOf,
        bottoms: dict[Gap, float],
    ) -> float:
        if not level.heads:
            return _set_y(level.spots, y)
        y += PADDING
        for row in range(level.rows):
            if row:
                bottoms[(*place, row)] = y
                y += gap(*place, row)
            y = _set_y([spot for head in level.heads for spot in head.rows.get(row, [])], y)
        return y + (TITLE if any(head.title for head in level.heads) else PADDING)


def title_of(layer: Layer) -> str:
    """`layer 1`; of layers that are drawn once, their number as well."""
    times = layer.last - layer.first + 1
    if times == 1:
        return f"layer {layer.first}"
    return f"layer {layer.first} × {times}: layers {layer.first} to {layer.last} are built alike"


def width_of(spots: Sequence[Spot]) -> float:
    """The width of boxes beside each other."""
    return sum(spot.width + BETWEEN for spot in spots) - BETWEEN


def _set_width(head: Head) -> None:
    """Wide enough for its rows, its title, its note and its lines."""
    words = LETTER * max(map(len, (head.title, *head.note)), default=0)
    own = max(2 * head.half(), words)
    head.width = own + 2 * PADDING + 2 * LANE * max(map(len, head.lanes.values()), default=0)


def _spread(items: Sequence[Spot] | Sequence[Head], middle: float) -> None:
    """Place boxes or heads beside each other around a middle."""
    x = middle - (sum(item.width + BETWEEN for item in items) - BETWEEN) / 2
    for item in items:
        item.x = x + item.width / 2
        x += item.width + BETWEEN


def _set_y(spots: Sequence[Spot], y: float) -> float:
    """Put the boxes of a row, the lowest ones in its middle; return its top."""
    height = max((spot.height for spot in spots), default=0.0)
    for spot in spots:
        spot.y = y
        spot.height = height  # beside each other, all are as high as the highest
    return y + height
