"""Brackets and line ends: what pairs, where entries begin, and where an equation goes on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from tracer.audit.reading.passages import Passage
from tracer.audit.reading.tokens import END, Token
from tracer.audit.reading.vocabulary import Is

Span: TypeAlias = tuple[int, int]
"""The index of a first token, and the index after the last one."""

_CLOSES = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉", "matrix": "matrix"}


def partners(tokens: Sequence[Token]) -> dict[int, int]:
    """Map each bracket's index to the index of the bracket that it pairs with."""
    found: dict[int, int] = {}
    open_ones: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind is Is.OPEN:
            open_ones.append(i)
        elif token.kind is Is.CLOSE and open_ones:
            opened = open_ones.pop()
            if _CLOSES[tokens[opened].text] == token.text:
                found[i], found[opened] = opened, i
            else:
                open_ones.clear()
        elif token.kind is Is.BREAK and token.text.isspace():
            open_ones.clear()
    return found


def entries(
    tokens: Sequence[Token], pairs: dict[int, int], opened: int
) -> list[Span] | list[list[Span]]:
    """Return the entries of a bracket, or its rows; commas, or else spaces, separate them."""
    closed = pairs[opened]
    inside = _outermost(tokens, pairs, opened, closed)
    if marks := [i for i in inside if tokens[i].kind is Is.COMMA]:
        semicolons = [i for i in marks if tokens[i].text == ";"]
        edges = [opened, *(semicolons or marks), closed]
        if edges[-2] == closed - 1:
            edges.pop(-2)
        spans = [(a + 1, b) for a, b in pairwise(edges)]
        return [_row(tokens, pairs, *span) for span in spans] if semicolons else spans
    if tokens[opened].text in ("[", "matrix"):
        return _rows(tokens, pairs, opened, closed, inside)
    return [(opened + 1, closed)]


def _rows(
    tokens: Sequence[Token], pairs: dict[int, int], opened: int, closed: int, inside: list[int]
) -> list[Span] | list[list[Span]]:
    """Return the rows of a matrix, one per line, or the entries of a single row or column."""
    is_row_end = "\\" if tokens[opened].text == "matrix" else ""
    ends = [i for i in inside if tokens[i].kind is Is.LINE]
    lines = [i for i in ends if is_row_end == tokens[i].text[:1].strip(" ")]
    rows = [
        _row(tokens, pairs, a + 1, b)
        for a, b in pairwise([opened, *lines, closed])
        if any(token.kind is not Is.LINE for token in tokens[a + 1 : b])
    ]
    if len(rows) == 1:
        return rows[0]
    return [row[0] for row in rows] if all(len(row) == 1 for row in rows) else rows


def _row(tokens: Sequence[Token], pairs: dict[int, int], start: int, end: int) -> list[Span]:
    inner = _outermost(tokens, pairs, start - 1, end)[1:]
    begins = [at for at in inner if tokens[at].gap and _begins(tokens, at, end)]
    return list(pairwise([start, *begins, end]))


def _begins(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Return whether an entry begins at a token after a space: 1 -2 has two, 1 - 2 one."""
    token, before = tokens[at], tokens[at - 1]
    if before.kind is Is.OPERATOR and before.text not in ("%", "°"):
        return False
    if token.kind is Is.OPERATOR and token.text in ("-", "+"):
        return at + 1 < end and tokens[at + 1].gap == 0
    return token.kind in (Is.NUMBER, Is.OPEN, Is.NAME) or token.text == "√"


def _outermost(
    tokens: Sequence[Token], pairs: dict[int, int], opened: int, closed: int
) -> list[int]:
    """Return the indices of the tokens between two brackets, but not inside inner brackets."""
    found = []
    at = opened + 1
    while at < closed:
        found.append(at)
        at = pairs.get(at, at) + 1 if tokens[at].kind is Is.OPEN else at + 1
    return found


BINARY = frozenset("*/x@")
"""The operators between two operands, apart from + and -."""


def with_breaks(found: Sequence[Token], pairs: dict[int, int], passage: Passage) -> list[Token]:
    """Return the tokens, keeping only line ends that an equation may continue across.

    It may continue after an operator or a relation sign, and before a relation sign. It may also
    continue before an operator if the line is indented further than the statement's first line.
    """
    kept: list[Token] = []
    closes = 0  # where the open brackets end
    indent = len(passage.text) - len(passage.text.lstrip(" \t\0"))
    for i, token in enumerate(found):
        if token.kind is Is.OPEN:
            closes = max(closes, pairs.get(i, i))
        if token.kind is not Is.LINE or i < closes:
            kept.append(token)
            continue
        following = found[i + 1] if i + 1 < len(found) else token
        if following.kind is not Is.LINE:
            if _goes_on(kept[-1] if kept else END, following, token, indent):
                kept.append(token)
                continue
            indent = len(token.text.replace("\0", ""))
        kept.append(token._replace(kind=Is.BREAK, text="\n"))
    return kept


def _goes_on(before: Token, following: Token, line: Token, indent: int) -> bool:
    if following.kind is Is.RELATION:
        return before.kind is not Is.BREAK
    if before.kind is Is.RELATION or _is_open(before):
        return True
    if not _is_open(following):
        return False
    if line.text[:1] == "\\":
        return following.text != "-" or "&" in line.text
    return len(line.text) > indent


def _is_open(token: Token) -> bool:
    return token.kind is Is.OPERATOR and token.text in ("+", "-", *BINARY)
