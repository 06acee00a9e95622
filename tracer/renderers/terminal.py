"""Documents on a terminal: worked lines that wrap before = and +, matrices that fit the width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
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
    Section,
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
INDENT, WORKING_INDENT, GAP = 2, 4, "  "
LONGEST_NAME = 24
"""Longer names are shortened beside numbers; the table of tokens has them whole."""


def render(document: Document, console: Console) -> None:
    """Print a document at the console's width."""
    width = max(console.width, 40)
    _write(_paragraph(Text(name_text(document.title), TITLE), width), console)
    for block in document.introduction:
        _print(block, width, console)
    for section in document.sections:
        _print_section(section, width, console)


def show(document: Document) -> None:
    """Print a document on standard output, in colour where that is a terminal."""
    render(document, Console(highlight=False, markup=False, emoji=False))


def plain(document: Document, width: int | None = None) -> str:
    """A document as a terminal without colour shows it: one of `width` cells, or this one."""
    console = Console(
        force_terminal=False, color_system=None, markup=False, emoji=False, width=width
    )
    with console.capture() as captured:
        render(document, console)
    return captured.get()


def _print_section(section: Section, width: int, console: Console) -> None:
    number = "" if section.number is None else f"{section.number}. "
    title = Text(f"{number}{section.title}", SECTION)
    _write(_paragraph(title, width), console)
    for block in section.blocks:
        _print(block, width, console)


def _print(block: Block, width: int, console: Console) -> None:
    _write(_rendered(block, width), console)


def _write(lines: RenderableType, console: Console) -> None:
    # What is too wide for the terminal is folded by the terminal itself, never cut.
    console.print(lines, crop=False)
    console.print()


def _rendered(block: Block, width: int) -> RenderableType:
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
    """Lines that are broken already: where a terminal is too narrow, it folds them itself."""
    margin = " " * by
    return Group(
        *(
            Text.assemble(margin if line else "", line, no_wrap=True, overflow="ignore")
            for line in lines
        )
    )


def _working(working: Working, width: int) -> RenderableType:
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


def _vector(vector: Vector, width: int) -> RenderableType:
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


def _matrix(matrix: Matrix, width: int) -> RenderableType:
    """The matrix; in blocks of columns below each other where it is too wide."""
    columns = [_short(label, width // 3) for label in matrix.columns]
    rows = [_short(label, width // 3) for label in matrix.rows]
    cells = [_aligned([row[j] for row in matrix.cells]) for j in range(len(columns))]
    rows = [text(matrix.symbol), *rows]
    stub = [_padded(row, max(map(cell_len, rows))) for row in rows]
    grid = []
    for column, numbers in zip(columns, cells, strict=True):
        widest = max(map(cell_len, [column, *numbers]))
        grid.append([_padded(cell, widest, right=True) for cell in [column, *numbers]])
    lines: list[Text] = []
    room = width - INDENT - cell_len(stub[0])
    for first, last in _fitting([cell_len(column[0]) for column in grid], room):
        for i, row in enumerate(stub):
            line = Text.assemble((row, LABEL if i else ""))
            for j in range(first, last):
                line.append(GAP)
                shade = _shade(matrix.cells[i - 1][j]) if i and matrix.figure else ""
                line.append(grid[j][i], shade if i else LABEL)
            line.rstrip()
            lines.append(_marked(line, i - 1 == matrix.marked))
        lines.append(Text())
    return _indented(lines[:-1], INDENT)


def _shade(share: Number) -> str:
    """A cell of a heat map: the larger the share, the deeper its blue."""
    light = 255 - round(170 * min(max(float(share.value), 0), 1))
    return f"black on rgb({light},{light},255)" if share.value else ""


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


def _table(table: Table, width: int) -> RenderableType:
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
        for part in Text(shown).wrap(Console(width=room), room, overflow="fold"):
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
