"""HTML → passages: what a reader sees, each sign at the place of what it was written with."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser

from tracer.audit.passage import CUT, FILL, Kind, Passage, blank, with_mathematics

_INSIDE_WORDS = "a abbr b bdi cite code em font i kbd mark q s samp small span strong u var wbr"
_INLINE = frozenset(_INSIDE_WORDS.split())
_UNSEEN = frozenset(("script", "style", "svg", "head", "math"))


def passages(content: str) -> Iterator[Passage]:
    """The passages of a page."""
    reader = _Reader(content)
    return with_mathematics(reader.seen(), 0, Kind.CODE)


class _Reader(HTMLParser):
    """Makes a text of the same length, in which tags are nothing, or an end."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=False)
        self.content = content
        self.starts = [0]
        for line in content.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.parts: list[tuple[int, str]] = []
        self.unseen = 0

    def seen(self) -> str:
        """The text."""
        self.feed(self.content)
        self.close()
        made, at = [], 0
        for start, part in self.parts:
            made.append(blank(self.content[at:start]))
            made.append(part)
            at = start + len(part)
        made.append(blank(self.content[at:]))
        return "".join(made)

    def _put(self, sign: str, length: int = 0) -> None:
        """What stands where the parser is, filled up to the length of what it was written with."""
        line, column = self.getpos()
        if not self.unseen:
            self.parts.append((self.starts[line - 1] + column, sign.ljust(length, FILL)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that opens: a superscript is a power, most others end what came before."""
        if tag in _UNSEEN:
            self.unseen += 1
        elif tag == "sup":
            self._put("^(", 5)
        elif tag == "sub":
            self._put("_", 5)
        elif tag not in _INLINE:
            self._put(CUT)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that is empty."""
        if tag not in _INLINE | _UNSEEN:
            self._put(CUT)

    def handle_endtag(self, tag: str) -> None:
        """A tag that closes."""
        if tag in _UNSEEN:
            self.unseen = max(0, self.unseen - 1)
        elif tag == "sup":
            self._put(")", 6)
        elif tag not in (*_INLINE, "sub"):
            self._put(CUT)

    def handle_data(self, data: str) -> None:
        """Text as it is."""
        self._put(data)

    def handle_entityref(self, name: str) -> None:
        """A sign by its name."""
        self._put(unescape(f"&{name};")[:1], len(name) + 2)

    def handle_charref(self, name: str) -> None:
        """A sign by its number."""
        self._put(unescape(f"&#{name};")[:1], len(name) + 3)
