"""The starts and ends of marks in a piece of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

START = re.compile(r"<!--[ \t]*+decoder-trace:")
END = re.compile(r"<!--[ \t]*+/decoder-trace[ \t]*+-->")
_SIGN_OF_TEXT = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<!--")
_SIGN_OF_HTML = re.compile("<!--")
_EMPTY = re.compile("-?>")


@dataclass(frozen=True)
class Tag:
    """A start or an end; `command` is None for an end, and for a start cut off by its line end."""

    at: int
    end: int
    is_start: bool
    command: str | None = None


def tags(text: str, *, in_html: bool) -> Iterator[Tag]:
    """Yield the starts and ends in a paragraph that are not escaped, in code or in a comment.

    HTML has no code spans and no escapes.
    """
    sign = _SIGN_OF_HTML if in_html else _SIGN_OF_TEXT
    ends = _Ends(text)
    at = 0
    while found := sign.search(text, at):
        at = found.end()
        if found[0].startswith("`"):
            at = ends.of_code(found)
        elif start := START.match(text, found.start()):
            end = ends.of_comment(start.end())
            line_end = text.find("\n", start.end(), end)
            if end == len(text) or line_end >= 0:
                at = end if line_end < 0 else line_end
                yield Tag(found.start(), at, True)
            else:
                at = end + len("-->")
                yield Tag(found.start(), at, True, text[start.end() : end])
        elif closing := END.match(text, found.start()):
            at = closing.end()
            yield Tag(found.start(), at, False)
        elif found[0] == "<!--" and not _EMPTY.match(text, at):
            end = ends.of_comment(at)
            at = at if end == len(text) else end + len("-->")


class _Ends:
    """The ends of code spans and comments in a text; each one is searched for once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.comment = -1

    @cached_property
    def bars(self) -> dict[int, list[int]]:
        """The positions of backtick runs, by their length."""
        found = defaultdict[int, list[int]](list)
        for run in re.finditer("`+", self.text):
            found[len(run[0])].append(run.start())
        return found

    def of_code(self, bars: re.Match[str]) -> int:
        """Return the end of the code span that backticks begin; without a span, their own end."""
        same = self.bars.get(len(bars[0]), [])
        following = bisect_right(same, bars.start())
        return same[following] + len(bars[0]) if following < len(same) else bars.end()

    def of_comment(self, at: int) -> int:
        """Return the position of the next `-->`; the end of the text if there is none."""
        if self.comment < at:
            found = self.text.find("-->", at)
            self.comment = len(self.text) if found < 0 else found
        return self.comment
