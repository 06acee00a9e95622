"""Passages → equations: chains of readable expressions joined by relation signs such as =."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tracer.audit.reading import sizes, units
from tracer.audit.reading.brackets import BINARY, Span, partners, with_breaks
from tracer.audit.reading.expression import Expression, Vector, is_printed
from tracer.audit.reading.operands import UnreadableError
from tracer.audit.reading.passages import Kind, Passage
from tracer.audit.reading.syntax import read
from tracer.audit.reading.tokens import END, Token, tokens
from tracer.audit.reading.vocabulary import NAMES, SIGN, Is
from tracer.audit.reasons import Doubt

MOST_TOKENS = 20_000
"""A side of an equation with more tokens than this is not read."""


LONGEST_NAME = 200
LONGEST_LABEL = 3


@dataclass(frozen=True)
class Side:
    """One side of an equation, with its start and end in the text."""

    expression: Expression
    start: int
    end: int
    tokens: Span
    doubt: Doubt | None
    """Why the side may have another meaning, or be part of a longer expression."""


@dataclass(frozen=True)
class Equation:
    """A chain of at least two sides, with a relation sign between neighbors."""

    sides: tuple[Side, ...]
    signs: tuple[int, ...]
    """The position of each relation sign."""


@dataclass(frozen=True)
class Named:
    """A row of numbers, and the name before its relation sign."""

    name: str
    row: Side


@dataclass(frozen=True)
class Found:
    """The result of reading a passage."""

    equations: list[Equation]
    unread: list[int]
    """The relation signs that belong to no equation."""
    named: list[Named]
    """The rows of numbers that follow such a sign, with their names."""
    rest: Token | None = None
    """The first token beyond the limit on tokens; from there on nothing is read."""


_BLANK = " \t\r\n\0*_`$~&,;:\"'”’"
_NUMBER = re.compile(r"(?<!\w)[\d½¼¾⅓-⅞]|[⁰¹²³⁴-⁹π]|\\pi|frac")
_UNITS = re.compile(r"[\d½¼¾⅓-⅞⁰-⁹²³π](?:[\s\0$*~\\{}/·(),-]{0,9}[^\W\d_]{1,16}){0,4}[^\w=]{0,9}\Z")
_WORD = re.compile(rf"[\s\0*_`$~&{{\"'“]*(?!(?:{'|'.join(NAMES)})(?![^\W\d_]))[^\W\d_]")
_ROW = re.compile(r"[\s\0*$~&]*(?:\\left[ ]?|\\begin|[(\[]\s*[-−]?\d*\.\d)")


def _may_relate(text: str, at: int, end: int) -> bool:
    """Return whether a sign may have an operand on each side, or a row of numbers behind it."""
    if _ROW.match(text, end):
        return True
    left = text[max(0, at - _LONGEST_OPERAND) : at].rstrip(_BLANK)
    left = left[left.rfind("\n") + 1 :]
    if left[-1:].isalpha():  # perhaps the last letter of a number's unit
        left = left[-_NEAR:] if _UNITS.search(left[-_NEAR:]) else ""
    if not _NUMBER.search(left) or _WORD.match(text, end):
        return False
    return _NUMBER.search(text, end, end + _LONGEST_OPERAND) is not None


_NEAR, _LONGEST_OPERAND = 48, 300
"""A number is so near before its unit; an operand has a number within so many characters."""

_STATEMENT_END = re.compile(
    r"[^\s\0=＝≈≃≅+\-−*/·×⋅∙÷⊙∗^√∛@(\[{,;][ \t\r\0]*"
    r"(?:\n(?<!\d\.\n)(?=[ \t\0]*[^\W_])|\n(?=[ \t\0]*[\x1e|]))"
)
"""A line end that no equation crosses: no operator before it, and a word or number after."""


def equations(passage: Passage) -> Found:
    """Return the equations of a passage, in order; only statements that may have one are read."""
    text, whole = passage.text, Found([], [], [])
    signs = [found.span() for found in SIGN.finditer(text)]
    relate = [_may_relate(text, *sign) for sign in signs]
    at = 0
    for begin, end in _statements(passage) if any(relate) else ():
        first, at = at, bisect_left(signs, (end,))
        if not any(relate[first:at]):
            whole.unread.extend(passage.start + sign for sign, _ in signs[first:at])
            continue
        place = passage.start + begin
        part = Passage(text[begin:end], place, passage.kind, passage.decimal)
        found = _Finder(tokens(part), part).found()
        whole.equations.extend(found.equations)
        whole.unread.extend(found.unread)
        whole.named.extend(found.named)
        if found.rest:
            return replace(whole, rest=found.rest)
    whole.unread.extend(passage.start + sign for sign, _ in signs[at:])
    return whole


def _statements(passage: Passage) -> Iterator[Span]:
    """Yield the stretches of a passage that no equation crosses; mathematics is one."""
    begin = 0
    if passage.kind is not Kind.MATH:
        for found in _STATEMENT_END.finditer(passage.text):
            yield begin, found.end()
            begin = found.end()
    yield begin, len(passage.text)


_BEHIND_AN_OPERAND = BINARY | {"^", "%", "!", "ᵀ"}


class _Finder:
    def __init__(self, found: list[Token], passage: Passage) -> None:
        self.passage = passage
        self.pairs = partners(found)
        self.tokens = with_breaks(found, self.pairs, passage)
        self.tokens.append(END)  # after the last token, and at index -1 before the first
        self.is_math = passage.kind is Kind.MATH
        self.relations, self.lines = self._places(Is.RELATION), self._places(Is.LINE)
        self.words = self._places(Is.WORD, Is.TEXT)
        self.measured = [i for i, token in enumerate(self.tokens) if token.measure]

    def _places(self, *kinds: Is) -> list[int]:
        return [i for i, token in enumerate(self.tokens) if token.kind in kinds]

    def found(self) -> Found:
        chains: list[tuple[list[Side], list[int]]] = []
        unread, named = [], list[Named]()
        following: tuple[int, Side] | None = None  # a relation sign, and the side before it
        is_chain = False
        for at in self.relations:
            token = self.tokens[at]
            if following and following[0] == at:
                left: Side | None = following[1]
            else:
                left, is_chain = self.side(self.begins(at), at), False
            end = self.ends(at)
            right = self.side(at + 1, end)
            goes_on = self.tokens[end].kind is Is.RELATION
            following = (end, right) if left and right and goes_on else None
            if left is None or right is None or not (right := self.with_unit(left, right)):
                unread.append(token.start)
                named += self.named(at, right)
                is_chain = False
                continue
            if not is_chain:
                chains.append(([left], []))
            chains[-1][0].append(right)
            chains[-1][1].append(token.start)
            is_chain = True
        read = [Equation(tuple(sides), tuple(signs)) for sides, signs in chains]
        last = self.tokens[-2:][0]
        return Found(read, unread, named, last if last.kind is Is.UNREAD else None)

    def with_unit(self, left: Side, right: Side) -> Side | None:
        """Return the right side, doubtful if it lacks the unit of the left one; None if others."""
        if not any(_any_between(self.measured, *side.tokens) for side in (left, right)):
            return right
        is_computed = not (is_printed(left.expression) and is_printed(right.expression))
        if is_computed and sizes.result(left.expression, right.expression):
            is_sure = sizes.are_comparable(left.expression, right.expression)
            return right if is_sure else replace(right, doubt=right.doubt or Doubt.UNIT)
        agree = units.agree(left.expression, right.expression)
        if agree is None:
            return replace(right, doubt=right.doubt or Doubt.UNIT)
        return right if agree else None

    def named(self, at: int, row: Side | None) -> Iterator[Named]:
        """Yield the row after a relation sign with its name; nothing if there is no row."""
        if row is None or not isinstance(row.expression, Vector) or not is_printed(row.expression):
            return
        start = at
        while self.tokens[start - 1].kind not in (Is.BREAK, Is.LINE, Is.RELATION):
            start -= 1
        first = self.tokens[start].start - self.passage.start
        name = self.passage.text[first : self.tokens[at].start - self.passage.start]
        if len(name) <= LONGEST_NAME:
            yield Named("".join(name.split()).replace("&", "").replace("\0", ""), row)

    def side(self, start: int, end: int) -> Side | None:
        """Return the side between two indices; None if unreadable or part of something longer."""
        while start < end and self.tokens[start].kind is Is.LINE:
            start += 1
        while end > start and self.tokens[end - 1].kind is Is.LINE:
            end -= 1
        if self._is_bullet(start, end):
            start += 1
        if not 0 < end - start <= MOST_TOKENS or _any_between(self.relations, start, end):
            return None
        try:
            outside = self._doubt_before(start) or self._doubt_behind(end)
            found, inside = read(self.tokens, self.pairs, start, end, spaced=not self.is_math)
        except UnreadableError:
            return None
        place = self.tokens[start].start, self.tokens[end - 1].end
        return Side(found, *place, (start, end), outside or inside)

    def _is_bullet(self, start: int, end: int) -> bool:
        """Return whether a line begins with a dash and a space, which may also be a minus."""
        begins = self.tokens[start - 1].text == "\n"
        dash = begins and start + 1 < end and self.tokens[start].text in ("-", "*", "+")
        return dash and self.tokens[start + 1].gap > 0 and not self.is_math

    def begins(self, at: int) -> int:
        """Return the index at which the left side of a relation sign begins."""
        i = at
        while self.tokens[i - 1].kind in _PARTS or self.pairs.get(i - 1, i) < i - 1:
            before = self.pairs.get(i - 1, i - 1)
            if self.tokens[i].gap and self._holds_words(before):
                break
            i = before
        return self._behind_numbers(i, at)

    def _behind_numbers(self, start: int, end: int) -> int:
        """Return the index after the last gap between two numbers, as in the columns of a table."""
        begins = i = start
        while i < end:
            token = self.tokens[i]
            if i > start and token.gap >= 2 and self._are_apart(i):
                begins = i
            i = self.pairs.get(i, i) + 1 if token.kind is Is.OPEN else i + 1
        return begins

    def _is_remark(self, i: int) -> bool:
        """Return whether a parenthesis with words or a percentage, a remark, opens at an index."""
        if not self.tokens[i].gap:
            return False
        _, number, sign, closes = [*self.tokens[i : i + 4], END, END, END, END][:4]
        is_percentage = number.kind is Is.NUMBER and sign.text == "%" and closes.text == ")"
        return (is_percentage and self.tokens[i].text == "(") or self._holds_words(i)

    def _holds_words(self, i: int) -> bool:
        """Return whether a parenthesis with words opens at an index."""
        return self.tokens[i].text == "(" and _any_between(self.words, i, self.pairs.get(i, i))

    def _are_apart(self, i: int) -> bool:
        """Return whether one operand ends before a token and another begins with it."""
        before, token = self.tokens[i - 1], self.tokens[i]
        ends = before.kind in (Is.NUMBER, Is.CLOSE) or before.text in ("%", "°")
        return ends and token.kind in (Is.NUMBER, Is.OPEN)

    def ends(self, at: int) -> int:
        """Return the index at which the right side of a relation sign ends."""
        i = at + 1
        while True:
            token = self.tokens[i]
            if i > at + 1 and token.gap and (self._are_apart(i) or self._is_remark(i)):
                return i
            if token.kind is Is.OPEN and i in self.pairs:
                i = self.pairs[i] + 1
            elif token.text == "!" and self.tokens[i + 1].kind not in (Is.OPERATOR, Is.RELATION):
                return i  # the end of a sentence
            elif token.kind in _PARTS:
                i += 1
            else:
                return i

    def _doubt_before(self, start: int) -> Doubt | None:
        """Return why a side may belong to the text before it.

        Raises:
            UnreadableError: it certainly does.
        """
        first = self.tokens[start]
        if first.kind is Is.OPERATOR and first.text in _BEHIND_AN_OPERAND:
            raise UnreadableError
        before = self.tokens[start - 1]
        is_signed = first.text in ("-", "+")
        if is_signed and before.text == "|" and self.tokens[start + 1].gap:
            return Doubt.BEFORE  # |S| - 2
        if before.kind in _ENDS or before.text.lower() in _BETWEEN:
            return None
        if before.kind in (Is.NUMBER, Is.CLOSE):
            return None if self._is_label(start) else Doubt.BEFORE
        is_applied = first.kind is Is.OPEN and not first.gap
        is_symbol = before.kind is Is.WORD and (len(before.text) < 2 or self.is_math)
        is_symbol &= not self._are_apart_by_markup(before, first)  # o $2 + 3$
        is_symbol |= before.kind is Is.TEXT and before.text.isascii() and before.text.isalpha()
        is_beside = not first.gap and before.kind not in (Is.MARK, Is.TEXT)
        if is_signed or is_applied or is_symbol or is_beside:
            raise UnreadableError
        return None

    def _are_apart_by_markup(self, one: Token, other: Token) -> bool:
        """Return whether a space and markup, which is \0 in a passage, are between two tokens."""
        start = self.passage.start
        between = self.passage.text[one.end - start : other.start - start]
        return " " in between and "\0" in between

    def _is_label(self, start: int) -> bool:
        """Return whether a label such as (b) or (ii) ends before an index, at a start."""
        opened, word = self.pairs.get(start - 1, start), self.tokens[start - 2]
        is_short = word.kind is Is.WORD and len(word.text) <= LONGEST_LABEL
        begins = self.tokens[opened - 1].kind in (Is.LINE, Is.BREAK)
        return opened == start - 3 and is_short and begins

    def _doubt_behind(self, end: int) -> Doubt | None:
        """Return why a side may continue in the text after it.

        Raises:
            UnreadableError: it certainly does.
        """
        last = self.tokens[end - 1]
        if last.kind is Is.OPERATOR and last.text[0] not in "^%°!‖ᵀ":
            raise UnreadableError
        behind = self.tokens[end]
        is_symbol = behind.kind is Is.WORD and len(behind.text.rstrip("'′")) < 2
        is_symbol &= not self._are_apart_by_markup(last, behind)
        if behind.kind is Is.WORD and (not behind.gap or (is_symbol and self.is_math)):
            raise UnreadableError
        if behind.kind is Is.LINE:
            return Doubt.AFTER if self.tokens[end + 1].text in BINARY else None
        goes_on = behind.kind in (Is.NUMBER, Is.OPEN) and not self._is_remark(end)
        return Doubt.AFTER if is_symbol or goes_on or behind.text == "begin" else None


_BETWEEN = frozenset(("is", "are", "was", "so", "then", "and", "or", "thus", "hence", "gives"))
"""Words that are not symbols."""

_ENDS = (Is.LINE, Is.RELATION, Is.BREAK, Is.COMMA, Is.OPEN)
"""After a token of these kinds, an expression can begin."""

_PARTS = (Is.NUMBER, Is.NAME, Is.OPERATOR, Is.OTHER, Is.UNREAD, Is.LINE)
"""The kinds of tokens in a side, apart from the contents of brackets."""


def _any_between(places: list[int], start: int, end: int) -> bool:
    """Return whether any of the sorted indices lies in start ≤ index < end."""
    first = bisect_left(places, start)
    return first < len(places) and places[first] < end
