"""Where a worked line is broken: before = and ≈, and inside a long side before + and -."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

LEAST_MARGIN, HANGING = 4, 2


def wrapped(sides: Sequence[str], label: str, width: int) -> list[str]:
    """A chain in lines of `width` cells; each side but the first begins with its relation.

    A side that fits on a line of its own is not broken, and what follows a broken side begins on a
    new line. The lines are aligned behind the label, where that leaves them room.
    """
    room = width - HANGING - max(LEAST_MARGIN, cell_len(label))
    pieces = [_pieces(side, room) for side in sides]
    longest = max(cell_len(piece) for side in pieces for piece in side)
    margin = max(LEAST_MARGIN, cell_len(label))
    if margin + HANGING + longest > width:
        margin = LEAST_MARGIN
    lines: list[str] = []
    line, broken = label, False
    for side, parts in zip(sides, pieces, strict=True):
        first = side == sides[0] and not lines and line == label
        if not first and not broken and cell_len(f"{line} {side}") <= width:
            line += f" {side}"
            continue
        if not first:
            lines.append(line)
            line = " " * margin
        line += parts[0]
        broken = False
        for part in parts[1:]:
            if cell_len(f"{line} {part}") <= width:
                line += f" {part}"
            else:
                lines.append(line)
                line, broken = " " * (margin + HANGING) + part, True
    return [*lines, line]


def _pieces(side: str, room: int) -> list[str]:
    """A side cut before each + and -; before a / only where a piece would not fit otherwise."""
    return [
        part
        for piece in re.split(r" (?=[-+] )", side)
        for part in ([piece] if cell_len(piece) <= room else re.split(r" (?=/ )", piece))
    ]
