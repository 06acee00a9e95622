"""A picture's boxes and frames in pixels, from below: what is as wide and as high as what.

Below each level of a tower is a gap for its arrows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tracer.lesson.document import Box, Picture, TowerPicture
from tracer.renderers.picture.stack import Head, Level, Spot, levels_of

Size: TypeAlias = tuple[float, float]
"""Width and height."""

SizeOf: TypeAlias = Callable[[Box, bool], Size]
"""The size of a box; whether it is alone in its row."""

Gap: TypeAlias = tuple[int, int, int]
"""Below a row of a level of a tower; below a level itself, it is that of row 0."""

HeightOf: TypeAlias = Callable[[Gap], float]
"""The height of a gap."""

BETWEEN, PADDING, TITLE, LANE = 7, 8, 17, 9
"""From box to box and from head to head; inside a frame; a line of words; from line to line."""

LETTER = 6.5

MOST_HEADS = {1: 4, 2: 3}
"""The most heads beside each other, by the number of towers; of more, some are left out."""


@dataclass(frozen=True)
class At:
    """Where a box is: its tower, its level, and its head and row there, if it is in one."""

    tower: int
    level: int
    head: int | None = None
    row: int = 0


class Stack:
    """The levels of a tower, and how far it reaches from its middle, its lines included."""

    def __init__(self, tower: TowerPicture, most_heads: int) -> None:
        self.tower = tower
        self.levels = levels_of(tower, most_heads)
        self.x, self.left, self.right = 0.0, 0.0, 0.0


class Placing:
    """All boxes of a picture, and where they are."""

    def __init__(self, picture: Picture, size_of: SizeOf) -> None:
        towers = [picture.encoder, picture.decoder] if picture.encoder else [picture.decoder]
        most = MOST_HEADS[len(towers)]
        self.stacks = [Stack(tower, most) for tower in towers]
        self.spots: dict[int, Spot] = {}
        self.at: dict[int, At] = {}
        for at in self._rows():
            row = self.row(at)
            for spot in row:
                spot.width, spot.height = size_of(spot.box, len(row) == 1)
                self.spots[spot.box.step], self.at[spot.box.step] = spot, at

    def _rows(self) -> Iterator[At]:
        for t, stack in enumerate(self.stacks):
            for i, level in enumerate(stack.levels):
                if not level.heads:
                    yield At(t, i)
                for h, head in enumerate(level.heads):
                    yield from (At(t, i, h, row) for row in head.rows)

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
            half = max(map(width_of_level, stack.levels)) / 2
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
                for row, spots in enumerate(level.rows):
                    bottoms[t, i, row] = y
                    y += gap((t, i, row))
                    if row == 0:
                        level.y = y
                        y += PADDING if level.heads else 0
                    y = _set_y(spots, y)
                if level.heads:
                    y += TITLE if any(head.title for head in level.heads) else PADDING
                level.height = y - level.y
                for frame in level.closes:
                    y += TITLE + PADDING / 2
                    frame.top = y
            bottoms[t, len(stack.levels), 0] = y
        return bottoms


def width_of(items: Sequence[Spot] | Sequence[Head]) -> float:
    """The width of boxes or heads beside each other."""
    return sum(item.width + BETWEEN for item in items) - BETWEEN


def width_of_level(level: Level) -> float:
    """The width of its boxes or heads."""
    return width_of(level.heads or level.spots)


def half_of(head: Head, rows: Iterable[int] | None = None) -> float:
    """Half the width of some rows of a head, or of all."""
    chosen = head.rows if rows is None else [row for row in rows if row in head.rows]
    return max((width_of(head.rows[row]) / 2 for row in chosen), default=0)


def _set_width(head: Head) -> None:
    """Wide enough for its rows, its title, its note and its lines."""
    words = LETTER * max(map(len, (head.title, *head.note)), default=0)
    own = max(2 * half_of(head), words)
    head.width = own + 2 * PADDING + 2 * LANE * head.lanes


def _spread(items: Sequence[Spot] | Sequence[Head], middle: float) -> None:
    """Place boxes or heads beside each other around a middle."""
    x = middle - width_of(items) / 2
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
