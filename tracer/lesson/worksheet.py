"""A text with numbers left out, to be worked out by the reader; and the key to it.

What a line comes to is left out, from level 2 on also what stands on the way to it, such as its
products; at level 3 the matrix of one step too. All can be filled in, in the order of the text: a
number is left out only if it first stands where it is worked out, and what is put in there stands
above, or is a blank above.

Nothing that is left out stands elsewhere: a number that comes again, in a matrix, in a sentence or
put into a later line, is the same blank. So is one that is only taken over, such as a score behind
the mask (`alike` says which). A number that is printed with different digits at different places
is not left out, nor is what a curve shows. What can be found by calculating back, such as a term
from the others and the sum, is not hidden; nor is the order of numbers that a sentence tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tracer.decoder.value import Form
from tracer.errors import Problem, TracerError
from tracer.lesson.alike import Alike, Name
from tracer.lesson.document import (
    Block,
    Document,
    Line,
    Matrix,
    Paragraph,
    Section,
    Sentence,
    Table,
    Working,
)
from tracer.lesson.expression import Blank, Chain, Expression, Number
from tracer.node import Node, found, rewritten

RESULTS, PRODUCTS, MATRIX = 1, 2, 3
"""The levels: what is left out, beside what is at those below."""

SHARE = 0.5
"""Of the lines, so many are chosen on average."""

HOW: Sentence = (
    "Here numbers are left out, and each blank has a number. A number that stands at several "
    "places has the same blank at each of them; before the sign % it is taken times a hundred. "
    "All can be filled in, in the order of the text.",
)
TO_FILL_IN: Sentence = ("What belongs in each blank, there where it is worked out.",)


def worksheet(document: Document, level: int, seed: int) -> Document:
    """The document with blanks; the same level and seed, the same blanks.

    Raises:
        TracerError: there is nothing to leave out.
    """
    sheet = _Sheet(document, level, seed)
    sections = tuple(sheet.section(i, section) for i, section in enumerate(document.sections))
    if not sheet.blanks:
        raise TracerError(Problem("no line here has a result to leave out", address="--blanks"))
    which = f" Level {level}, seed {seed}."
    introduction = (Paragraph((*HOW, which)), *document.introduction)
    return Document(document.scenario, document.title, introduction, sections, document.whole)


def key(sheet: Document) -> Document:
    """What belongs in the blanks of a worksheet: the lines and matrices in which each stands first.

    There the blanks are filled.
    """
    met = set[int]()
    filled = [replace(s, blocks=tuple(_filled(s.blocks, met))) for s in sheet.sections]
    how = sheet.introduction[0]
    assert isinstance(how, Paragraph)
    introduction = (Paragraph((*TO_FILL_IN, how.parts[-1])),)
    sections = tuple(section for section in filled if section.blocks)
    return Document(sheet.scenario, f"Key: {sheet.title}", introduction, sections, sheet.whole)


class _Sheet:
    """What is left out of a document, which is read once, section after section."""

    def __init__(self, document: Document, level: int, seed: int) -> None:
        self.level = level
        self.alike = Alike(document)
        self.drawn = Random(f"worksheet {seed}").random
        self.step = self._step(document.sections, seed) if level >= MATRIX else None
        """The section whose matrix is left out."""
        self.blanks = 0
        self.left_out = dict[Name, int]()
        """The blank of each number."""
        self.stands = set[Name]()
        """The numbers that stand already."""
        self.here = dict[str, int]()
        """What belongs in the blanks of this section: sentences tell of parts of its lines."""

    def section(self, at: int, section: Section) -> Section:
        """A section with its blanks."""
        self.here = {}
        whole = at == self.step
        return replace(section, blocks=tuple(self._block(b, whole) for b in section.blocks))

    def _block(self, block: Block, whole: bool) -> Block:
        match block:
            case Working(lines):
                return Working(tuple(self._line(line, whole) for line in lines))
            case Matrix() if whole:
                of_step = {i for i, _ in _rows(block)}
                cells = tuple(
                    rewritten(row, Number, self._worked_out if i in of_step else self._again)
                    for i, row in enumerate(block.cells)
                )
                return replace(block, cells=cells)
            case _:
                is_told = isinstance(block, Paragraph | Table)
                same: Block = rewritten(block, Number, self._told if is_told else self._again)
                return same

    def _line(self, line: Line, whole: bool) -> Line:
        """A line; if it is chosen, without what it comes to."""
        chain = line.chain
        put_in, worked = _parts(chain)
        chosen = self.drawn() < SHARE or whole
        sides = [self._unchosen(side) for side in chain.sides[: put_in + 1]]
        result = chain.sides[-1]
        if not (chosen and put_in < worked < len(chain.sides) and self._may_go(result)):
            sides += [self._unchosen(side) for side in chain.sides[put_in + 1 :]]
            return Line(line.label, Chain(tuple(sides), chain.relations))
        for at in range(put_in + 1, len(chain.sides)):
            side = chain.sides[at]
            goes = at >= worked or self.level >= PRODUCTS
            written = self._follows(chain.sides[at - 1], sides[-1], side) if goes else None
            sides.append(written or self._unchosen(side))
        return Line(line.label, Chain(tuple(sides), chain.relations))

    def _follows(self, before: Any, written: Any, side: Any) -> Any:
        """A side without the numbers that are new in it, beside the one before and its blanks."""
        match before, side:
            case Number(), Number() if str(before.value) == str(side.value):
                return written
            case _, Number():
                return self._worked_out(side)
            case tuple(), tuple() if len(before) == len(side):
                return tuple(map(self._follows, before, written, side))
            case Node(), Node() if type(before) is type(side):
                names = side.__match_args__
                each = ([getattr(node, name) for name in names] for node in (before, written, side))
                return type(side)(*map(self._follows, *each))
            case _:
                return self._unchosen(side)

    def _unchosen(self, part: Any) -> Any:
        return rewritten(part, Number, self._again)

    def _again(self, number: Number) -> Number | Blank:
        """A number where it is not worked out: left out, if it is elsewhere."""
        one = self.alike.one(number)
        if one in self.left_out:
            return Blank(self.left_out[one], number)
        if one is not None:
            self.stands.add(one)
        return number

    def _told(self, number: Number) -> Number | Blank:
        """A number in a sentence or a table: also one that is only written in a line."""
        if number.entry is None and str(number.value) in self.here:
            return Blank(self.here[str(number.value)], number)
        return self._again(number)

    def _worked_out(self, number: Number) -> Number | Blank:
        """A number where it is worked out: a new blank, if it does not stand already."""
        one = self.alike.one(number)
        if one in self.left_out or not (self._may_go(number) or number.entry is None):
            return self._again(number)
        self.blanks += 1
        self.here[str(number.value)] = self.blanks
        if one is not None:
            self.left_out[one] = self.blanks
        return Blank(self.blanks, number)

    def _may_go(self, number: Expression) -> bool:
        """Whether a number can be left out here."""
        if not isinstance(number, Number):
            return False
        one = self.alike.one(number)
        return one is not None and one not in self.stands and self.alike.is_printed_alike(one)

    def _step(self, sections: Sequence[Section], seed: int) -> int | None:
        """One of the sections with a matrix that can be left out, if there are any."""
        with_matrix = [i for i, s in enumerate(sections) if any(self._is_worked(s, i))]
        if not with_matrix:
            return None
        return with_matrix[int(Random(f"step {seed}").random() * len(with_matrix))]

    def _is_worked(self, section: Section, at: int) -> Iterator[bool]:
        """Of each matrix, whether its lines stand above it, and the numbers of the rest do not."""
        lines = found(section.blocks, Line)
        results = {
            self.alike.one(n) for line in lines for n in found(line.chain.sides[-1:], Number)
        }
        for matrix in found(section.blocks, Matrix):
            every = [number for _, row in _rows(matrix) for number in found(row, Number)]
            numbers = list(map(self.alike.one, every))
            lines_of = matrix.cells if matrix.marked is None else (matrix.cells[matrix.marked],)
            yield (
                all(
                    one and self.alike.is_printed_alike(one) and self.alike.begins(one) == at
                    for one in numbers
                )
                and {self.alike.one(number) for number in found(lines_of, Number)} <= results
            )


def _parts(chain: Chain) -> tuple[int, int]:
    """Which side is the first with numbers, and which the first of those that are one number."""
    sides = chain.sides
    put_in = next((i for i, side in enumerate(sides) if any(found(side, Number))), len(sides))
    worked = len(sides)
    while worked and isinstance(sides[worked - 1], Number):
        worked -= 1
    return put_in, worked


def _rows(matrix: Matrix) -> Iterator[tuple[int, tuple[Number | Blank, ...]]]:
    """The rows that can be worked out as the lines are, with their places.

    Where numbers are rounded for print only, other rows need digits that nobody sees.
    """
    for i, row in enumerate(matrix.cells):
        rounded = [
            n.origin is None or n.origin.form is Form.AS_THEY_ARE for n in found(row, Number)
        ]
        if matrix.marked in (None, i) or all(rounded):
            yield i, row


def _filled(blocks: Sequence[Block], met: set[int]) -> Iterator[Block]:
    """The lines and the matrices with a blank that was not met before."""
    for block in blocks:
        if isinstance(block, Working):
            lines = [line for line in block.lines if _begins(line, met)]
            if lines:
                yield Working(tuple(_with_answers(line, met) for line in lines))
        elif isinstance(block, Matrix) and _begins(block, met):
            yield _with_answers(replace(block, figure=None), met)


def _begins(part: Node, met: set[int]) -> bool:
    return any(blank.number not in met for blank in found(part, Blank))


def _with_answers(part: Any, met: set[int]) -> Any:
    """A part with numbers in its blanks; those met for the first time keep theirs beside them."""

    def answer(blank: Blank) -> Number | Blank:
        if blank.number in met:
            return blank.answer
        met.add(blank.number)
        return replace(blank, filled=True)

    return rewritten(part, Blank, answer)
