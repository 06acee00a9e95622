"""A stretch of a text in which equations may stand, each character where it stands in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

FILL = "\0"
"""Takes the place of markup that is nothing to a reader, such as the stars of **bold**."""

CUT = "\x1e"
"""Takes the place of markup at which an expression ends, such as the end of a table's cell."""


class Kind(Enum):
    """What a passage is written in."""

    PROSE = auto()
    CODE = auto()
    """A code fence, a cell, plain text: its line breaks and indentations mean something."""
    MATH = auto()
    """LaTeX's displayed mathematics."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Some text, what it is written in, and where it begins."""

    text: str
    start: int
    kind: Kind


def blank(text: str, fill: str = FILL) -> str:
    """As many signs, but none that is read; lines stay lines."""
    return "\n".join(fill * len(line) for line in text.split("\n"))


_DISPLAYS = "equation align alignat gather multline displaymath eqnarray flalign aligned math"
_OPENING = re.compile(
    r"\$\$|(?<!\\)\\\[|\\begin\{(" + "|".join(f"{name}\\*?" for name in _DISPLAYS.split()) + r")\}"
)
_INLINE = re.compile(r"(?<![\\$\w])\$(?=[^\s$])([^$\n]{1,300})(?<=[^\s\\])\$(?![\d$])")
_PARENTHESES = re.compile(r"(?<!\\)\\[()]")
_CLOSING = {"$$": "$$", "\\[": "\\]"}


def with_mathematics(text: str, start: int, kind: Kind = Kind.PROSE) -> Iterator[Passage]:
    """The displayed mathematics in a text, and what stands between, each on its own.

    Mathematics inside a sentence is read with the sentence.
    """
    at = 0
    missing: set[str] = set()
    while opening := _next_opening(text, at, missing):
        closing = _CLOSING.get(opening[0], f"\\end{{{opening[1]}}}")
        end = text.find(closing, opening.end())
        if end < 0:
            missing.add(closing)
            yield Passage(_inline(text[at : opening.end()]), start + at, kind)
            at = opening.end()
            continue
        yield Passage(_inline(text[at : opening.start()]), start + at, kind)
        yield Passage(text[opening.end() : end], start + opening.end(), Kind.MATH)
        at = end + len(closing)
    yield Passage(_inline(text[at:]), start + at, kind)


def _next_opening(text: str, at: int, missing: set[str]) -> re.Match[str] | None:
    """Where the next display begins; of a kind that does not end any more, none does."""
    for opening in _OPENING.finditer(text, at):
        if _CLOSING.get(opening[0], f"\\end{{{opening[1]}}}") not in missing:
            return opening
    return None


def _inline(text: str) -> str:
    """Without the signs around mathematics in a sentence."""
    text = _INLINE.sub(lambda found: f"{FILL}{found[1]}{FILL}", text)
    return _PARENTHESES.sub(FILL * 2, text)


def paragraphs(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The same in parts that no equation goes beyond, of those that hold a sign."""
    for passage in passages:
        if passage.kind is Kind.MATH:
            yield passage
            continue
        at = 0
        for gap in _BLANK_LINES.finditer(passage.text):
            yield Passage(passage.text[at : gap.start()], passage.start + at, passage.kind)
            at = gap.end()
        yield Passage(passage.text[at:], passage.start + at, passage.kind)


_BLANK_LINES = re.compile(r"\n(?=[ \t\r\0]*\n)")
