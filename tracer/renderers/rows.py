"""Lines of a terminal, and how many cells words take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from rich.cells import cell_len
from rich.text import Text

from tracer.renderers.text import CLUSTERS, name_text

Row: TypeAlias = Text
"""A line of a terminal, with the styles of its words."""

INDENT, GAP = 2, "  "
LONGEST_NAME = 24
"""Longer names are shortened beside numbers; the table of tokens has them whole."""

MARK = "▸ "
"""Before the row of the token that is followed."""

NARROW = re.compile("[ -~×·─═▸²³¹√≈∞⁰⁴-⁹⁻₀-₉α-ω]*")
"""What worked lines and labels mostly consist of: signs that take one cell each."""


@lru_cache(4096)
def cells(words: str) -> int:
    """How wide words are: 日 takes two cells."""
    return len(words) if words.isascii() or NARROW.fullmatch(words) else cell_len(words)


def short(name: str, most: int = LONGEST_NAME) -> str:
    """A name that leaves room for numbers, its middle left out where it is too long."""
    whole = name_text(name)
    most = min(most, LONGEST_NAME)
    if cells(whole) <= most:
        return whole
    half = (most - 1) // 2
    pictures = CLUSTERS.findall(whole)
    return f"{_first(pictures, half)}…{_first(pictures[::-1], half, last=True)}"


def _first(pictures: Iterable[str], most: int, *, last: bool = False) -> str:
    """As many as fit; with `last`, put together from the end."""
    kept = ""
    for picture in pictures:
        if cells(kept) + cells(picture) > most:
            break
        kept = picture + kept if last else kept + picture
    return kept


def styled(words: str, style: str) -> Row:
    """Words in a style that does not spread to what is appended."""
    return Row().append(words, style)


def mark(row: Row) -> None:
    """Put a sign into the indentation of a row, that of the followed token."""
    row.plain = MARK + row.plain[len(MARK) :]
    row.stylize("bold", 0, len(MARK))


def indented(rows: Iterable[Row], by: int) -> Iterator[Row]:
    """Rows that are broken already, further right; empty ones stay empty."""
    for row in rows:
        yield Row(" " * by).append_text(row) if row else row


def wrapped(words: Text, width: int, *, fold: bool = False) -> Iterable[Row]:
    """Words over as many rows as they need; with `fold`, a word longer than a row too."""
    # Rich asks for a console to wrap, and needs one only to justify.
    return words.wrap(None, width, overflow="fold" if fold else None)  # type: ignore[arg-type]


def padded(cell: str, width: int) -> str:
    """Words with as many spaces behind them as make them so wide."""
    return cell + " " * (width - cells(cell))
