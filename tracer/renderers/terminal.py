"""Documents on a terminal: worked lines that wrap before = and +, matrices that fit the width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from tracer.document import (
    Block,
    Document,
    Formula,
    Inline,
    Matrix,
    Name,
    Paragraph,
    Percent,
    Section,
    Table,
    Vector,
    Working,
)
from tracer.expression import Chain, Number
from tracer.renderers.text import name_text, number_text, text
from tracer.rounding import trimmed

TITLE, SECTION, LABEL, SIGN, RESULT, MARKED = (
    *("bold", "bold blue", "cyan", "dim", "bold", "bold"),
)
INDENT, WORKING_INDENT, GAP = 2, 4, "  "
LONGEST_NAME = 24
"""Longer names are shortened beside numbers; the table of tokens has them whole."""


def render(document: Document, console: Console) -> None:
    """Print a document at the console's width."""
    width = max(console.width, 40)
    console.print(Text(name_text(document.title), TITLE), soft_wrap=False)
    console.print()
    for block in document.introduction:
        _print(block, width, console)
    for section in document.sections:
        _print_section(section, width, console)


def _print_section(section: Section, width: int, console: Console) -> None:
    console.print(Text(f"{section.number}. {section.title}", SECTION))
    console.print()
    for block in section.blocks:
        _print(block, width, console)


def _print(block: Block, width: int, console: Console) -> None:
    console.print(_rendered(block, width))
    console.print()


def _rendered(block: Block, width: int) -> RenderableType:
    match block:
        case Paragraph(parts):
            return _paragraph(Text.assemble(*(_inline(part) for part in parts)), width)
        case Formula(chain):
            return _indented(_wrapped(chain, "", width - INDENT), INDENT)
        case Working():
            return _working(block, width)
        case Vector():
            return _vector(block)
        case Matrix():
            return _matrix(block, width)
        case Table():
            return _table(block)
        case _:
            assert_never(block)


def _paragraph(text: Text, width: int) -> RenderableType:
    lines = text.wrap(Console(width=width), width)
    for line in lines:
        line.rstrip()
    return Group(*lines)


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


def _indented(lines: Iterable[Text], by: int) -> RenderableType:
    return Group(*(Text(" " * by) + line for line in lines))


def _working(working: Working, width: int) -> RenderableType:
    labels = [_short(line.label) for line in working.lines]
    longest = max(map(cell_len, labels))
    lines: list[Text] = []
    for label, line in zip(labels, working.lines, strict=True):
        start = f"{label}: " + " " * (longest - cell_len(label)) if label else ""
        lines += _wrapped(line.chain, start, width - WORKING_INDENT)
    return _indented(lines, WORKING_INDENT)


def _wrapped(chain: Chain, label: str, width: int) -> Iterator[Text]:
    """A chain in lines of at most `width` cells, each but the first beginning with = ≈ + or -."""
    sides = [text(side) for side in chain.sides]
    pieces = list(_pieces(sides[0]))
    for relation, side in zip(chain.relations, sides[1:], strict=True):
        first, *rest = _pieces(side)
        pieces += [f"{relation} {first}", *rest]
    # A label that leaves too little room does not push the continuation lines with it.
    margin = cell_len(label) if cell_len(label) <= width // 3 else 2
    margin = max(margin, 2)
    line = label
    for number, piece in enumerate(_filled(pieces, cell_len(label), margin, width)):
        yield _styled(
            line + piece if number == 0 else " " * margin + piece, label if number == 0 else ""
        )


def _pieces(side: str) -> list[str]:
    """A side cut before each + and -, where it may be broken."""
    return re.split(r" (?=[+-] )", side)


def _filled(pieces: Sequence[str], start: int, margin: int, width: int) -> Iterator[str]:
    """Pieces put together to lines; a whole side that would fit on a line of its own gets one."""
    line, room = pieces[0], width - start
    for i, piece in enumerate(pieces[1:], 1):
        following = piece
        if piece[0] in "=≈":
            # Break before a relation rather than inside the side that it begins.
            j = i + 1
            while j < len(pieces) and pieces[j][0] not in "=≈":
                following += f" {pieces[j]}"
                j += 1
            if cell_len(following) > width - margin:
                following = piece
        # What follows a side that took several lines begins on a line of its own.
        after_broken_side = piece[0] in "=≈" and line[0] in "+-" and i > 1
        if cell_len(f"{line} {following}") <= room and not after_broken_side:
            line += f" {piece}"
        elif piece[0] in "=≈" or cell_len(f"{line} {piece}") > room:
            yield line
            line, room = piece, width - margin
        else:
            line += f" {piece}"
    yield line


def _styled(line: str, label: str) -> Text:
    styled = Text(line)
    styled.stylize(LABEL, 0, len(label))
    for sign in re.finditer("[=≈]", line[len(label) :]):
        styled.stylize(SIGN, len(label) + sign.start(), len(label) + sign.end())
    return styled


def _vector(vector: Vector) -> RenderableType:
    of = Text.assemble(" of ", _inline(vector.of)) if vector.of else Text()
    numbers = ", ".join(map(number_text, vector.numbers))
    line = Text.assemble(text(vector.symbol), of, " = ", (f"[{numbers}]", RESULT))
    return _indented([line], INDENT)


def _matrix(matrix: Matrix, width: int) -> RenderableType:
    """The matrix; in blocks of columns below each other where it is too wide."""
    columns = [_short(label) for label in matrix.columns]
    rows = [_short(label) for label in matrix.rows]
    cells = [_aligned([row[j] for row in matrix.cells]) for j in range(len(columns))]
    rows = [text(matrix.symbol), *rows]
    stub = [_padded(row, max(map(cell_len, rows))) for row in rows]
    grid = []
    for column, numbers in zip(columns, cells, strict=True):
        widest = max(map(cell_len, [column, *numbers]))
        grid.append([_padded(cell, widest, right=True) for cell in [column, *numbers]])
    lines: list[Text] = []
    for first, last in _fitting(
        [cell_len(column[0]) for column in grid], width - cell_len(stub[0])
    ):
        for i, row in enumerate(stub):
            entries = GAP.join(column[i] for column in grid[first:last])
            line = Text.assemble((row, LABEL if i else ""), GAP, (entries, "" if i else LABEL))
            line.rstrip()
            lines.append(_marked(line, i - 1 == matrix.marked))
        lines.append(Text())
    return _indented(lines[:-1], INDENT)


def _fitting(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside each other; one at least."""
    first, used = 0, 0
    for column, width in enumerate(widths):
        used += len(GAP) + width
        if used > room and column > first:
            yield first, column
            first, used = column, len(GAP) + width
    yield first, len(widths)


def _padded(cell: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space


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


def _table(table: Table) -> RenderableType:
    """Text in columns; only the last may be of any length."""
    columns = [
        [name, *(_short(row[j].text) for row in table.rows)]
        for j, name in enumerate(table.header[:-1])
    ]
    lines = []
    for i, last in enumerate([table.header[-1], *(row[-1].text for row in table.rows)]):
        cells = [_padded(column[i], max(map(cell_len, column))) for column in columns]
        line = Text(GAP.join([*cells, name_text(last)]), LABEL if i else SIGN)
        lines.append(_marked(line, i - 1 == table.marked))
    return _indented(lines, INDENT)


def _short(name: str) -> str:
    """A name that leaves room for numbers, its middle left out where it is too long."""
    whole = name_text(name)
    if cell_len(whole) <= LONGEST_NAME:
        return whole
    head = tail = ""
    half = (LONGEST_NAME - 1) // 2
    for c in whole:
        if cell_len(head + c) > half:
            break
        head += c
    for c in reversed(whole):
        if cell_len(c + tail) > half:
            break
        tail = c + tail
    return f"{head}…{tail}"
