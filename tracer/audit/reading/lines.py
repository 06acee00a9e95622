"""Line ends: which ones an equation may continue across."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.audit.reading.operands import END
from tracer.audit.reading.passages import Passage
from tracer.audit.reading.tokens import Token
from tracer.audit.reading.vocabulary import Is

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
