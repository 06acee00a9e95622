"""The marks of a Markdown file: where they stand, what they ask for, what is between them.

A line ends with "\\n" alone; all else that Python calls a line break is a character of the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from tracer.frozen import frozen
from tracer.weave.structure import Kind, Structure

_START = re.compile(r"<!--[ \t]*+decoder-trace:")
_END = re.compile(r"<!--[ \t]*+/decoder-trace[ \t]*+-->")
_START_ALONE = re.compile(rf" {{0,3}}{_START.pattern}(?:(?!-->).)*+-->[ \t]*+\Z")
_END_ALONE = re.compile(rf" {{0,3}}{_END.pattern}[ \t]*+\Z")
_SIGN_OF_TEXT = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<!--")
_SIGN_OF_HTML = re.compile("<!--")
_EMPTY = re.compile("-?>")
_BULLET = re.compile(r"[^>\s]")

_NO_END = "no end, expected <!-- /decoder-trace -->"
_NO_END_OF_BLOCK = f"{_NO_END} alone on a line behind the same prefix, before the next mark"
_NO_END_ON_LINE = f"{_NO_END} on the same line (or the start alone on it)"


@frozen
class Mark:
    """A start, what is between it and its end, and how that is to be replaced."""

    asked: str
    """What the start says: `step attention --token 4`."""
    line: int
    column: int
    prefix: str | None
    """What each line of a block begins with; None of a mark within a line."""
    content: slice
    """What is replaced, as a part of the file's text."""
    is_whole: bool = True
    """Whether all that its content opens ends before it does."""


@frozen
class Complaint:
    """What does not fit together, counted from 1."""

    message: str
    line: int
    column: int


def find(text: str) -> tuple[list[Mark], list[Complaint]]:
    """The marks of a text, and what is wrong with them, in the order in which they stand.

    What CommonMark takes for code or for a comment is left alone.
    """
    if "decoder-trace" not in text:
        return [], []
    finder = _Finder(text)
    finder.blocks()
    finder.complaints.sort(key=lambda complaint: (complaint.line, complaint.column))
    return finder.marks, finder.complaints


@frozen
class _Tag:
    """A start or an end; a start that does not end on its line asks for None."""

    at: int
    end: int
    is_start: bool
    asked: str | None = None


@dataclass
class _Finder:
    text: str
    marks: list[Mark] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def blocks(self) -> None:
        """Find those alone on their lines, and what other text there is to look at."""
        structure = Structure()
        number, first = 0, 0
        kind = Kind.BLANK
        while number < len(self.lines):
            line = structure.read(self.lines[number])
            alone = line.kind is Kind.HTML and _START_ALONE.match(line.content)
            is_row = line.content.lstrip(" ").startswith("|")  # of a table
            if alone or is_row or not line.goes_on:
                self.within(first, number, kind)
                first, kind = number, line.kind
            number += 1
            if not alone:
                continue
            first, kind = number, Kind.BLANK
            if (found := self.end_of_block(structure, number)) is None:
                column = self.lines[number - 1].index("<!--") + 1
                self.complaints.append(Complaint(_NO_END_OF_BLOCK, number, column))
            else:
                end, is_whole = found
                self.block(number - 1, end, is_whole=is_whole)
                number = first = end + 1
                structure = structure.within()
        self.within(first, number, kind)

    def block(self, start: int, end: int, *, is_whole: bool) -> None:
        line = self.lines[start]
        before = line[: line.index("<!--")]
        content = slice(self.starts[start + 1], self.starts[end])
        said = line.partition("decoder-trace:")[2].partition("-->")[0]
        prefix = _BULLET.sub(" ", before)
        self.marks.append(Mark(said, start + 1, len(before) + 1, prefix, content, is_whole))

    def end_of_block(self, around: Structure, begin: int) -> tuple[int, bool] | None:
        """The line of a block's end, the first that no fence in it hides; whether fences end.

        A fence that nothing closes hides none. No other start or end may come before, not even in
        a fence: a block whose end is missing must not reach into what the author wrote.
        """
        structure = around.within()
        hidden = None
        for number in range(begin, len(self.lines)):
            line = self.lines[number]
            if (content := around.inside(line)) is None:
                break
            in_fence = structure.in_fence(line)
            if _END_ALONE.match(content):
                if not in_fence:
                    return number, True
                hidden = number if hidden is None else hidden
            elif "decoder-trace" in line and any(_tags(line, Kind.TEXT)):
                break
            if structure.read(line).closes_fence:
                hidden = None
        return None if hidden is None else (hidden, False)

    def within(self, first: int, end: int, kind: Kind) -> None:
        """Find those within the lines of a paragraph, a heading or HTML."""
        offset = self.starts[first]
        text = self.text[offset : self.starts[end]]
        if kind in (Kind.BLANK, Kind.CODE) or "decoder-trace" not in text:
            return
        start: _Tag | None = None
        for tag in _tags(text, kind):
            if start and self.place(offset + start.at)[0] != self.place(offset + tag.at)[0]:
                self.complain(offset, start, _NO_END_ON_LINE)
                start = None
            if tag.is_start and tag.asked is None:
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
                self.marks.append(Mark(start.asked or "", line, column, None, content))
                start = None
        if start:
            self.complain(offset, start, _NO_END_ON_LINE)

    def complain(self, offset: int, tag: _Tag, message: str) -> None:
        self.complaints.append(Complaint(message, *self.place(offset + tag.at)))

    def place(self, at: int) -> tuple[int, int]:
        """The line and column, counted from 1."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


def _tags(text: str, kind: Kind) -> Iterator[_Tag]:
    """The starts and ends of a paragraph that are not in a code span, another comment or escaped.

    In HTML nothing is code, and nothing is escaped.
    """
    sign = _SIGN_OF_TEXT if kind is Kind.TEXT else _SIGN_OF_HTML
    ends = _Ends(text)
    at = 0
    while found := sign.search(text, at):
        at = found.end()
        if found[0].startswith("`"):
            at = ends.of_code(found)
        elif start := _START.match(text, found.start()):
            end = ends.of_comment(start.end())
            line_end = text.find("\n", start.end(), end)
            if end == len(text) or line_end >= 0:
                at = end if line_end < 0 else line_end
                yield _Tag(found.start(), at, True)
            else:
                at = end + len("-->")
                yield _Tag(found.start(), at, True, text[start.end() : end])
        elif closing := _END.match(text, found.start()):
            at = closing.end()
            yield _Tag(found.start(), at, False)
        elif found[0] == "<!--" and not _EMPTY.match(text, at):
            end = ends.of_comment(at)
            at = at if end == len(text) else end + len("-->")


class _Ends:
    """Where code spans and comments of a text end, each looked for once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.comment = -1

    @cached_property
    def bars(self) -> dict[int, list[int]]:
        """Where there are runs of so many backticks."""
        found = defaultdict[int, list[int]](list)
        for run in re.finditer("`+", self.text):
            found[len(run[0])].append(run.start())
        return found

    def of_code(self, bars: re.Match[str]) -> int:
        """Behind the code span that backticks begin; behind them if they begin none."""
        same = self.bars.get(len(bars[0]), [])
        following = bisect_right(same, bars.start())
        return same[following] + len(bars[0]) if following < len(same) else bars.end()

    def of_comment(self, at: int) -> int:
        """The next `-->` from there on; the end of the text if there is none."""
        if self.comment < at:
            found = self.text.find("-->", at)
            self.comment = len(self.text) if found < 0 else found
        return self.comment
