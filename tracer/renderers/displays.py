"""Displays in LaTeX: formulas, worked lines, matrices; side by side where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias, assert_never

from tracer.formula.expression import Blank, Chain, Number
from tracer.lesson.document import Figure, Formula, Matrix, Working
from tracer.renderers import signed
from tracer.renderers.lettering import in_text, short, width
from tracer.renderers.mathematics import PAPER
from tracer.renderers.text import text
from tracer.renderers.wrapping import fitting

GAP = 5
"""Characters of plain text between two displays."""

LABEL = 3
"""The space after labels and before results."""

DEEPEST = 40
"""The color of a share of 1, in hundredths: black digits are still easy to read on it."""

POSITIVE, NEGATIVE = "blue", "orange"

LEGEND = (
    rf"{{\footnotesize\colorbox{{{POSITIVE}!{DEEPEST}}}{{positive}} "
    rf"\colorbox{{{NEGATIVE}!{DEEPEST}}}{{negative}}}}"
)
"""Of the colors of signed numbers."""

Displayed: TypeAlias = Formula | Working | Matrix


def displayed(blocks: Sequence[Displayed]) -> str:
    """Displays that follow each other, in as few lines as possible."""
    narrow = (_narrow(block) if isinstance(block, Matrix) else [block] for block in blocks)
    lines = list(map(_line, _lines(list(chain.from_iterable(narrow)))))
    if any(isinstance(each, Matrix) and each.figure and each.figure.scale for each in blocks):
        lines.append(LEGEND)
    return "\n".join(lines)


def _lines(blocks: Sequence[Displayed]) -> list[list[Displayed]]:
    """Lines of blocks side by side, the last filled first; a formula precedes only its result."""
    lines: list[list[Displayed]] = []
    room = 0
    for block in reversed(blocks):
        wide = _width(block)
        if wide > room:
            lines.insert(0, [])
            room = PAPER.letters
        lines[0].insert(0, block)
        room = 0 if isinstance(block, Formula) else room - wide - GAP
    return lines


def _line(blocks: Sequence[Displayed]) -> str:
    match blocks:
        case [Formula()]:
            # Its result is on the same page.
            return f"{{\\postdisplaypenalty=10000\n{_side_by_side(blocks)}}}\\ignorespaces"
        case [*before, Working() as working]:
            columns = list(
                _columns(working, PAPER.letters - sum(_width(each) + GAP for each in before))
            )
            if before or len(columns) > 1:
                return _side_by_side([*before, *columns])
            # Unlike alignedat, this may go on on the next page.
            return f"\\begin{{alignat*}}{{2}}\n{PAPER.lines(working)}\n\\end{{alignat*}}"
        case _:
            return _side_by_side(blocks)


def _columns(working: Working, room: int) -> Iterator[Working]:
    """Short lines in columns, each to be read downward."""
    lines = working.lines
    most = max(1, (room + GAP) // (_width(working) + GAP))
    rows = -(-len(lines) // most)
    for first in range(0, len(lines), rows):
        yield Working(lines[first : first + rows])


def _side_by_side(blocks: Sequence[Displayed]) -> str:
    in_columns = sum(isinstance(block, Working) for block in blocks) > 1
    at = "[t]" if in_columns else ""
    written = "\n\\qquad ".join(_within(block, at) for block in blocks)
    return f"\\[ {written} \\]"


def _within(block: Displayed, at: str) -> str:
    match block:
        case Formula(equation):
            return PAPER.formula(equation)
        case Working():
            lines = PAPER.lines(block)
            return f"\\begin{{alignedat}}{at}{{2}}\n{lines}\n\\end{{alignedat}}"
        case Matrix():
            return _array(block)
        case _:
            assert_never(block)


def _width(block: Displayed) -> int:
    match block:
        case Formula(equation):
            return PAPER.width_of_formula(equation)
        case Working():
            return PAPER.width(block) + LABEL
        case Matrix():
            return sum(_widths(block))
        case _:
            assert_never(block)


def _widths(matrix: Matrix) -> list[int]:
    """The widths of the row labels and of each column."""
    columns = (
        max(
            width(short(column)),
            *(_width_of(row[j], bold=i == matrix.marked) for i, row in enumerate(matrix.cells)),
        )
        for j, column in enumerate(matrix.columns)
    )
    symbol = PAPER.width_of_formula(Chain((matrix.symbol,), ()))
    stub = max(symbol, *(width(short(row)) for row in matrix.rows))
    return [wide + 2 for wide in (stub, *columns)]


def _width_of(number: Number | Blank, *, bold: bool) -> int:
    """The width of a number; with spaces around × for a power of ten, and wider if bold."""
    written = text(number)
    wide = len(written) + 5 * ("×" in written)
    return wide + wide // 6 if bold else wide


def _narrow(matrix: Matrix) -> Iterator[Matrix]:
    """The matrix in blocks of columns that fit a line, each with the row labels."""
    stub, *widths = _widths(matrix)
    for first, last in fitting(widths, PAPER.letters - stub):
        columns, cells = matrix.columns[first:last], tuple(row[first:last] for row in matrix.cells)
        yield Matrix(matrix.symbol, matrix.rows, columns, cells, matrix.marked, matrix.figure)


def _array(matrix: Matrix) -> str:
    """Rows and columns with labels; the followed token's row is bold."""
    head = [PAPER.in_formulas.write(matrix.symbol), *map(_label, matrix.columns)]
    body = []
    for i, (name, numbers) in enumerate(zip(matrix.rows, matrix.cells, strict=True)):
        bold = i == matrix.marked
        shades = [_shade(number, matrix.figure) if matrix.figure else "" for number in numbers]
        written = map(PAPER.in_lines.write, numbers)
        cells = [rf"\mathbf{{{number}}}" if bold else number for number in written]
        shown = [_label(name, bold=bold), *map("".join, zip(shades, cells, strict=True))]
        body.append(" & ".join(shown))
    rows = " \\\\\n".join(body)
    form = f"l|{'r' * len(matrix.columns)}"
    return f"\\begin{{array}}{{{form}}}\n{' & '.join(head)} \\\\ \\hline\n{rows}\n\\end{{array}}"


def _label(name: str, *, bold: bool = False) -> str:
    command = "textbf" if bold else "text"
    return rf"\{command}{{{in_text(short(name))}}}" if name else ""


def _shade(number: Number | Blank, figure: Figure) -> str:
    """The color of a heat map's cell: the deeper, the larger the share or the size."""
    if isinstance(number, Blank):
        return ""
    share = min(max(float(number.value), 0), 1)
    color = POSITIVE
    if figure.scale is not None:
        share = signed.share_of_largest(number, figure.scale)
        color = NEGATIVE if number.value < 0 else POSITIVE
    depth = round(DEEPEST * share)
    return rf"\cellcolor{{{color}!{depth}}}" if depth else ""
