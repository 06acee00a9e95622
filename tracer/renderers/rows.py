"""A line of a terminal with its styles, and the width of words in cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rich.cells import cell_len
from rich.text import Span, Text

from tracer.names import name_text
from tracer.renderers.text import CLUSTERS

INDENT, GAP = 2, "  "
LONGEST_NAME = 24
"""Longer names are shortened beside numbers; the table of tokens has them whole."""

MARK = "▸ "
"""Before the row of the token that is followed."""

NARROW = re.compile("[ -~×·─═▸²³¹√≈∞⁰⁴-⁹⁻₀-₉α-ω]*")
"""Characters of one cell each, of which most lines and labels consist."""


@lru_cache(4096)
def cells(words: str) -> int:
    """The width of words: 日 takes two cells."""
    return len(words) if words.isascii() or NARROW.fullmatch(words) else cell_len(words)


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """A name, its middle left out where it is too long."""
    whole = name_text(name)
    most = min(most, LONGEST_NAME)
    if cells(whole) <= most:
        return whole
    half = (most - 1) // 2
    pictures = CLUSTERS.findall(whole)
    return f"{_first(pictures, half)}…{_first(pictures[::-1], half, last=True)}"


def _first(pictures: Iterable[str], most: int, *, last: bool = False) -> str:
    """Return the first pieces that fit; with `last`, the last ones."""
    kept = ""
    for picture in pictures:
        if cells(kept) + cells(picture) > most:
            break
        kept = picture + kept if last else kept + picture
    return kept


class Row:
    """Words and the styles of their spans; without color as cheap as the words."""

    __slots__ = ("plain", "spans")

    def __init__(self, plain: str = "", style: str = "") -> None:
        self.plain = plain
        self.spans = [(0, len(plain), style)] if style else []

    def stylize(self, style: str, start: int = 0, end: int | None = None) -> Row:
        """Add a style, and return the row."""
        self.spans.append((start, len(self.plain) if end is None else end, style))
        return self

    def styled(self, spans: Iterable[tuple[int, int, str]], by: int = 0) -> Row:
        """Add the styles of spans that are moved to the right, and return the row."""
        self.spans += [(start + by, end + by, style) for start, end, style in spans]
        return self

    def indented(self, by: int) -> Row:
        """Move the row to the right, unless it is empty, and return it."""
        if self.plain:
            self.plain = " " * by + self.plain
            self.spans = [(start + by, end + by, style) for start, end, style in self.spans]
        return self

    def marked(self) -> Row:
        """Mark the row of the followed token in its indentation, and return it."""
        self.plain = MARK + self.plain[len(MARK) :]
        return self.stylize("bold", 0, len(MARK))

    def text(self) -> Text:
        """The row for Rich, which neither wraps nor cuts it; a terminal folds it."""
        width = len(self.plain)  # beyond it Rich finds no character to style
        spans = [Span(start, min(end, width), style) for start, end, style in self.spans]
        return Text(self.plain, spans=spans, no_wrap=True, overflow="ignore")


def indented(rows: Iterable[Row], by: int) -> Iterator[Row]:
    """Indent each row."""
    return (row.indented(by) for row in rows)


def wrapped(words: Text | str, width: int, *, fold: bool = False) -> Iterator[Row]:
    """Words in as many rows as they need; with `fold`, long words are broken, too."""
    text = Text(words) if isinstance(words, str) else words
    for line in _lines(text, width, fold):
        row = Row(line.plain.rstrip())
        row.spans = [(span.start, span.end, str(span.style)) for span in line.spans]
        if line.style:
            row.stylize(str(line.style))
        yield row


def _lines(text: Text, width: int, fold: bool) -> Iterable[Text]:
    if text.cell_len <= width and not {"\n", "\t"} & set(text.plain):
        return (text,)
    # Rich asks for a console to wrap, and needs one only to justify.
    return text.wrap(None, width, overflow="fold" if fold else None)  # type: ignore[arg-type]


def padded(cell: str, width: int) -> str:
    """Words, followed by spaces up to a width."""
    return cell + " " * (width - cells(cell))
