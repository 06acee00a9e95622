"""The picture of a model in characters, for a terminal and for fenced text."""

from __future__ import annotations

from collections import defaultdict

from tracer.lesson.document import Picture
from tracer.renderers.picture.drawing import Cell, Drawing
from tracer.renderers.picture.layout import laid_out
from tracer.renderers.rows import cells

SIGNS = {
    **{"EW": "─", "NS": "│", "ES": "┌", "SW": "┐", "EN": "└", "NW": "┘", "ENS": "├", "NSW": "┤"},
    **{"ESW": "┬", "ENW": "┴", "ENSW": "┼", "E": "─", "W": "─", "N": "│", "S": "│"},
}
"""A cell by the sides, in alphabetical order, to which strokes lead from it."""

HEADS = {"E": "▸", "W": "◂"}
DOTTED = "┄"


def in_characters(picture: Picture, width: int) -> list[str]:
    """The lines of the picture, none of them wider than `width` cells."""
    drawing = laid_out(picture, width)
    rows: dict[int, dict[int, str]] = defaultdict(dict)
    for (column, row), sign in _strokes(drawing).items():
        rows[row][column] = sign
    for words in drawing.words:
        for column, row in words.covered():
            rows[row].pop(column, None)
        for (column, row), line in words.placed():
            rows[row][column] = line
    left, _ = drawing.columns
    return [_line(rows[row], left) for row in reversed(range(drawing.height))]


def _strokes(drawing: Drawing) -> dict[Cell, str]:
    """The sign in each cell that a stroke goes through."""
    sides: dict[Cell, set[str]] = defaultdict(set)
    signs: dict[Cell, str] = {}
    for stroke in drawing.strokes:
        for cell, side in stroke.sides():
            if stroke.sort == "rule":
                signs[cell] = DOTTED
            else:
                sides[cell].add(side)
    signs |= {cell: SIGNS["".join(sorted(leading))] for cell, leading in sides.items()}
    for stroke in drawing.strokes:
        if stroke.arrow:
            signs[stroke.end] = HEADS["E" if stroke.start < stroke.end else "W"]
    return signs


def _line(signs: dict[int, str], left: int) -> str:
    line = ""
    for column, sign in sorted(signs.items()):
        line += " " * (column - left - cells(line)) + sign
    return line.rstrip()
