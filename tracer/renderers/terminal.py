"""Documents on a terminal of any width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import assert_never

from rich.console import Console
from rich.text import Text

from tracer.formula.expression import Chain, Number
from tracer.lesson import document as doc
from tracer.names import name_text, visible
from tracer.renderers.palette import NAME, RESULT, RULE, SECTION, TITLE
from tracer.renderers.picture.characters import in_characters
from tracer.renderers.products import SIDE_BY_SIDE, Board, bare, equation, equation_rows
from tracer.renderers.rows import GAP, INDENT, Row, cells, indented, padded, wrapped
from tracer.renderers.tables import matrix_rows, table_rows
from tracer.renderers.text import in_percent, one_line, text
from tracer.renderers.working import formula_rows, working_rows

LEAST_WIDTH, USUAL_WIDTH, MEASURE = 40, 80, 100
"""Cells: of the narrowest screen, of one that does not tell, of the longest line of prose."""

JOINT, PART_RULE, STEP_RULE = " · ", "═", "─"
"""Between the pieces of a title; under the title of a part and of a step."""


def plain(document: doc.Document, width: int | None = None, *, titles: bool = True) -> str:
    """A document without color, for a terminal of `width` cells or this one."""
    return "".join(f"{line.plain}\n" for line in laid_out(document, width, titles=titles))


def laid_out(document: doc.Document, width: int | None = None, *, titles: bool = True) -> list[Row]:
    """The lines of a document, for a terminal of `width` cells or this one."""
    console = _console()
    colored = console.color_system is not None
    document = doc.without_illustrations(document)
    width = max(width or console.width, LEAST_WIDTH)
    return list(_lines(document, width, colored) if titles else _untitled(document, width, colored))


def shown(lines: Iterable[Row]) -> str:
    """The lines for standard output, colored if that is a terminal with colors."""
    console = _console()
    if console.color_system is None:
        return "".join(f"{line.plain}\n" for line in lines)
    with console.capture() as captured:
        for line in lines:
            console.print(line.text(), crop=False)
    return captured.get()


def _console() -> Console:
    """The terminal, of the usual width if it reports none."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = console.width or USUAL_WIDTH
    return console


def _lines(document: doc.Document, width: int, colored: bool) -> Iterator[Row]:
    """The lines of a document, with an empty one after each block."""
    yield from wrapped(Text(name_text(document.title), TITLE), min(width, MEASURE))
    yield Row()
    for block in document.introduction:
        yield from _rendered(block, width, colored)
        yield Row()
    board: Board = {}
    parted = any(section.part for section in document.sections)
    titles = _part_titles(document.sections)
    for i, (section, part) in enumerate(zip(document.sections, titles, strict=True)):
        if i:
            yield Row()
        if part is not None:
            yield from _heading(part, PART_RULE, min(width, MEASURE))
            yield Row()
        rule = PART_RULE if parted and section.part is None else STEP_RULE
        yield from _section(section, rule, width, colored, board)


def _untitled(document: doc.Document, width: int, colored: bool) -> Iterator[Row]:
    """The lines of all blocks, with an empty one after each."""
    for blocks in (document.introduction, *(section.blocks for section in document.sections)):
        for block in blocks:
            yield from _rendered(block, width, colored)
            yield Row()


def _section(
    section: doc.Section, rule: str, width: int, colored: bool, board: Board
) -> Iterator[Row]:
    """A step: its title, beside it the formula if it is the only one and fits, and its blocks."""
    formulas = [block for block in section.blocks if isinstance(block, doc.Formula)]
    only = formulas[0].chain if len(formulas) == 1 else None
    title, measure = _title(section), min(width, MEASURE)
    beside = only is not None and cells(title + GAP + one_line(only)) <= measure
    yield from _heading(title, rule, measure, only if beside else None)
    yield Row()
    blocks = [block for block in section.blocks if not (beside and block in formulas)]
    for rows in _rows_of(blocks, only, width, colored, board):
        yield from rows
        yield Row()
    board.update((bare(block.symbol), block) for block in blocks if isinstance(block, doc.Matrix))


def _title(section: doc.Section) -> str:
    """`7 · Head 1 · Attention scores`."""
    number = [section.counted] if section.counted else []
    return JOINT.join([*number, *(section.within or (section.title,))])


def _part_titles(sections: Sequence[doc.Section]) -> Iterator[str | None]:
    """The title of the part that begins with each section, or None.

    A part has a title if there are several, or if it says more than the titles of its steps.
    """
    for _, group in groupby(sections, lambda section: section.part is None):
        together = list(group)
        silent = (s.within and s.title != JOINT.join(s.within) for s in together)
        parted = len({section.part for section in together}) > 1 or any(silent)
        before = None
        for section in together:
            yield section.part if parted and section.part != before else None
            before = section.part


def _heading(title: str, rule: str, width: int, formula: Chain | None = None) -> Iterator[Row]:
    """A title and a rule, with a formula at the right if there is one."""
    *above, last = (row.stylize(SECTION) for row in wrapped(title, width))
    yield from above
    if formula is not None:
        shown = one_line(formula)
        last.plain = padded(last.plain, width - cells(shown)) + shown
    yield last
    yield Row(rule * width, RULE)


def _rows_of(
    blocks: Sequence[doc.Block], formula: Chain | None, width: int, colored: bool, board: Board
) -> Iterator[Iterable[Row]]:
    """The rows of each block; on a wide terminal the matrices of the formula side by side."""
    parts = equation(formula, blocks, board) if formula and width >= SIDE_BY_SIDE else None
    whole = equation_rows(parts, width) if parts else None
    for block in blocks:
        if parts is None or whole is None or not any(block is part for part in parts):
            yield _rendered(block, width, colored)
        elif whole:
            yield whole
            whole = []


def _rendered(block: doc.Block, width: int, colored: bool) -> Iterable[Row]:
    match block:
        case doc.Paragraph(parts):
            return wrapped(Text.assemble(*(_inline(part) for part in parts)), min(width, MEASURE))
        case doc.Formula(chain):
            return formula_rows(chain, width)
        case doc.Working():
            return working_rows(block, width, colored=colored)
        case doc.Matrix():
            return matrix_rows(block, width, colored=colored)
        case doc.Table():
            return table_rows(block, width)
        case doc.Listing(lines):
            return indented(map(_code, lines), INDENT)
        case doc.Picture():
            return indented(map(Row, in_characters(block, width - INDENT)), INDENT)
        case doc.Curve():
            from tracer.renderers import curve

            return indented(map(Row, curve.in_characters(block, width - INDENT)), INDENT)
        case doc.Bars():
            from tracer.renderers import bars

            return indented(bars.in_characters(block, width - INDENT), INDENT)
        case doc.Illustration():
            return ()
        case _:
            assert_never(block)


def _code(line: str) -> Row:
    """A line of code; the name that it assigns to stands out."""
    name, assigns, _ = line.partition(" = ")
    return Row(line).stylize(RESULT, 0, len(name) if assigns else 0)


def _inline(part: doc.Inline) -> Text:
    match part:
        case str():
            return Text(part)
        case doc.Plain(words):
            return Text(visible(words))
        case doc.Code(code):
            return Text(name_text(code), NAME)
        case doc.Emphasis(parts, strong):
            inner = Text.assemble(*(_inline(each) for each in parts))
            inner.stylize("bold" if strong else "italic")
            return inner
        case doc.Name(name):
            return Text(f"“{name_text(name)}”", NAME)
        case doc.Percent():
            return Text(f"{text(in_percent(part))} %", RESULT)
        case Number():
            return Text(text(part), RESULT)
        case doc.Reference(number):
            return Text(f"step {number}")
        case _:
            return Text(text(part))
