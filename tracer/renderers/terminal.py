"""Documents on a terminal: worked lines that wrap before = and +, matrices that fit the width."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.console import Console
from rich.text import Text

from tracer.lesson.document import (
    Block,
    Document,
    Formula,
    Inline,
    Matrix,
    Name,
    Paragraph,
    Percent,
    Picture,
    Reference,
    Table,
    Working,
)
from tracer.lesson.expression import Chain, Number
from tracer.renderers.picture.characters import in_characters
from tracer.renderers.rows import Row, cells, indented, shortened, wrapped
from tracer.renderers.text import name_text, number_text, text
from tracer.renderers.wrapping import wrapped as wrapped_chain
from tracer.scenario.rounding import trimmed

TITLE, SECTION, LABEL, SIGN, RESULT, MARKED = (
    *("bold", "bold blue", "cyan", "dim", "bold", "bold"),
)
RELATION = re.compile("[=≈]")
INDENT, WORKING_INDENT, GAP, LEAST_WIDTH = 2, 4, "  ", 40


def show(document: Document) -> None:
    """Print a document on standard output, in colour where that is a terminal that has some."""
    console = Console(highlight=False, markup=False, emoji=False)
    lines = _lines(document, console.width)
    if console.color_system is None:
        sys.stdout.write("".join(f"{line.plain}\n" for line in lines))
        return
    for line in lines:
        console.print(line.text(), crop=False)


def plain(document: Document, width: int | None = None) -> str:
    """A document as a terminal without colour shows it: one of `width` cells, or this one."""
    shown = _lines(document, width or Console().width)
    return "".join(f"{line.plain}\n" for line in shown)


def _lines(document: Document, wide: int) -> Iterator[Row]:
    """The lines of a document, broken for a width, with an empty one behind each block."""
    width = max(wide, LEAST_WIDTH)
    yield from wrapped(Text(name_text(document.title), TITLE), width)
    yield Row()
    for block in document.introduction:
        yield from _rendered(block, width)
        yield Row()
    for section in document.sections:
        number = "" if section.number is None else f"{section.number}. "
        yield from wrapped(Text(f"{number}{section.title}", SECTION), width)
        yield Row()
        for block in section.blocks:
            yield from _rendered(block, width)
            yield Row()


def _rendered(block: Block, width: int) -> Iterable[Row]:
    match block:
        case Paragraph(parts):
            return wrapped(Text.assemble(*(_inline(part) for part in parts)), width)
        case Formula(chain):
            return indented(_chain(chain, "", width - INDENT), INDENT)
        case Working():
            return _working(block, width)
        case Matrix():
            return _matrix(block, width)
        case Table():
            return _table(block, width)
        case Picture():
            return indented(map(Row, in_characters(block, width - INDENT)), INDENT)
        case _:
            assert_never(block)


def _inline(part: Inline) -> Text:
    match part:
        case str():
            return Text(part)
        case Name(name):
            return Text(name_text(name), LABEL)
        case Percent(number):
            return Text(f"{number_text(Number(trimmed(number.value * 100)))} %", RESULT)
        case Number():
            return Text(number_text(part), RESULT)
        case Reference(number):
            return Text(f"step {number}")
        case _:
            return Text(text(part))


def _working(working: Working, width: int) -> Iterable[Row]:
    labels = [
        "" if line.label is None else f"{shortened(line.label, width // 4)}: "
        for line in working.lines
    ]
    longest = max(map(cells, labels))
    lines: list[Row] = []
    for label, line in zip(labels, working.lines, strict=True):
        start = _padded(label, longest)
        lines += _chain(line.chain, start, width - WORKING_INDENT)
    return indented(lines, WORKING_INDENT)


def _chain(chain: Chain, label: str, width: int) -> list[Row]:
    """A chain in lines, coloured."""
    first, *rest = map(text, chain.sides)
    related = (f"{relation} {side}" for relation, side in zip(chain.relations, rest, strict=True))
    lines = [Row(line) for line in wrapped_chain([first, *related], label, width)]
    for line in lines:
        for sign in RELATION.finditer(line.plain):
            line.stylize(SIGN, *sign.span())
    lines[0].stylize(LABEL, 0, len(label))
    return lines


def _matrix(matrix: Matrix, width: int) -> Iterable[Row]:
    """The matrix; in blocks of columns below each other where it is too wide."""
    columns = [shortened(label, width // 3) for label in matrix.columns]
    rows = [shortened(label, width // 3) for label in matrix.rows]
    numbers = map(_aligned, zip(*matrix.cells, strict=True))
    rows = [text(matrix.symbol), *rows]
    widest = max(map(cells, rows))
    stub = [_padded(row, widest) for row in rows]
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


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cells(cell))


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


def _table(table: Table, width: int) -> Iterable[Row]:
    """Text in columns; only the last may be of any length, and is folded where it is too long."""
    columns = [
        [name, *(shortened(row[j].text, width // 3) for row in table.rows)]
        for j, name in enumerate(table.header[:-1])
    ]
    last = [table.header[-1], *(name_text(row[-1].text) for row in table.rows)]
    lines: list[Row] = []
    for i, shown in enumerate(last):
        start = "".join(_padded(column[i], max(map(cells, column))) + GAP for column in columns)
        room = max(width - INDENT - cells(start), 8)
        for part in wrapped(Text(shown), room, fold=True):
            line = Row((start + part.plain).rstrip(), LABEL if i else SIGN)
            lines.append(_marked(line, i - 1 == table.marked))
            start = " " * cells(start)
    return indented(lines, INDENT)
