"""Matrices and tables in the columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.formula.expression import Blank, Number
from tracer.lesson.document import Cell, Figure, Matrix, Name, Table
from tracer.names import name_text
from tracer.renderers import signed
from tracer.renderers.palette import BLUE, CLAY, LABEL, MARKED, hue
from tracer.renderers.rows import GAP, INDENT, Row, cells, padded, shortened, wrapped
from tracer.renderers.text import cell_text, text
from tracer.renderers.wrapping import fitting

LEAST_ROOM, BELOW = 8, 4
"""The least cells for a name or a last column; its indent below the other columns."""

ENOUGH_ROOM = 24
"""The least cells for a last column beside long formulas."""

WEIGHTS = ((0.5, "bold reverse"), (0.25, "bold"))
"""The smallest share for each style of a cell in a heat map."""

LEAST_PARTS, SMALL = 20, "·"
"""A number is small if so many of its size are less than the largest; the sign in its place."""


def matrix_rows(matrix: Matrix, width: int, *, colored: bool = True) -> list[Row]:
    """The matrix, in blocks of columns if too wide; if `colored`, its numbers have hues.

    A heat map of signed numbers has only the large ones, so that they are seen without color.
    """
    scale = matrix.figure.scale if matrix.figure else None
    names = _corner_and_rows(matrix, width // 3)
    columns = [shortened(label, width // 3) if label else "" for label in matrix.columns]
    numbers = (_written(column, scale) for column in zip(*matrix.cells, strict=True))
    widest = max(map(cells, names))
    stub = [padded(name, widest) + " │" * (scale is not None) for name in names]
    grid = [_column(name, below) for name, below in zip(columns, numbers, strict=True)]
    room = width - INDENT - cells(stub[0])
    lines: list[Row] = []
    for first, last in fitting([len(GAP) + cells(column[0]) for column in grid], room):
        header, *rows = zip(*(column for column in grid[first:last]), strict=True)
        lines.append(Row(" " * INDENT + GAP.join([stub[0], *header]).rstrip(), LABEL))
        for i, written in enumerate(rows):
            row = Row(GAP.join([stub[i + 1], *written]).rstrip())
            if colored:
                _color(row, matrix, i, len(stub[i + 1]), written, matrix.cells[i][first:last])
            row.indented(INDENT)
            lines.append(row.marked() if i == matrix.marked else row)
        lines.append(Row())
    if scale is None or not any(_is_small(n, scale) for row in matrix.cells for n in row):
        return lines[:-1]
    of = f"{SMALL} is less than {100 // LEAST_PARTS} % of the size of {text(scale)}"
    return [*lines[:-1], Row(" " * INDENT + of, LABEL)]


def _written(numbers: Sequence[Number | Blank], scale: Number | None) -> list[str]:
    """The numbers of a column, small ones as a sign if there is a scale."""
    if scale is None:
        return aligned(numbers)
    small = [_is_small(number, scale) for number in numbers]
    large = [number for number, is_small in zip(numbers, small, strict=True) if not is_small]
    written = iter(aligned(large))
    return [SMALL if is_small else next(written) for is_small in small]


def _is_small(number: Number | Blank, scale: Number) -> bool:
    return isinstance(number, Number) and LEAST_PARTS * abs(number.value) < abs(scale.value)


def _corner_and_rows(matrix: Matrix, most: int) -> list[str]:
    """The symbol and the names of the rows; it is the name of a single row without one."""
    if matrix.marked is None and matrix.rows == ("",):
        return ["", text(matrix.symbol)]
    return [text(matrix.symbol), *(shortened(label, most) for label in matrix.rows)]


def _color(
    row: Row,
    matrix: Matrix,
    number: int,
    start: int,
    written: Sequence[str],
    numbers: Sequence[Number | Blank],
) -> None:
    """Style the name of a row, which ends at `start`, and its numbers."""
    marked = number == matrix.marked
    row.stylize(MARKED if marked else LABEL, 0, start)
    for cell, of in zip(written, numbers, strict=True):
        style = _heat(of, matrix.figure) if matrix.figure else MARKED if marked else ""
        style += f" {_hue(of, matrix.figure)}"
        row.stylize(style.strip(), start + len(GAP), start + len(GAP) + len(cell))
        start += len(GAP) + len(cell)


def _hue(number: Number | Blank, figure: Figure | None) -> str:
    """The color of a number: of its kind, or in a heat map of signed numbers of its sign."""
    if isinstance(number, Blank) or figure is None or figure.scale is None:
        return hue(number)
    return CLAY if number.value < 0 else BLUE


def _heat(number: Number | Blank, figure: Figure) -> str:
    """The style of a cell of a heat map, by its share or its size."""
    if isinstance(number, Blank):
        return ""
    share = (
        float(number.value)
        if figure.scale is None
        else signed.share_of_largest(number, figure.scale)
    )
    return next((style for least, style in WEIGHTS if share >= least), "")


def _column(name: str, numbers: Sequence[str]) -> list[str]:
    """A column below its name, aligned to the right; numbers take a cell for each sign."""
    wide = cells(name)
    widest = max(wide, *map(len, numbers))
    return [" " * (widest - wide) + name, *[number.rjust(widest) for number in numbers]]


def aligned(numbers: Sequence[Number | Blank]) -> list[str]:
    """The numbers of a column with aligned decimal points."""
    written = list(map(text, numbers))
    if len({len(w) - w.rfind(".") for w in written}) == 1:
        return written  # all have as many decimals
    points = [w.find(".") if w[-1].isdecimal() else None for w in written]
    behind = max(
        (len(w) - p for w, p in zip(written, points, strict=True) if p and p > 0), default=0
    )

    def filled(w: str, point: int | None) -> str:
        if point is None:
            return w
        return w + " " * (behind - (len(w) - point if point > 0 else 0))

    return [filled(*pair) for pair in zip(written, points, strict=True)]


def table_rows(table: Table, width: int) -> list[Row]:
    """Text in columns; the last one is folded if too long, and stands below without enough room."""
    columns, whole = (_columns(table, width // 3, whole_formulas=w) for w in (False, True))
    has_long = whole != columns and INDENT + _wide(whole) <= width
    if has_long:  # no formula is shortened if it can stand in a line
        columns = whole
    elif width - INDENT - _wide(columns) < LEAST_ROOM:
        columns = _columns(table, LEAST_ROOM)
    left = width - INDENT - _wide(columns)
    least = ENOUGH_ROOM if has_long else LEAST_ROOM
    if table.is_whole:
        names = (row[-1].text for row in table.rows if isinstance(row[-1], Name))
        least = max((least, *map(cells, names)))
    is_below = left < least
    room = width - INDENT - BELOW if is_below else left
    name = table.header[-1]
    last = [name and name_text(name), *(cell_text(row[-1]) for row in table.rows)]
    lines: list[Row] = []
    widths = list(map(_widest, columns))
    for i, shown in enumerate(last):
        texts = [column[i] for column in columns]
        start = "".join(padded(*pair) + GAP for pair in zip(texts, widths, strict=True))
        parts = [part.plain for part in wrapped(shown, room, fold=True)]
        first, *rest = ["", *parts] if is_below else parts
        margin = " " * (BELOW if is_below else cells(start))
        for line in (start + first, *(margin + part for part in rest)):
            row = Row(line.rstrip(), "" if i else LABEL).indented(INDENT)
            lines.append(row.stylize(MARKED).marked() if i - 1 == table.marked else row)
    return lines


def _columns(table: Table, most: int, *, whole_formulas: bool = False) -> list[list[str]]:
    """All columns but the last, below their names; names of at most `most` cells."""

    def shown(cell: Cell) -> str:
        is_whole = table.is_whole or (whole_formulas and not isinstance(cell, Name))
        return cell_text(cell) if is_whole else shortened(cell_text(cell), most)

    return [
        [
            name and (name if table.is_whole else shortened(name, most)),
            *(shown(row[j]) for row in table.rows),
        ]
        for j, name in enumerate(table.header[:-1])
    ]


def _wide(columns: Sequence[Sequence[str]]) -> int:
    return sum(_widest(column) + len(GAP) for column in columns)


def _widest(column: Sequence[str]) -> int:
    return max(map(cells, column))
