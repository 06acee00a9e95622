"""Where matrices and worked lines are broken: at = and ≈, then + and -, then / and · and commas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from tracer.renderers.rows import cells

LEAST_MARGIN, HANGING = 4, 2
BEFORE_TERM = re.compile(r" (?=[-+] )")
BEFORE_FACTOR = re.compile(r" (?=[/·] )|(?<=\)) (?=\w)|(?<=,) ")
"""Also behind a comma, and between the heads in [O¹ (4 × 3) O² (4 × 2)]."""

Pieces: TypeAlias = list[list[str]]
"""The sides of a chain, each cut where it may be broken."""


def wrapped(sides: Sequence[str], label: str, width: int, tail: int = 0) -> list[str]:
    """A chain in lines of `width` cells, aligned after the label if that leaves enough room.

    `tail` cells stay free after the last side, if possible.
    """
    start = cells(label)
    margin = max(LEAST_MARGIN, start)
    room = width - HANGING - margin
    # A side that has room is not broken anywhere.
    free = [0] * (len(sides) - 1) + [tail]
    pieces = [
        [side] if cells(side) + behind <= room else cut(side, room)
        for side, behind in zip(sides, free, strict=True)
    ]
    if any(cells(piece) > room for side in pieces for piece in side):
        margin = LEAST_MARGIN
    lines: list[str] = []
    for row in rows(pieces, start, margin, width, tail):
        written = " ".join(pieces[side][piece] for side, piece in row)
        begins_side = row[0][1] == 0
        before = label if not lines else " " * (margin if begins_side else margin + HANGING)
        lines.append(before + written)
    return lines


def cut(side: str, room: int) -> list[str]:
    """A side in pieces before each + and -; pieces wider than `room` also at / and · and commas."""
    return [
        part
        for piece in BEFORE_TERM.split(side)
        for part in ([piece] if cells(piece) <= room else BEFORE_FACTOR.split(piece))
    ]


def fitting(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside each other, each of at least one."""
    first, used = 0, 0
    for column, width in enumerate(widths):
        used += width
        if used > room and column > first:
            yield first, column
            first, used = column, width
    yield first, len(widths)


def rows(
    pieces: Pieces, start: int, margin: int, width: int, tail: int = 0
) -> list[list[tuple[int, int]]]:
    """The pieces on each line, as (side, piece); the first line has `start` cells before them.

    A side that fits on one line is not broken; after a broken side a new line begins.
    """
    lines: list[list[tuple[int, int]]] = [[]]
    used, broken = start, False
    for i, side in enumerate(pieces):
        widths = list(map(cells, side))
        if i == len(pieces) - 1:
            widths[-1] += tail
        whole = sum(widths) + len(side) - 1
        if i and (broken or used + 1 + whole > width):
            lines.append([])
            used = margin
        elif i:
            used += 1
        broken = False
        for j, wide in enumerate(widths):
            if j and used + 1 + wide > width:
                lines.append([])
                used, broken = margin + HANGING, True
            elif j:
                used += 1
            lines[-1].append((i, j))
            used += wide
    return lines
