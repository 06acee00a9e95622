"""Reads the pages of a terminal without color as blocks: headings, formulas, tables, lines.

Judges of continuity and of agreement ask it what stands where; it shares no code with the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from rich.cells import cell_len

from tests.helpers.truth import Worked, worked

NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|∞)"
_OF_A_FORMULA = re.compile(r"(?<![\w.⁻])[0-9]+(?:\.[0-9]+)?(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?![\w.])")
_SHAPE = re.compile(r" \([0-9]+(?: ?× ?[0-9]+)*\)")
OF_ENCODER = "ᴱ"
_MARK = "▸"  # may stand before the row that is followed


_RULE = re.compile("[─═]+")
_BAR = re.compile(rf"  (?P<label>\S.*?) {{2,}}(?P<number>{NUMBER}) *[▐█▕]*│[█▌▏]*$")
_OPERATOR = re.compile("  ([·+=]|/ [^ ]+)(?=  )")


@dataclass(frozen=True)
class Prose:
    text: str


@dataclass(frozen=True)
class Formula:
    left: str
    right: str

    @property
    def constants(self) -> set[str]:
        found = _OF_A_FORMULA.findall(self.right)
        return {*found, *(f"-{number}" for number in found if f"(-{number}, " in self.right)}


@dataclass(frozen=True)
class Heading:
    text: str
    formula: Formula | None = None  # of all lines of its step, where it is the only one


@dataclass(frozen=True)
class Table:
    symbol: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # labels and numbers
    followed: int | None = None  # the row that is marked, counted from 0


@dataclass(frozen=True)
class Lines:
    """Worked lines that stand together."""

    lines: tuple[Worked, ...]


Block = Heading | Prose | Formula | Table | Lines


@lru_cache(maxsize=8)
def worked_lines(text: str) -> tuple[Worked, ...]:
    return tuple(worked(text))


def read_blocks(text: str) -> list[Block]:
    by_number = {line.line: line for line in worked_lines(text)}
    found: list[Block] = []
    for first, lines in _paragraphs(text):
        for part in _side_by_side(lines):
            block = _block(first, part, by_number)
            if isinstance(block, Table) and found and (whole := unfolded(found[-1], block)):
                found[-1] = whole
            elif block is not None:
                found.append(block)
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, list[str]]]:
    """What stands between empty lines, with the number of its first line."""
    start = 0
    lines: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            start = start if lines else number
            lines.append(line)
        elif lines:
            yield start, lines
            lines = []


def _block(first: int, lines: list[str], by_number: dict[int, Worked]) -> Block | None:
    if _RULE.fullmatch(lines[-1]):
        return _heading(lines[:-1])
    joined = " ".join(line.strip() for line in lines)
    if not lines[0].startswith(" "):
        return Prose(joined)
    if re.match(" {4}[^ ]", lines[0]):
        here = range(first, first + len(lines))
        return Lines(tuple(by_number[number] for number in here if number in by_number))
    goes_on = all(line.startswith(" " * 6) for line in lines[1:])
    if (" = " in joined or goes_on) and "  " not in lines[0].strip():
        return read_formula(joined)
    return _table(lines)


def read_formula(written: str) -> Formula:
    """`x = y`, or only what the lines below work out: `r - μ`."""
    left, _, right = _SHAPE.sub("", written).partition(" = ")
    return Formula(left, right or left)


def _heading(lines: list[str]) -> Heading:
    """A title over its rule, at its right the formula of its step, if it has one there."""
    title, *formula = re.split(" {2,}", " ".join(lines))
    return Heading(title, read_formula(formula[0]) if formula else None)


def _side_by_side(lines: list[str]) -> list[list[str]]:
    """The tables of `X · W = Q` beside each other; lines that are none of that stay as they are.

    An operator stands on the row of the symbols, with nothing below it.
    """
    header = lines[0]
    at = [(m.start() + 2, m.end()) for m in _OPERATOR.finditer(header)]
    places = [(cell_len(header[:a]), cell_len(header[:b])) for a, b in at]
    operators = [
        (a, b) for a, b in places if not any(_between(line, a, b).strip() for line in lines[1:])
    ]
    is_equation = header.startswith("  ") and any(_between(header, *o) == "=" for o in operators)
    if not is_equation or len(lines) == 1:
        return [lines]
    starts, ends = [0, *(b for _, b in operators)], [*(a for a, _ in operators), None]
    parts = [
        [part for line in lines if (part := _between(line, a, b)).strip(f" {_MARK}")]
        for a, b in zip(starts, ends, strict=True)
    ]
    return [part for part in parts if part]


def _between(line: str, first: int, last: int | None) -> str:
    """What stands in these cells of a line; 日 takes two."""
    ends = list(accumulate(map(cell_len, line)))
    return "".join(c for c, end in zip(line, ends, strict=True) if first < end <= (last or end))


def _table(lines: list[str]) -> Table | None:
    """A matrix; None for a table of words, whose header begins with a word: positions, words.

    A row without a name has the symbol for one, and nothing over it. Signed bars are the parts c of
    a sum.
    """
    if bars := [match for line in lines if (match := _BAR.match(line))]:
        return Table("c", ("",), tuple((bar["label"], (bar["number"],)) for bar in bars))
    if lines[0].startswith("   ") and len(lines) == 2:
        lines = [f"  {_cells(lines[1])[0]}  {lines[0].strip()}", lines[1]]
    header, *rows = [_cells(line) for line in lines]
    marked = [i for i, line in enumerate(lines[1:]) if line.startswith(_MARK)]
    if re.fullmatch("[a-z]{2,}", header[0]):
        return None
    numbers = tuple((row[0], as_numbers(row[1:])) for row in rows)
    return Table(header[0], tuple(header[1:]), numbers, marked[0] if marked else None)


def _cells(line: str) -> list[str]:
    return re.split(" {2,}", line.strip().removeprefix(_MARK).strip())


def as_numbers(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(cell for cell in cells if re.fullmatch(NUMBER, cell))


def unfolded(before: Block, table: Table) -> Table | None:
    """Both as one, if the table goes on with the columns of the one before."""
    if not isinstance(before, Table) or before.symbol != table.symbol:
        return None
    if [label for label, _ in before.rows] != [label for label, _ in table.rows]:
        return None
    rows = tuple(
        (label, left + right)
        for (label, left), (_, right) in zip(before.rows, table.rows, strict=True)
    )
    return Table(table.symbol, before.columns + table.columns, rows, table.followed)


def split_steps(blocks: list[Block]) -> list[list[Block]]:
    """The blocks up to the first heading, and those from each heading on."""
    steps: list[list[Block]] = [[]]
    for block in blocks:
        if isinstance(block, Heading):
            steps.append([])
        steps[-1].append(block)
    return steps


def title_of(step: list[Block]) -> str:
    return step[0].text if step and isinstance(step[0], Heading) else ""
