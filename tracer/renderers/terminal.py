"""Documents on a terminal: worked lines that wrap before = and +, matrices that fit the width."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tracer.lesson.document import (
    Block,
    Diagram,
    Document,
    Formula,
    Inline,
    Matrix,
    Name,
    Paragraph,
    Percent,
    Table,
    Vector,
    Working,
)
from tracer.lesson.expression import Chain, Number
from tracer.renderers.text import name_text, number_text, text
from tracer.renderers.wrapping import wrapped
from tracer.scenario.rounding import trimmed

TITLE, SECTION, LABEL, SIGN, RESULT, MARKED = (
    *("bold", "bold blue", "cyan", "dim", "bold", "bold"),
)
INDENT, WORKING_INDENT, GAP, LEAST_WIDTH = 2, 4, "  ", 40
_WRAPPING = Console()
"""Rich asks for a console where it wraps; it uses nothing of it."""

LONGEST_NAME = 24
"""Longer names are shortened beside numbers; the table of tokens has them whole."""


def show(document: Document) -> None:
    """Print a document on standard output, in colour where that is a terminal that has some."""
    console = Console(highlight=False, markup=False, emoji=False)
    lines = _lines(document, console.width)
    if console.color_system is None:
        sys.stdout.writelines(f"{line.plain}\n" for line in lines)
        return
    for line in lines:
        # What is too wide for the terminal is folded by the terminal itself, never cut.
        console.print(line, crop=False, no_wrap=True, overflow="ignore")


def plain(document: Document, width: int | None = None) -> str:
    """A document as a terminal without colour shows it: one of `width` cells, or this one."""
    shown = _lines(document, width or Console().width)
    return "".join(f"{line.plain}\n" for line in shown)


def _lines(document: Document, wide: int) -> Iterator[Text]:
    """The lines of a document, broken for a width, with an empty one behind each block."""
    width = max(wide, LEAST_WIDTH)
    yield from _paragraph(Text(name_text(document.title), TITLE), width)
    yield Text()
    for block in document.introduction:
        yield from _rendered(block, width)
        yield Text()
    for section in document.sections:
        number = "" if section.number is None else f"{section.number}. "
        yield from _paragraph(Text(f"{number}{section.title}", SECTION), width)
        yield Text()
        for block in section.blocks:
            yield from _rendered(block, width)
            yield Text()


def _rendered(block: Block, width: int) -> Iterable[Text]:
    match block:
        case Paragraph(parts):
            return _paragraph(Text.assemble(*(_inline(part) for part in parts)), width)
        case Formula(chain):
            return _indented(_chain(chain, "", width - INDENT), INDENT)
        case Working():
            return _working(block, width)
        case Vector():
            return _vector(block, width)
        case Matrix():
            return _matrix(block, width)
        case Table():
            return _table(block, width)
        case Diagram(steps):
            arrows = (Text(f"{'→ ' if i else ''}{step}") for i, step in enumerate(steps))
            return _indented(arrows, INDENT)
        case _:
            assert_never(block)


def _paragraph(text: Text, width: int) -> Iterable[Text]:
    lines = text.wrap(_WRAPPING, width)
    for line in lines:
        line.rstrip()
    return lines


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
        case _:
            return Text(text(part))


def _indented(lines: Iterable[Text], by: int) -> Iterator[Text]:
    """Lines that are broken already: where a terminal is too narrow, it folds them itself."""
    for line in lines:
        if line:
            line.pad_left(by)
        yield line


def _working(working: Working, width: int) -> Iterable[Text]:
    labels = [
        "" if line.label is None else f"{_short(line.label, width // 4)}: "
        for line in working.lines
    ]
    longest = max(map(cell_len, labels))
    lines: list[Text] = []
    for label, line in zip(labels, working.lines, strict=True):
        start = _padded(label, longest)
        lines += _chain(line.chain, start, width - WORKING_INDENT)
    return _indented(lines, WORKING_INDENT)


def _chain(chain: Chain, label: str, width: int) -> list[Text]:
    """A chain in lines, coloured."""
    first, *rest = map(text, chain.sides)
    related = (f"{relation} {side}" for relation, side in zip(chain.relations, rest, strict=True))
    lines = [Text(line) for line in wrapped([first, *related], label, width)]
    for line in lines:
        line.highlight_regex("[=≈]", SIGN)
    lines[0].stylize(LABEL, 0, len(label))
    return lines


def _vector(vector: Vector, width: int) -> Iterable[Text]:
    of = f" of {_short(vector.of.text)}" if vector.of else ""
    start = f"{text(vector.symbol)}{of} = ["
    margin = len(start) if cell_len(start) <= width // 2 else 4
    lines, line = [], start
    for i, number in enumerate(vector.numbers, 1):
        entry = number_text(number) + ("]" if i == len(vector.numbers) else ",")
        if line != start and cell_len(f"{line} {entry}") > width - INDENT:
            lines.append(line)
            line = " " * margin + entry
        else:
            line += entry if line == start else f" {entry}"
    return _indented(map(Text, [*lines, line]), INDENT)


def _matrix(matrix: Matrix, width: int) -> Iterable[Text]:
    """The matrix; in blocks of columns below each other where it is too wide."""
    columns = [_short(label, width // 3) for label in matrix.columns]
    rows = [_short(label, width // 3) for label in matrix.rows]
    cells = [_aligned([row[j] for row in matrix.cells]) for j in range(len(columns))]
    rows = [text(matrix.symbol), *rows]
    widest = max(map(cell_len, rows))
    stub = [_padded(row, widest) for row in rows]
    grid = [_padded_alike([label, *numbers]) for label, numbers in zip(columns, cells, strict=True)]
    room = width - INDENT - widest
    lines: list[Text] = []
    for first, last in _fitting([cell_len(column[0]) for column in grid], room):
        for i, cells_of_row in enumerate(zip(*grid[first:last], strict=True)):
            line = Text(GAP.join([stub[i], *cells_of_row]).rstrip(), "" if i else LABEL)
            if i:
                line.stylize(LABEL, 0, len(stub[i]))
            if i and matrix.figure:
                _shade(line, len(stub[i]), cells_of_row, matrix.cells[i - 1][first:last])
            lines.append(_marked(line, i - 1 == matrix.marked))
        lines.append(Text())
    return _indented(lines[:-1], INDENT)


def _shade(line: Text, start: int, cells: Sequence[str], shares: Sequence[Number]) -> None:
    """The cells of a heat map: the larger the share, the deeper its blue."""
    for cell, share in zip(cells, shares, strict=True):
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
    return cell + " " * (width - cell_len(cell))


def _padded_alike(cells: Sequence[str]) -> list[str]:
    """Cells on the right of a column as wide as the widest."""
    widest = max(map(cell_len, cells))
    return [" " * (widest - cell_len(cell)) + cell for cell in cells]


def _marked(line: Text, marked: bool) -> Text:
    if marked:
        line.stylize(MARKED)
    return line


def _aligned(numbers: Sequence[Number]) -> list[str]:
    """The numbers of a column with their decimal points below each other."""
    written = [number_text(number) for number in numbers]
    plain = [w for w in written if re.fullmatch(r"-?[0-9.]+", w)]
    behind = max((len(w.partition(".")[2]) + ("." in w) for w in plain), default=0)

    def aligned(w: str) -> str:
        if w not in plain:
            return w
        return w + " " * (behind - len(w.partition(".")[2]) - ("." in w))

    return [aligned(w) for w in written]


def _table(table: Table, width: int) -> Iterable[Text]:
    """Text in columns; only the last may be of any length, and is folded where it is too long."""
    columns = [
        [name, *(_short(row[j].text, width // 3) for row in table.rows)]
        for j, name in enumerate(table.header[:-1])
    ]
    last = [table.header[-1], *(name_text(row[-1].text) for row in table.rows)]
    lines: list[Text] = []
    for i, shown in enumerate(last):
        cells = [_padded(column[i], max(map(cell_len, column))) for column in columns]
        start = "".join(cell + GAP for cell in cells)
        room = max(width - INDENT - cell_len(start), 8)
        for part in Text(shown).wrap(_WRAPPING, room, overflow="fold"):
            line = Text(start + part.plain, LABEL if i else SIGN)
            line.rstrip()
            lines.append(_marked(line, i - 1 == table.marked))
            start = " " * cell_len(start)
    return _indented(lines, INDENT)


def _short(name: str, most: int = LONGEST_NAME) -> str:
    """A name that leaves room for numbers, its middle left out where it is too long."""
    whole = name_text(name)
    most = min(most, LONGEST_NAME)
    if cell_len(whole) <= most:
        return whole
    head = tail = ""
    half = (most - 1) // 2
    for c in whole:
        if cell_len(head + c) > half:
            break
        head += c
    for c in reversed(whole):
        if cell_len(c + tail) > half:
            break
        tail = c + tail
    return f"{head}…{tail}"
