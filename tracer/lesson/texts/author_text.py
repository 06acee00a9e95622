"""Markdown paragraphs of an author → pieces of a document, and the numbers that they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tracer.lesson import document as doc
from tracer.node import Node

VALUE = re.compile(r"\{value\s+([^{}]*)\}")
"""What a number of the pass replaces. All other braces are the author's own."""

STRONG = re.compile(r"(?<!\S)\*\*([^*`_\\\s](?:[^*`_\\\n]*[^*`_\\\s])?)\*\*(?!\S)")
"""Strong words in one line: as much of Markdown as is read without the parser."""

STYLED = re.compile(r"[*`\\]|(?<!\w)_|_(?!\w)")
"""What may be other markup. Most texts have none, and do without the parser: it is slow to load."""

RULES = ("emphasis", "backticks", "escape")
"""All else that Markdown knows, such as headings and HTML, is taken for words."""


@dataclass(frozen=True)
class AuthorNumber(Node):
    """A number of the pass: `ADDRESS[ROW,COLUMN] as percent`."""

    words: str


Piece: TypeAlias = Any
"""Words, emphasis or code, as in a document; or a number that is asked for."""


def pieces_of(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of each paragraph."""
    if any(STYLED.search(STRONG.sub("", words)) for words in VALUE.split(text)[::2]):
        return tuple(tuple(_styled(iter(tokens))) for tokens in _tokens(text))
    blocks = re.split(r"\n[ \t]*\n", text.strip())
    return tuple(tuple(_plain(block)) for block in blocks if block)


def _plain(text: str) -> Iterator[Piece]:
    for i, piece in enumerate(VALUE.split(text)):
        yield from (AuthorNumber(piece),) if i % 2 else _strong(piece)


def _strong(text: str) -> Iterator[Piece]:
    for i, piece in enumerate(STRONG.split(text)):
        yield from (doc.Emphasis(tuple(_words(piece)), strong=True),) if i % 2 else _words(piece)


def _words(text: str) -> Iterator[Piece]:
    """Words in one line, if there are any."""
    if text:
        yield doc.Plain(re.sub(r"\s+", " ", text))


def _tokens(text: str) -> Iterator[Any]:
    """The tokens of each paragraph, as markdown-it has them."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("zero").enable(RULES)
    markdown.inline.ruler.before("escape", "value", _value)
    return (token.children for token in markdown.parse(text) if token.type == "inline")


def _value(state: Any, silent: bool) -> bool:
    """A rule for `{value …}`: an address may hold signs of Markdown."""
    match = VALUE.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("value", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _styled(tokens: Iterator[Any]) -> Iterator[Piece]:
    """The pieces up to the end of the emphasis that they are in."""
    for token in tokens:
        match token.type:
            case "em_open" | "strong_open":
                yield doc.Emphasis(tuple(_styled(tokens)), token.type == "strong_open")
            case "em_close" | "strong_close":
                return
            case "code_inline":
                yield doc.Code(token.content)
            case "value":
                yield AuthorNumber(token.content)
            case _:
                yield from _words(token.content)
