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
from tracer.renderers.rows import (
    INDENT,
    LABEL,
    RESULT,
    SECTION,
    SIGN,
    TITLE,
    Row,
    cells,
    indented,
    padded,
    short,
    wrapped,
)
from tracer.renderers.tables import matrix_rows, table_rows
from tracer.renderers.text import name_text, number_text, text
from tracer.renderers.wrapping import wrapped as wrapped_chain
from tracer.scenario.rounding import trimmed

RELATION = re.compile("[=≈]")
WORKING_INDENT, LEAST_WIDTH, USUAL_WIDTH = 4, 40, 80


def show(lines: Iterable[Row]) -> None:
    """Print lines on standard output, in colour where that is a terminal that has some."""
    console = _console()
    if console.color_system is None:
        sys.stdout.write("".join(f"{line.plain}\n" for line in lines))
        return
    for line in lines:
        console.print(line.text(), crop=False)


def plain(document: Document, width: int | None = None) -> str:
    """A document as a terminal without colour shows it: one of `width` cells, or this one."""
    return "".join(f"{line.plain}\n" for line in laid_out(document, width))


def laid_out(document: Document, width: int | None = None) -> list[Row]:
    """A document in lines for a terminal of `width` cells, or for this one."""
    return list(_lines(document, _console().width if width is None else width))


def _console() -> Console:
    """The terminal; one that does not know its width, or says 0, is taken for a usual one."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = console.width or USUAL_WIDTH
    return console


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
            return matrix_rows(block, width)
        case Table():
            return table_rows(block, width)
        case Picture():
            return indented(map(Row, in_characters(block, width - INDENT)), INDENT)
        case _:
            assert_never(block)


def _inline(part: Inline) -> Text:
    match part:
        case str():
            return Text(part)
        case Name(name):
            return Text(f"“{name_text(name)}”", LABEL)
        case Percent(number):
            return Text(f"{number_text(Number(trimmed(number.value * 100)))} %", RESULT)
        case Number():
            return Text(number_text(part), RESULT)
        case Reference(number):
            return Text(f"step {number}")
        case _:
            return Text(text(part))


def _working(working: Working, width: int) -> Iterable[Row]:
    """Worked lines, their labels shortened further where they leave too little room."""
    room = width - WORKING_INDENT
    lines = _labelled(working, width // 4, room)
    if any(cells(line.plain) > room for line in lines):
        lines = _labelled(working, width // 8, room)
    return indented(lines, WORKING_INDENT)


def _labelled(working: Working, most: int, room: int) -> list[Row]:
    """Worked lines behind labels of at most so many cells."""
    labels = [
        "" if line.label is None else f"{short(line.label, most)}: " for line in working.lines
    ]
    longest = max(map(cells, labels))
    return [
        row
        for label, line in zip(labels, working.lines, strict=True)
        for row in _chain(line.chain, padded(label, longest), room)
    ]


def _arrows(steps: Sequence[str], width: int) -> Iterator[Row]:
    """Steps below each other, each with an arrow to it, what is broken off behind the arrow."""
    for i, step in enumerate(steps):
        arrow = "→ " if i else ""
        for row in wrapped(Text(step), width - len(arrow)):
            yield Row(arrow + row.plain)
            arrow = " " * len(arrow)


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
