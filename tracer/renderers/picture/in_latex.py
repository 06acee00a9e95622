"""The picture of a model in LaTeX: a picture per row, so that a page may end between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from tracer.lesson.document import Picture
from tracer.renderers.picture.drawing import Cell, Drawing
from tracer.renderers.picture.layout import laid_out

WIDTH = 92
"""Columns that fit on a line of A4."""

BEGIN = r"""\par\medskip\begingroup
\setlength{\unitlength}{1.8mm}\setlength{\parskip}{0pt}\footnotesize\offinterlineskip"""

THICKNESS = {"frame": r"\thinlines", "way": r"\thicklines"}

ARROWS = {True: r"$\triangleright$", False: r"$\triangleleft$"}
"""To the right and to the left."""


def in_latex(picture: Picture, escaped: Callable[[str], str]) -> str:
    """A column is one unit wide, a row two high; `escaped` escapes words."""
    drawing = laid_out(picture, WIDTH)
    rows: dict[int, str] = defaultdict(str)
    for row, command in (*_strokes(drawing), *_arrows(drawing), *_words(drawing, escaped)):
        rows[row] += command
    size = f"({drawing.width},2)({drawing.columns[0]},0)"
    lines = [
        rf"\begin{{picture}}{size}{rows[row]}\end{{picture}}\par"
        for row in reversed(range(drawing.height))
    ]
    return "\n".join([BEGIN, *lines, r"\endgroup"])


def _strokes(drawing: Drawing) -> Iterator[tuple[int, str]]:
    """The visible parts of the strokes in each row."""
    hidden = {cell for words in drawing.words for cell in words.covered()}
    hidden |= {stroke.end for stroke in drawing.strokes if stroke.arrow}
    for stroke in drawing.strokes:
        if stroke.sort == "rule":
            (column, row), dots = stroke.start, stroke.end[0] - stroke.start[0]
            yield row, rf"\multiput({column},1)(1,0){{{dots}}}{{\line(1,0){{0.2}}}}"
    for sort, thickness in THICKNESS.items():
        strokes = [stroke for stroke in drawing.strokes if stroke.sort == sort]
        sides = {side for stroke in strokes for side in stroke.sides() if side[0] not in hidden}
        for row, start, length in _runs(sides):
            line = rf"\line(1,0){{{length:g}}}"
            yield row, rf"{thickness}\put({start:g},1){{{line}}}"
        for column, row in sorted({cell for cell, side in sides if side in "NS"}):
            bottom = 0 if ((column, row), "S") in sides else 1
            top = 2 if ((column, row), "N") in sides else 1
            line = rf"\line(0,1){{{top - bottom}}}"
            yield row, rf"{thickness}\put({column + 0.5},{bottom}){{{line}}}"


def _runs(sides: Iterable[tuple[Cell, str]]) -> Iterator[tuple[int, float, float]]:
    """Adjacent sides in a row as one line: the row, its start, its length."""
    halves = sorted(
        (row, 2 * column + (side == "E")) for (column, row), side in sides if side in "EW"
    )
    for _, run in groupby(enumerate(halves), lambda each: (each[1][0], each[1][1] - each[0])):
        found = [half for _, half in run]
        yield found[0][0], found[0][1] / 2, len(found) / 2


def _arrows(drawing: Drawing) -> Iterator[tuple[int, str]]:
    for stroke in drawing.strokes:
        if stroke.arrow:
            column, row = stroke.end
            yield row, _put(column + 0.5, "", ARROWS[stroke.start < stroke.end])


def _words(drawing: Drawing, escaped: Callable[[str], str]) -> Iterator[tuple[int, str]]:
    """Names and steps aligned to the left, other words centered."""
    for words in drawing.words:
        at_left = words.sort in ("name", "steps")
        column = words.column if at_left else words.middle + 0.5
        for (_, row), line in words.placed():
            spaced = r"\quad ".join(map(escaped, line.split("  ")))  # as between tokens
            yield row, _put(column, "[l]" if at_left else "", spaced)


def _put(column: float, side: str, words: str) -> str:
    return rf"\put({column:g},1){{\makebox(0,0){side}{{{words}}}}}"
