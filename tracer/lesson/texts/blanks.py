"""A worksheet: exercises with numbers left out, and questions about understanding; and its key.

The levels, from the easiest: small whole numbers and one head (1), results of lines (2), also what
stands on the way to them, such as products (3), also the matrix of one step (4), whole lines (5),
also formulas and what stands between: only the goal of a step is given (6).

Two rules say which numbers can be left out:

- Each can be worked out, in the order of the text. A number gets a new blank only in a line that
  computes it from what stands above, or is a blank above, and only if it does not stand already.
- None stands elsewhere. Wherever it comes again, in a matrix, in a sentence or put into a line, is
  the same blank; also where it is only taken over, as a score behind the mask (`alike` says which),
  or is carried on in a line, times 1 or plus 0. What is printed with different digits at different
  places is not left out, nor what a curve shows.

What can be found by calculating back, such as a term from the others and the sum, is not hidden;
nor is the order of numbers that a sentence states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tracer.decoder.value import Form
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Blank, Chain, Expression, Number
from tracer.lesson import document as doc
from tracer.lesson.texts.equal_numbers import EqualNumbers, Name
from tracer.node import Node, found, rewritten

WHOLE_NUMBERS, RESULTS, PRODUCTS, MATRIX, LINES, GOALS = range(1, 7)
"""The levels."""

SHARE = 0.75
"""Of the lines, so many are chosen on average."""
MOST_BLANKS = 5
"""In an exercise with so many blanks, no further line is chosen."""

HOW: doc.Sentence = (
    "Fill in the missing numbers, in the order of the text. Each blank is numbered and shows how "
    "many decimals it takes. The same number has the same blank wherever it occurs.",
)
OF_PERCENT: doc.Sentence = (" Before a % sign, multiply it by 100.",)
WITHOUT_LINES: doc.Sentence = (
    " Work on paper: each blank is what a line of the calculation comes to.",
)
ONLY_GOALS: doc.Sentence = (
    " Work on paper, step by step, from the numbers that an exercise shows. The last digit of a "
    "result can depend on where you round.",
)
TO_FILL_IN: doc.Sentence = (
    "The lines of each exercise, with the number for each blank at the place where it is computed.",
)
WHAT_IF = "What if?"


def with_blanks(document: doc.Document, level: int, seed: int) -> doc.Document:
    """Return the document with blanks; the same level and seed, the same blanks.

    It begins with how they are filled in, and with what the key is known by.

    Raises:
        TracerError: there is nothing to leave out.
    """
    document = doc.without_illustrations(document)  # which show the answers
    sheet = _Sheet(document, level, seed)
    opening = tuple(map(sheet.block, document.introduction))
    sections = tuple(sheet.section(i, section) for i, section in enumerate(document.sections))
    if not sheet.blanks:
        raise TracerError(
            Problem("nothing to leave out: no worked line here has a result", address="--blanks")
        )
    more = {LINES: WITHOUT_LINES, GOALS: ONLY_GOALS}.get(level, ())
    which = doc.Paragraph((f"Level {level}, seed {seed}.",))
    percent = any(found(each, Blank) for each in found((opening, sections), doc.Percent))
    how: doc.Sentence = (*HOW, *(OF_PERCENT if percent else ()), *more)
    introduction = (doc.Paragraph(how), which, *opening)
    return replace(document, introduction=introduction, sections=sections)


class _Sheet:
    """What is left out of a document, which is read once, section after section."""

    def __init__(self, document: doc.Document, level: int, seed: int) -> None:
        self.level = level
        self.alike = EqualNumbers(document)
        self.drawn = Random(f"worksheet {seed}").random
        self.step = self._step(document.sections, seed) if level == MATRIX else None
        """The section whose matrix is left out."""
        self.blanks = 0
        self.left_out = dict[Name, int]()
        """The blank of each number."""
        self.stands = set[Name]()
        """The numbers that stand already."""
        self.before = 0
        """The blanks before this section."""
        self.here = dict[str, int]()
        """The blanks in the lines of this section, by their digits: sentences tell of them."""
        self.is_whole = False
        """Whether each line of this section is left out."""
        self.has_matrix = False
        """Whether the matrix of this section is left out, and each line of its row."""
        self.chosen: Iterator[bool] = iter(())
        """Whether each next line of this section is left out, if not every one is."""
        self.last: doc.Working | None = None
        """The last calculation of this section."""
        self.put_in = dict[str, int]()
        """The blanks that a line puts in, by their digits."""

    def section(self, at: int, section: doc.Section) -> doc.Section:
        self.here, self.before = {}, self.blanks
        asks = section.title != WHAT_IF and any(found(section.blocks, doc.Question))
        self.is_whole = asks or self.level >= LINES
        workings = [block for block in section.blocks if isinstance(block, doc.Working)]
        self.chosen = iter(self._chosen([line for each in workings for line in each.lines]))
        self.last = workings[-1] if workings else None
        self.has_matrix = at == self.step
        blocks = list[doc.Block]()
        for block in section.blocks:
            whole = self.has_matrix and any(isinstance(b, doc.Working) for b in blocks)
            blocks.append(self.block(block, whole))
        return replace(section, blocks=tuple(blocks))

    def _chosen(self, lines: Sequence[doc.Line]) -> list[bool]:
        """Choose lines of a section, at least one that has a result."""
        chosen = [self.drawn() < SHARE for _ in lines]
        have = [i for i, line in enumerate(lines) if _has_result(line.chain)]
        if have and not any(chosen[i] for i in have):
            chosen[have[int(self.drawn() * len(have))]] = True
        return chosen

    def block(self, block: doc.Block, whole: bool = False) -> doc.Block:
        match block:
            case doc.Working(lines):
                if self.level >= GOALS and block is not self.last:
                    return block  # it is not on the sheet
                every = self.is_whole or (self.has_matrix and block is self.last)
                return doc.Working(tuple(self._line(line, every) for line in lines))
            case doc.Question():
                return block
            case doc.Matrix() if whole:
                of_step = {i for i, _ in _rows(block)}
                cells = tuple(
                    rewritten(row, Number, self._worked_out if i in of_step else self._again)
                    for i, row in enumerate(block.cells)
                )
                return replace(block, cells=cells)
            case _:
                is_told = isinstance(block, doc.Paragraph | doc.Table)
                same: doc.Block = rewritten(block, Number, self._told if is_told else self._again)
                return same

    def _line(self, line: doc.Line, every: bool) -> doc.Line:
        """A line; if it is chosen, or `every` line is, without what it comes to."""
        chain = line.chain
        put_in, worked = _parts(chain)
        has_room = self.blanks - self.before < MOST_BLANKS
        drawn = every or (next(self.chosen) and has_room)
        sides = [rewritten(side, Number, self._again) for side in chain.sides[: put_in + 1]]
        chosen = drawn and _has_result(chain) and self._may_go(chain.sides[-1])
        self.put_in = _carried_on(sides[-1])
        first = worked
        if self.level >= LINES:
            first = len(chain.sides) - 1
        elif self.level >= PRODUCTS and not every:
            first = put_in + 1
        for at in range(put_in + 1, len(chain.sides)):
            side = chain.sides[at]
            goes = chosen and at >= first
            written = self._follows(chain.sides[at - 1], sides[-1], side) if goes else None
            sides.append(written or rewritten(side, Number, self._carried))
        return doc.Line(line.label, Chain(tuple(sides), chain.relations))

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
                return rewritten(side, Number, self._carried)

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

    def _carried(self, number: Number) -> Number | Blank:
        """A number further on in a line: what is put in times 1, plus 0, is the same blank."""
        if (blank := self.put_in.get(str(number.value))) and self._can_be_new(number):
            return self._left_out(number, blank)
        return self._again(number)

    def _worked_out(self, number: Number) -> Number | Blank:
        """A number where it is worked out: a new blank, if it does not stand already."""
        if not self._can_be_new(number):
            return self._again(number)
        self.blanks += 1
        return self._left_out(number, self.blanks)

    def _left_out(self, number: Number, blank: int) -> Blank:
        one = self.alike.one(number)
        if one is not None:
            self.left_out[one] = blank
        self.here[str(number.value)] = blank
        return Blank(blank, number)

    def _can_be_new(self, number: Number) -> bool:
        """Whether a number is only written in a line, or stands here first."""
        is_left_out = self.alike.one(number) in self.left_out
        return number.entry is None or (self._may_go(number) and not is_left_out)

    def _may_go(self, number: Expression) -> bool:
        one = self.alike.one(number) if isinstance(number, Number) else None
        return one is not None and one not in self.stands and self.alike.is_printed_alike(one)

    def _step(self, sections: Sequence[doc.Section], seed: int) -> int | None:
        """One of the sections with a matrix that can be left out, if there are any."""
        can = [i for i, section in enumerate(sections) if self._can_go_whole(section, i)]
        return can[int(Random(f"step {seed}").random() * len(can))] if can else None

    def _can_go_whole(self, section: doc.Section, at: int) -> bool:
        """Whether a matrix first stands here, below the lines for it."""
        ends = tuple(line.chain.sides[-1] for line in found(section.blocks, doc.Line))
        results = {self.alike.one(number) for number in found(ends, Number)}
        for matrix in found(section.blocks, doc.Matrix):
            lines_of = matrix.cells if matrix.marked is None else matrix.cells[matrix.marked]
            numbers = [number for _, row in _rows(matrix) for number in found(row, Number)]
            worked = {self.alike.one(number) for number in found(lines_of, Number)}
            if worked <= results and all(self._begins(number, at) for number in numbers):
                return True
        return False

    def _begins(self, number: Number, at: int) -> bool:
        one = self.alike.one(number)
        if one is None or not self.alike.is_printed_alike(one):
            return False
        return self.alike.begins(one) == at


def _parts(chain: Chain) -> tuple[int, int]:
    """Which side is the first with numbers, and which the first of those that are one number."""
    sides = chain.sides
    put_in = next((i for i, side in enumerate(sides) if any(found(side, Number))), len(sides))
    worked = len(sides)
    while worked and isinstance(sides[worked - 1], Number):
        worked -= 1
    return put_in, worked


def _has_result(chain: Chain) -> bool:
    """Return whether a line comes to one number."""
    put_in, worked = _parts(chain)
    return put_in < worked < len(chain.sides)


def _carried_on(put_in: Expression) -> dict[str, int]:
    """The blanks of what is put in, by their digits, if no other number there has the same."""
    blanks = {str(blank.answer.value): blank.number for blank in found(put_in, Blank)}
    others = found(rewritten(put_in, Blank, lambda _: None), Number)
    return {digits: blanks[digits] for digits in blanks.keys() - {str(n.value) for n in others}}


def _rows(matrix: doc.Matrix) -> Iterator[tuple[int, tuple[Number | Blank, ...]]]:
    """The rows that can be worked out as the lines are, with their places.

    Where numbers are rounded for print only, other rows need digits that nobody sees.
    """
    for i, row in enumerate(matrix.cells):
        rounded = [
            n.entry is None or n.entry.value.form is Form.AS_THEY_ARE for n in found(row, Number)
        ]
        if matrix.marked in (None, i) or all(rounded):
            yield i, row


# --- the key -------------------------------------------------------------------------------------


def key(sheet: doc.Document) -> doc.Document:
    """The answers: lines and matrices in which blanks stand first, and what questions ask for."""
    met = set[int]()
    filled = [replace(s, blocks=tuple(_filled(s.blocks, met))) for s in sheet.sections]
    _, which, *_ = sheet.introduction
    introduction = (doc.Paragraph(TO_FILL_IN), which)
    sections = tuple(section for section in filled if section.blocks)
    title = f"Key: {sheet.title}"
    return replace(sheet, title=title, introduction=introduction, sections=sections)


def _filled(blocks: Sequence[doc.Block], met: set[int]) -> Iterator[doc.Block]:
    has_blanks = any(_has_new(block, met) for block in blocks if isinstance(block, doc.Working))
    for block in blocks:
        if isinstance(block, doc.Working) and has_blanks:
            yield doc.Working(tuple(_with_answers(line, met) for line in block.lines))
        elif isinstance(block, doc.Matrix) and _has_new(block, met):
            yield _with_answers(replace(block, figure=None), met)
        elif isinstance(block, doc.Question):
            yield doc.Paragraph(block.answer)
            if block.lines:
                yield doc.Working(block.lines)


def _has_new(part: Node, met: set[int]) -> bool:
    return any(blank.number not in met for blank in found(part, Blank))


def _with_answers(part: Any, met: set[int]) -> Any:
    """A part with numbers in its blanks; those met for the first time keep theirs beside them."""

    def answer(blank: Blank) -> Number | Blank:
        if blank.number in met:
            return blank.answer
        met.add(blank.number)
        return replace(blank, filled=True)

    return rewritten(part, Blank, answer)
