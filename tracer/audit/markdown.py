"""Markdown → passages: prose with its tables, code fences, displayed mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.audit.passage import CUT, FILL, Kind, Passage, blank, with_mathematics

_FENCE = re.compile(r"[ \t>]*(?P<bars>`{3,}|~{3,})(?P<language>[^`\n]*)\n?\Z")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BEGINNING = re.compile(
    r"^[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])[ \t]+(?!\n)|#{1,6}[ \t]+)+", re.MULTILINE
)
_STRONG = re.compile(r"(?<![\d*])(\*\*|__)(?=[^\s*_])|(?<=[^\s*_])(\*\*|__)(?![\d*(])")
_EMPHASIS = re.compile(r"(?<![\w*)\]\\])\*(?=[^\s*])([^*\n]{0,300}[^\s*\\])\*(?![\w*(\[])")


def passages(content: str) -> Iterator[Passage]:
    """The passages of a text in Markdown."""
    content = _COMMENT.sub(lambda found: blank(found[0]), content)
    for text, start, is_fenced in in_fences(content):
        if is_fenced:
            yield from with_mathematics(text, start, Kind.CODE)
        else:
            yield from _prose(text, start)


def plain(content: str) -> Iterator[Passage]:
    """Those of plain text: line breaks and indentations mean something in all of it."""
    for text, start, _ in in_fences(content):
        yield from with_mathematics(text, start, Kind.CODE)


def in_fences(content: str) -> Iterator[tuple[str, int, bool]]:
    """What stands in code fences and between them, where it begins, and which it is."""
    at = start = 0
    fence = ""
    for line in content.splitlines(keepends=True):
        bars = _FENCE.match(line)
        opens = bars is not None and not fence
        closes = fence and bars and bars["bars"].startswith(fence) and not bars["language"].strip()
        if bars and (opens or closes):
            yield content[start:at], start, bool(fence)
            fence, start = bars["bars"] if opens else "", at + len(line)
        at += len(line)
    yield content[start:], start, bool(fence)


def _prose(content: str, start: int) -> Iterator[Passage]:
    for passage in with_mathematics(content, start):
        if passage.kind is Kind.PROSE:
            yield Passage(_unmarked(passage.text), passage.start, Kind.PROSE)
        else:
            yield passage


def _unmarked(text: str) -> str:
    """Prose without bullets, quotation signs and emphasis."""
    text = _BEGINNING.sub(lambda found: CUT * len(found[0]), text)
    text = _STRONG.sub(FILL * 2, text)
    return _EMPHASIS.sub(lambda found: f"{FILL}{found[1]}{FILL}", text)
