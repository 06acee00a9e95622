"""The marks of a Markdown file: their positions, their commands, their contents.

A line ends with "\\n" alone; all else that Python calls a line break is a character of the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate, pairwise

from tracer.weave.below import MATH, Below, part_of_formula, whole_lines
from tracer.weave.structure import ABOVE, DEEPEST, MARKED, NO_END, blocks
from tracer.weave.tags import START, Tag, tags

_BULLET = re.compile(r"[^>\s]")
_ROW = re.compile(r"[ \t>]*\|")
"""A line of a table."""
_BLANK = re.compile(r"[ \t>]*\r?")

_NO_END = "no end, expected <!-- /decoder-trace -->"
_NO_END_OF_BLOCK = (
    f"{_NO_END} alone on a line with the same prefix, before the next mark; or code or a formula "
    "below the start"
)
_NO_END_ON_LINE = f"{_NO_END} on the same line (or the start alone on it)"
_TOO_DEEP = f"nested quotations and lists, expected at most {DEEPEST} levels"


_IN_CODE = (
    "a mark in code, where nothing is woven: place it above the code; "
    "in a fence of the language markdown, html or latex it is an example"
)
_OTHER_SIGN = re.compile(r"[ \t>]*((?:%+|\.\.|\{/\*)[ \t]*decoder-trace:)")
_WRONG_SIGN = "no mark of this file, expected <!-- decoder-trace: … -->"

EXAMPLES = {"markdown", "md", "mdx", "qmd", "rmd", "myst", "html", "xml", "latex", "tex"}
"""Languages of fences that may show marks."""


class Place(Enum):
    """Where the content of a mark is."""

    TEXT = auto()
    """Between the start and the end, in Markdown."""
    LINES = auto()
    """Whole lines, as they are."""
    PART = auto()
    """A part of a formula."""


@dataclass(frozen=True)
class Mark:
    """A start, the content up to its end, and how to replace the content."""

    asked: str
    """The command in the start: `step attention --token 4`."""
    line: int
    column: int
    prefix: str | None
    """The prefix of each line of a block; None for content within a line."""
    content: slice
    """The content, as a slice of the file's text."""
    is_whole: bool = True
    """Whether all fences that open in the content also end in it."""
    place: Place = Place.TEXT
    language: str | None = None
    """The language of code or, as `math`, of a formula; None for text in Markdown."""


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


def mark_above(text: str, asked: str, place: tuple[int, int], below: Below) -> Mark:
    """Return the mark above code or a formula.

    Raises:
        ValueError: it is not clear which part of the formula to rewrite.
    """
    prefix = _BULLET.sub(" ", text[text.rfind("\n", 0, below.begin) + 1 : below.begin])
    lines, language = whole_lines(text, below.content), below.language
    if language == MATH and (lines is None or text[lines].strip()):
        part = part_of_formula(text, lines or below.content, asked)
        return Mark(asked, *place, prefix if lines else None, part, True, Place.PART, language)
    if lines is None:
        raise ValueError("code that shares its lines with the signs around it")
    return Mark(asked, *place, prefix, lines, True, Place.LINES, language)


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
            elif token.type == ABOVE:
                self.above(begin, token.meta["below"])
            elif token.type == NO_END:
                column = len(self.start(begin)[0]) + 1
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
            elif token.type in ("fence", "code_block"):
                self.code(begin, end, {word.strip("{}.").lower() for word in token.info.split()})
            elif token.type in ("blockquote_open", "list_item_open") and token.level >= DEEPEST - 1:
                self.complaints.append(Complaint(_TOO_DEEP, begin + 1, 1))

    def code(self, begin: int, end: int, languages: set[str]) -> None:
        """Complain of the first mark in code, unless the code shows a text with marks."""
        for line in range(begin, end if languages.isdisjoint(EXAMPLES) else begin):
            if found := START.search(self.lines[line]):
                self.complaints.append(Complaint(_IN_CODE, line + 1, found.start() + 1))
                break

    def start(self, line: int) -> tuple[str, str]:
        """Return what precedes a start that is alone on its line, and its command."""
        before, _, mark = self.lines[line].partition("<!--")
        return before, mark.partition("decoder-trace:")[2].partition("-->")[0]

    def above(self, line: int, below: Below) -> None:
        """Add a mark above code or a formula."""
        before, asked = self.start(line)
        place = (line + 1, len(before) + 1)
        try:
            self.marks.append(mark_above(self.text, asked, place, below))
        except ValueError as error:
            self.complaints.append(Complaint(str(error), *place))

    def block(self, line: int, end: int, *, is_whole: bool) -> None:
        """Add a mark that is alone on its line, as its end is."""
        before, asked = self.start(line)
        content = slice(self.starts[line + 1], self.starts[end])
        prefix = _BULLET.sub(" ", before)
        self.marks.append(Mark(asked, line + 1, len(before) + 1, prefix, content, is_whole))

    def within(self, first: int, end: int, *, in_html: bool = False) -> None:
        """Find the marks within the lines of a paragraph, a heading or HTML."""
        offset = self.starts[first]
        text = self.text[offset : self.starts[end]]
        if "decoder-trace" not in text:
            return
        for line in range(first, end):
            if other := _OTHER_SIGN.match(self.lines[line]):
                self.complaints.append(Complaint(_WRONG_SIGN, line + 1, other.start(1) + 1))
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
