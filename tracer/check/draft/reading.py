"""A text → the numbers that it prints, in groups: matrices, rows, terms of sums, numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from tracer.audit.reading.brackets import partners
from tracer.audit.reading.notebooks import lines_in_file, outputs
from tracer.audit.reading.passages import passages
from tracer.audit.reading.texts import ENDINGS, Markup, Text, texts
from tracer.audit.reading.tokens import Token, tokens
from tracer.audit.reading.vocabulary import Is
from tracer.check.printed import Printed, printed
from tracer.scenario import fields

Row = tuple[Printed, ...]


class Kind(Enum):
    """How the numbers of a group are computed with."""

    VALUES = auto()
    TERMS = auto()
    """The terms of a sum."""
    LEFT = auto()
    """The left factors of a sum of products."""
    RIGHT = auto()


@dataclass(frozen=True)
class Group:
    """Numbers that stand together, as rows of the same length, and the words around them.

    `lines` are those of its rows. `statement` is the same for all groups of an equation, or of a
    line, and `subject` is what stands before its first relation sign. `label` are the words before
    the group in its line, `labels` those before each row; `near` are the lines above it, the
    nearest first. `header` has the labels of all columns of a matrix. `function` is what it is the
    argument of, `context` what a statement of several clauses begins with.
    """

    lines: tuple[int, ...]
    column: int
    rows: tuple[Row, ...]
    label: str
    statement: tuple[int, int]
    kind: Kind = Kind.VALUES
    labels: tuple[str, ...] = ()
    subject: str = ""
    near: tuple[str, ...] = ()
    header: str = ""
    function: str = ""
    context: str = ""

    @property
    def line(self) -> int:
        """The line in which it begins."""
        return self.lines[0]

    @property
    def is_single(self) -> bool:
        """Whether it is one number."""
        return len(self.rows) == len(self.rows[0]) == 1


def groups(name: str, content: str) -> list[Group]:
    """Return the groups of numbers in a text, in order, with the lines of the file.

    Raises:
        TracerError: it is no text.
    """
    plain = content.translate(_SIGNS)
    every, lines = texts(name, plain), list[list[int]]()
    if ENDINGS.get(Path(name).suffix.lower()) is Markup.NOTEBOOK:
        lines = lines_in_file(name, content)
        for output, of_output in outputs(plain):
            every.append(Text(name, output, Markup.PLAIN))
            lines.append(of_output)
    found: list[Group] = []
    for number, text in enumerate(every):
        for group in _of_text(text):
            of_file = tuple(lines[number][line - 1] for line in group.lines) if lines else None
            place = (number, group.statement[1])
            found.append(replace(group, lines=of_file or group.lines, statement=place))
    return sorted(found, key=lambda group: group.line) if lines else found


def _of_text(text: Text) -> Iterator[Group]:
    """Yield the groups of one text, with the words above them."""
    lines = text.content.split("\n")
    for passage in passages(text):
        every = [token for token in tokens(passage) if token.end > token.start]
        for group in _joined(_Reader(text, every).groups()):
            yield replace(group, near=_above(lines, group.line))


_DIGITS = {
    code: str(unicodedata.digit(chr(code)))
    for first in (0x660, 0x6F0, 0x966, 0xFF10)  # Arabic, Persian, Devanagari, full-width
    for code in range(first, first + 10)
}
_SIGNS = {**_DIGITS, 0x66B: ".", 0x66C: ",", 0xFF0E: ".", 0xFF0D: "-", 0xFF0B: "+", 0xFF1D: "="}
_SIGNS |= dict(zip(map(ord, "（）［］｛｝，"), "()[]{},", strict=True))
"""Digits and signs of other scripts → those of ours, each of one character."""


MOST_ABOVE, LONGEST_ABOVE = 40, 90
"""So many lines above a group are searched for words; a longer line is a paragraph."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\\(?:sub)*section)")
_MARKUP = re.compile(r"\s*(?:```|~~~|[|:+ -]*$)")


def _above(lines: Sequence[str], line: int) -> tuple[str, ...]:
    """Return two short lines with words above a line, and the heading, the nearest first."""
    found: list[str] = []
    for text in reversed(lines[max(0, line - 1 - MOST_ABOVE) : line - 1]):
        is_short = len(text) <= LONGEST_ABOVE and not re.search(r"\d\.\d", text)
        says = is_short and len(found) < 2 and re.search(r"[^\W\d]", text)
        if _HEADING.match(text) or (says and not _MARKUP.match(text)):
            found.append(text.strip())
        if _HEADING.match(text):
            break
    return tuple(found)


_Terms = list[list[tuple[Printed, Token] | None]]
"""The terms of a sum, each with its factors; None is a row, which is a group of its own."""


class _RowOfBracket(NamedTuple):
    """A row in a bracket: the words before it, its numbers, and its line."""

    label: str = ""
    numbers: Row = ()
    line: int = 0
    header: str = ""
    """The words above its column, of all columns."""


LONGEST_NAME = 40
_FUNCTION = re.compile(r"(?:\b(e) *\^|\\(sqrt|exp|ln|log)|(√)|\b([^\W\d_]{2,})\}?(?=\())[\s({\[]*$")
"""What a number is the argument of: ReLU(, e^{, √, \\text{FFN}(."""
DEEPEST = 4
"""Brackets are rows of an array in at most so many others."""

_REMARK = ("#", "←", "//")
"""What begins a remark behind a row of a matrix."""
_ENDS_A_NUMBER = (Is.NUMBER, Is.CLOSE, Is.WORD, Is.NAME, Is.TEXT, Is.OTHER)
MINUS_INFINITY = Printed("-∞", fields.MINUS_INFINITY)
_INFINITE = ("∞", "inf", "infty", "infinity")


class _Reader:
    """Reads the groups of one passage."""

    def __init__(self, text: Text, every: list[Token]) -> None:
        self.text, self.tokens, self.pairs = text, every, partners(every)
        self.found: list[Group] = []
        self.now: _Terms = [[]]
        self.entries: list[_Terms] = []
        """The sums before it in a bracket."""
        self.has_signs = False
        self.transparent: set[int] = set()
        """The closing parentheses of products in a sum: (0.3 × 0.8) + (0.6 × 0.2)."""
        self.statement = every[0].start if every else 0
        self.first = self.subject = ""
        self.clause = self.statement
        """Where a clause begins; `first` is the subject of the first clause."""
        self.until = -1
        """The last closing bracket of those that are read as expressions."""
        self.behind = self.statement
        """Where the words of the next group begin."""

    def groups(self) -> list[Group]:
        at = 0
        while at < len(self.tokens):
            at = self.read(at)
        self.end()
        return sorted(self.found, key=lambda group: (group.line, group.column))

    def read(self, at: int) -> int:
        """Read what begins at a token; return the index behind it."""
        token = self.tokens[at]
        if at in self.transparent:
            return at + 1
        if number := self.number(at):
            shown, behind = number
            self.add(shown, token, self.tokens[at - 1] if at else None)
            return behind
        if token.kind is Is.OPEN:
            return self.bracket(at)
        if token.kind is Is.OPERATOR and token.text in "+-":
            self.now.append([])
            self.has_signs = True
        elif token.kind is Is.COMMA or token.text in ("|", "&"):
            if not (self.now[-1] and self.number(at + 1)):
                self.end()
            elif self.has_signs:
                self.entries.append(self.now)
                self.now, self.has_signs = [[]], False
            if not any(self.now) and at > self.until:  # a = 1, b = 2
                self.subject, self.clause = "", token.end
        elif token.kind is Is.OPERATOR and token.text in ("*", "x", "%"):
            self.has_signs = True
        else:
            self.end()
            if token.kind is Is.LINE and not self.goes_on(at):
                self.statement = self.behind = self.clause = token.end
                self.first = self.subject = ""
            elif token.kind is Is.RELATION and not self.subject:
                self.subject = self.text.content[self.clause : token.start].strip()
                self.first = self.first if self.clause != self.statement else self.subject
        return at + 1

    def goes_on(self, at: int) -> bool:
        """Return whether a statement goes on behind a line end, which a relation sign says."""
        around = [*self.tokens[max(0, at - 1) : at], *self.tokens[at + 1 : at + 2]]
        return any(token.kind is Is.RELATION for token in around)

    def number(self, at: int) -> tuple[Printed, int] | None:
        """Return the number at an index, with its sign, and the index behind it."""
        tokens, start = self.tokens, at
        if start >= len(tokens):
            return None
        sign = ""
        if tokens[at].text == "(" and self.pairs.get(at, at) in (at + 2, at + 3):  # (-0.5)
            inside = self.number(at + 1)
            return (inside[0], inside[1] + 1) if inside else None
        if tokens[at].kind is Is.OPERATOR and tokens[at].text in ("-", "+"):
            before = tokens[at - 1] if at else None
            if before and before.kind in _ENDS_A_NUMBER:
                return None
            sign, at = tokens[at].text, at + 1
        return None if self.is_index(start) else self.signed(sign, at)

    def signed(self, sign: str, at: int) -> tuple[Printed, int] | None:
        """Return the number at an index, behind its sign, and the index behind it."""
        tokens = self.tokens
        if at >= len(tokens):
            return None
        token = tokens[at]
        if token.text.lower() in _INFINITE and sign:
            return MINUS_INFINITY, at + 1
        if token.kind is not Is.NUMBER:
            return None
        digits, at = token.text, at + 1
        texts = [each.text for each in tokens[at : at + 3]]
        if texts[:2] == ["*", "10"] and texts[2:] and re.fullmatch(r"\^-?\d+", texts[2]):
            digits, at = f"{digits}e{texts[2][1:]}", at + 3
        elif texts[:1] == ["^"] or (texts and texts[0].startswith("^")):
            return None
        if texts[:1] == ["%"]:
            digits, at = f"{digits}%", at + 1
        found = printed(f"{sign}{digits}".lstrip("+"))
        return (found, at) if found else None

    def is_index(self, at: int) -> bool:
        """Return whether a number is a subscript or an exponent."""
        before = self.tokens[at - 1] if at else None
        if before is None:
            return False
        two = self.tokens[max(0, at - 2)]
        is_named = before.text == "-" and not before.gap and two.kind is Is.WORD  # GPT-2
        exponent = before.text == "^" and two.text not in ("e", "exp")
        return before.text.endswith("_") or exponent or (is_named and not self.tokens[at].gap)

    def bracket(self, at: int) -> int:
        """Read a bracket: rows of numbers, an index to skip, or an expression."""
        closed = self.pairs.get(at)
        before = self.tokens[at - 1] if at else None
        is_index = before and (before.text.endswith("_") or before.text == "^")
        if is_index and closed and self.tokens[at].text == "{":
            exponent_of_e = at > 1 and self.tokens[at - 2].text in ("e", "exp")
            return at + 1 if exponent_of_e else closed + 1
        if closed and self.tokens[at].text in ("[", "matrix", "(", "{"):
            rows = self.rows(at, closed)
            if rows and (self.tokens[at].text != "(" or len(rows[0].numbers) > 1):
                if not any(self.now):
                    self.end()
                self.now[-1].append(None)
                self.group(rows, self.tokens[at])
                self.behind = self.tokens[closed].end
                return closed + 1
        inside = self.tokens[at + 1 : closed] if closed else []
        if self.tokens[at].text == "(" and any(token.text in ("*", "x") for token in inside):
            factors = (Is.NUMBER, Is.OPERATOR)
            if all(token.kind in factors and token.text not in "+/^" for token in inside):
                self.transparent.add(closed or at)
                return at + 1
        self.end()
        self.until = max(self.until, closed or at)
        return at + 1

    def rows(self, opened: int, closed: int, depth: int = 0) -> list[_RowOfBracket]:
        """Return the rows between two brackets; none if there are not only numbers."""
        found = [_RowOfBracket()]
        at = opened + 1
        while at < closed:
            token, (label, numbers, *_) = self.tokens[at], found[-1]
            if number := self.number_in_row(at, follows=bool(numbers)):
                line, _ = self.text.place(token.start)
                found[-1] = _RowOfBracket(label, (*numbers, number[0]), line)
                at = number[1]
                continue
            if token.kind is Is.OPEN and token.text in "[(" and at in self.pairs:
                inner = self.rows(at, self.pairs[at], depth + 1) if depth < DEEPEST else []
                if not inner:
                    return []
                found += [*inner, _RowOfBracket()]
                at = self.pairs[at]
            elif token.text in _REMARK and not numbers:
                at = self.line_end(at, closed)
                continue
            elif token.kind is Is.LINE or token.text == ";":
                found.append(_RowOfBracket())
            elif token.kind in (Is.WORD, Is.TEXT, Is.NAME, Is.MARK) and not numbers:
                found[-1] = _RowOfBracket(f"{label} {token.text}".strip())
            elif token.kind is not Is.COMMA and token.text not in ("|", "."):
                return []
            at += 1
        header = next((row.label for row in found if row.label and not row.numbers), "")
        rows = [row._replace(header=row.header or header) for row in found if row.numbers]
        return rows if len({len(row.numbers) for row in rows}) == 1 else []

    def line_end(self, at: int, closed: int) -> int:
        """Return the index of the next line end before a closing bracket, or of the bracket."""
        following = range(at, closed)
        return next((i for i in following if self.tokens[i].kind is Is.LINE), closed)

    def number_in_row(self, at: int, *, follows: bool) -> tuple[Printed, int] | None:
        """Return the number at an index of a row, in which a minus behind a space is a sign."""
        token, behind = self.tokens[at], self.tokens[at + 1]
        if token.text in ("-", "+") and not behind.gap and (token.gap or not follows):
            return self.signed(token.text, at + 1)
        return self.number(at)

    # --- what is found ---------------------------------------------------------------------------

    def add(self, number: Printed, token: Token, before: Token | None) -> None:
        """Add a number to the terms that are being read."""
        separates = before is not None and (before.kind is Is.COMMA or before.text in "|&]")
        multiplies = before is not None and before.text in ("*", "x")
        if self.now[-1] and not multiplies:
            if not (separates or token.gap):
                self.end()
            self.now.append([])
        if not self.now[-1] and len(self.now) > 1 and before and before.text == "-":
            number = printed(f"-{number.text}") or number
        self.now[-1].append((number, token))

    def end(self) -> None:
        """Turn the terms that were read into groups."""
        has_signs = self.has_signs or bool(self.entries)
        entries = [[term for term in terms if term] for terms in (*self.entries, self.now)]
        self.entries, self.now, self.has_signs = [], [[]], False
        lengths = {len(terms) for terms in entries}
        if len(entries) > 1 and len(lengths) == 1 and all(len(t) == 1 for e in entries for t in e):
            for column in zip(*entries, strict=True):  # [a + b, c + d]
                self.column([term[0] for term in column], Kind.TERMS)
        else:
            for terms in entries:
                self.sum_of(terms, has_signs=has_signs)
        tokens = [each[1] for terms in entries for term in terms for each in term if each]
        if tokens:
            self.behind = max(self.behind, tokens[-1].end)

    def sum_of(self, terms: _Terms, *, has_signs: bool) -> None:
        """Add the groups of a sum: its terms, or their left and right factors; or of a row."""
        of_terms = Kind.TERMS if has_signs else Kind.VALUES
        lengths = {len(term) for term in terms}
        if len(terms) > 1 and lengths in ({1}, {2}):
            kinds = (of_terms,) if lengths == {1} else (Kind.LEFT, Kind.RIGHT)
            for kind, column in zip(kinds, zip(*terms, strict=True), strict=True):
                self.column(column, kind)
        else:
            for number, token in (each for term in terms for each in term if each):
                self.row((number,), token)

    def column(self, column: Sequence[tuple[Printed, Token] | None], kind: Kind) -> None:
        """Add the numbers at one place of several terms as a row."""
        numbers = [each for each in column if each]
        if len(numbers) == len(column):
            self.row(tuple(number for number, _ in numbers), numbers[0][1], kind)

    def group(self, rows: Sequence[_RowOfBracket], token: Token, kind: Kind = Kind.VALUES) -> None:
        """Add a group that begins at a token."""
        _, column = self.text.place(token.start)
        end = token.start
        opened = end + (token.text == "(")
        before = _FUNCTION.search(self.text.content, max(0, end - LONGEST_NAME), opened)
        function = next(filter(None, before.groups())).lower() if before else ""
        end = before.start() if before else end
        label = self.text.content[self.behind : end].split("\n")[-1].strip(" |[(,")
        labels = tuple(row.label for row in rows)
        if len(rows) == 1:
            labels = (f"{label} {labels[0]}".strip(),)
        numbers, lines = tuple(row.numbers for row in rows), tuple(row.line for row in rows)
        place = (0, self.statement)
        context = self.first if self.clause != self.statement else ""
        self.found.append(
            Group(
                lines,
                column,
                numbers,
                label,
                place,
                kind,
                labels,
                self.subject,
                header=rows[0].header,
                function=function,
                context=context,
            )
        )

    def row(self, numbers: Row, token: Token, kind: Kind = Kind.VALUES) -> None:
        """Add a group of one row that begins at a token."""
        self.group([_RowOfBracket("", numbers, self.text.place(token.start)[0])], token, kind)


def _joined(found: Sequence[Group]) -> Iterator[Group]:
    """Yield the groups; rows of brackets below each other become a matrix."""
    left = list(found)
    while left:
        first = left.pop(0)
        last = first
        for other in list(left):
            below = other.line == last.line + 1 and abs(other.column - first.column) <= 2
            alike = len(other.rows) == 1 and len(other.rows[0]) == len(first.rows[0]) > 1
            alike = alike and _continues(first.label, other.label)
            if below and alike and first.kind is other.kind is Kind.VALUES:
                left.remove(other)
                last = other
                first = replace(
                    first,
                    lines=first.lines + other.lines,
                    rows=first.rows + other.rows,
                    labels=first.labels + other.labels,
                )
        yield first


def _continues(first: str, other: str) -> bool:
    """Return whether a row below another continues it: v1 = [1, 2], v2 = [3, 4]."""
    names = [re.sub(r"\d|[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]", "", label) for label in (first, other)]
    return "=" not in other or names[0] == names[1]
