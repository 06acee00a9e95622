"""The marks of a Markdown file: their positions, their commands, their contents.

A line ends with "\\n" alone; all else that Python calls a line break is a character of the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tracer.weave.structure import DEEPEST, MARKED, NO_END, blocks
from tracer.weave.tags import Tag, tags

_BULLET = re.compile(r"[^>\s]")
_ROW = re.compile(r"[ \t>]*\|")
"""A line of a table."""
_BLANK = re.compile(r"[ \t>]*\r?")

_NO_END = "no end, expected <!-- /decoder-trace -->"
_NO_END_OF_BLOCK = f"{_NO_END} alone on a line with the same prefix, before the next mark"
_NO_END_ON_LINE = f"{_NO_END} on the same line (or the start alone on it)"
_TOO_DEEP = f"nested quotations and lists, expected at most {DEEPEST} levels"


@dataclass(frozen=True)
class Mark:
    """A start, the content up to its end, and how to replace the content."""

    asked: str
    """The command in the start: `step attention --token 4`."""
    line: int
    column: int
    prefix: str | None
    """The prefix of each line of a block; None for a mark within a line."""
    content: slice
    """The content, as a slice of the file's text."""
    is_whole: bool = True
    """Whether all fences that open in the content also end in it."""


@dataclass(frozen=True)
class Complaint:
    """A problem with a mark; line and column count from 1."""

    message: str
    line: int
    column: int


def find(text: str) -> tuple[list[Mark], list[Complaint]]:
    """Return the marks of a text and the problems with them, both in text order.

    Code and comments, as CommonMark defines them, are left alone.
    """
    if "decoder-trace" not in text:
        return [], []
    finder = _Finder(text)
    finder.blocks()
    finder.complaints.sort(key=lambda complaint: (complaint.line, complaint.column))
    return finder.marks, finder.complaints


class _Finder:
    def __init__(self, text: str) -> None:
        self.text, self.lines = text, text.split("\n")
        self.marks, self.complaints = list[Mark](), list[Complaint]()
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def blocks(self) -> None:
        """Find the marks that are alone on their lines, and search all other text for marks."""
        paragraph_end = None
        for token in blocks(self.text):
            begin, end = token.map or (0, 0)
            end = min(end, len(self.lines))
            if token.type == MARKED:
                self.block(begin, end - 1, is_whole=token.meta["whole"])
            elif token.type == NO_END:
                column = self.lines[begin].index("<!--") + 1
                self.complaints.append(Complaint(_NO_END_OF_BLOCK, begin + 1, column))
            elif token.type == "html_block":
                self.within(begin, end, in_html=True)
            elif token.type == "inline":
                rows = (line for line in range(begin + 1, end) if _ROW.match(self.lines[line]))
                for first, last in pairwise([begin, *rows, end]):
                    self.within(first, last)
            elif token.type == "paragraph_open":
                paragraph_end = end
            elif token.type == "code_block" and begin == paragraph_end:
                # Code cannot interrupt a paragraph: the parser is wrong about lazy lines.
                blank = (n for n in range(begin, end) if _BLANK.fullmatch(self.lines[n]))
                self.within(begin, next(blank, end))
            elif token.type in ("blockquote_open", "list_item_open") and token.level >= DEEPEST - 1:
                self.complaints.append(Complaint(_TOO_DEEP, begin + 1, 1))

    def block(self, start: int, end: int, *, is_whole: bool) -> None:
        line = self.lines[start]
        before = line[: line.index("<!--")]
        content = slice(self.starts[start + 1], self.starts[end])
        asked = line.partition("decoder-trace:")[2].partition("-->")[0]
        prefix = _BULLET.sub(" ", before)
        self.marks.append(Mark(asked, start + 1, len(before) + 1, prefix, content, is_whole))

    def within(self, first: int, end: int, *, in_html: bool = False) -> None:
        """Find the marks within the lines of a paragraph, a heading or HTML."""
        offset = self.starts[first]
        text = self.text[offset : self.starts[end]]
        if "decoder-trace" not in text:
            return
        start: Tag | None = None
        for tag in tags(text, in_html=in_html):
            if start and self.place(offset + start.at)[0] != self.place(offset + tag.at)[0]:
                self.complain(offset, start, _NO_END_ON_LINE)
                start = None
            if tag.is_start and tag.command is None:
                self.complain(offset, tag, "the mark has no --> on its line")
            elif tag.is_start and start:
                self.complain(offset, tag, "a start inside a mark")
            elif tag.is_start:
                start = tag
            elif start is None:
                self.complain(offset, tag, "an end without a start")
            else:
                content = slice(offset + start.end, offset + tag.at)
                line, column = self.place(offset + start.at)
                self.marks.append(Mark(start.command or "", line, column, None, content))
                start = None
        if start:
            self.complain(offset, start, _NO_END_ON_LINE)

    def complain(self, offset: int, tag: Tag, message: str) -> None:
        self.complaints.append(Complaint(message, *self.place(offset + tag.at)))

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and column, counted from 1."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1
