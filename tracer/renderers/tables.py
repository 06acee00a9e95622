"""Matrices and tables on a terminal: columns that fit its width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from tracer.lesson.document import Matrix, Table
from tracer.lesson.expression import Number
from tracer.renderers.rows import (
    INDENT,
    LABEL,
    MARKED,
    SIGN,
    Row,
    cells,
    indented,
    padded,
    short,
    wrapped,
)
from tracer.renderers.text import name_text, number_text, text

GAP = "  "
LEAST_ROOM, BELOW = 8, 4
"""Cells for a name or for the last column of a table; how far in it stands below the others."""


def matrix_rows(matrix: Matrix, width: int) -> Iterable[Row]:
    """The matrix; in blocks of columns below each other where it is too wide."""
    columns = [short(label, width // 3) for label in matrix.columns]
    rows = [short(label, width // 3) for label in matrix.rows]
    numbers = map(_aligned, zip(*matrix.cells, strict=True))
    rows = [text(matrix.symbol), *rows]
    widest = max(map(cells, rows))
    stub = [padded(row, widest) for row in rows]
    grid = [_column(name, below) for name, below in zip(columns, numbers, strict=True)]
    room = width - INDENT - widest
    lines: list[Row] = []
    for first, last in _fitting([cells(column[0]) for column in grid], room):
        for i, cells_of_row in enumerate(zip(*grid[first:last], strict=True)):
            line = Row(GAP.join([stub[i], *cells_of_row]).rstrip(), "" if i else LABEL)
            if i:
                line.stylize(LABEL, 0, len(stub[i]))
            if i and matrix.figure:
                _shade(line, len(stub[i]), cells_of_row, matrix.cells[i - 1][first:last])
            lines.append(_marked(line, i - 1 == matrix.marked))
        lines.append(Row())
    return indented(lines[:-1], INDENT)


def _shade(line: Row, start: int, written: Sequence[str], shares: Sequence[Number]) -> None:
    """The cells of a heat map: the larger the share, the deeper its blue."""
    for cell, share in zip(written, shares, strict=True):
        start += len(GAP)
        if share.value:
            light = 255 - round(170 * min(max(float(share.value), 0), 1))
            line.stylize(f"black on rgb({light},{light},255)", start, start + len(cell))
        start += len(cell)


def _fitting(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside each other; one at least."""
    first, used = 0, 0
    for column, width in enumerate(widths):
        used += len(GAP) + width
        if used > room and column > first:
            yield first, column
            first, used = column, len(GAP) + width
    yield first, len(widths)


def _column(name: str, numbers: Sequence[str]) -> list[str]:
    """A column with its name above it, all on its right; a number takes a cell for each sign."""
    wide = cells(name)
    widest = max(wide, *map(len, numbers))
    return [" " * (widest - wide) + name, *[number.rjust(widest) for number in numbers]]


def _marked(line: Row, marked: bool) -> Row:
    if marked:
        line.stylize(MARKED)
    return line


def _aligned(numbers: Sequence[Number]) -> list[str]:
    """The numbers of a column with their decimal points below each other."""
    written = list(map(number_text, numbers))
    if len({len(w.partition(".")[2]) for w in written}) == 1:
        return written  # all have as many decimals
    points = [w.find(".") if w[-1].isdecimal() else None for w in written]
    behind = max(
        (len(w) - p for w, p in zip(written, points, strict=True) if p and p > 0), default=0
    )

    def aligned(w: str, point: int | None) -> str:
        """Powers of ten and infinities stand at the right of the column."""
        if point is None:
            return w
        return w + " " * (behind - (len(w) - point if point > 0 else 0))

    return [aligned(*pair) for pair in zip(written, points, strict=True)]


def table_rows(table: Table, width: int) -> Iterable[Row]:
    """Text in columns; only the last may be of any length, and is folded where it is too long.

    Where too little is left for the last it stands below the others.
    """
    columns = _columns(table, width // 3)
    if width - INDENT - _wide(columns) < LEAST_ROOM:
        columns = _columns(table, LEAST_ROOM)
    left = width - INDENT - _wide(columns)
    is_below = left < LEAST_ROOM
    room = width - INDENT - BELOW if is_below else left
    last = [table.header[-1], *(name_text(row[-1].text) for row in table.rows)]
    lines: list[Row] = []
    for i, shown in enumerate(last):
        start = "".join(padded(column[i], max(map(cells, column))) + GAP for column in columns)
        parts = [part.plain for part in wrapped(Text(shown), room, fold=True)]
        first, *rest = ["", *parts] if is_below else parts
        margin = " " * (BELOW if is_below else cells(start))
        for line in (start + first, *(margin + part for part in rest)):
            row = Row(line.rstrip(), LABEL if i else SIGN)
            lines.append(_marked(row, i - 1 == table.marked))
    return indented(lines, INDENT)


def _columns(table: Table, most: int) -> list[list[str]]:
    """All columns but the last, each with its name above it; names of at most so many cells."""
    return [
        [name, *(short(row[j].text, most) for row in table.rows)]
        for j, name in enumerate(table.header[:-1])
    ]


def _wide(columns: Sequence[Sequence[str]]) -> int:
    """The cells that columns take, with the gap behind each."""
    return sum(max(map(cells, column)) + len(GAP) for column in columns)
