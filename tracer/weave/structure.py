"""The lines of a Markdown file as CommonMark has them: text, HTML or code, in which containers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from tracer.frozen import frozen

DEEPEST = 100
"""Containers in each other; what would open one more is text."""

_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?= |\Z)")
_CODE = re.compile(r" {4}")
_RULE = re.compile(r" {0,3}(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)\Z")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++) *+\Z")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |\Z)")
_FENCE = re.compile(r" {0,3}(?P<bars>`{3,}+(?=[^`]*+\Z)|~{3,}+)")
_FENCE_END = re.compile(r" {0,3}(?P<bars>`++|~++) *+\Z")
_BLANK = re.compile(r" *+\Z")

_TABLE = "table tbody td tfoot th thead tr caption col colgroup"
_PAGE = "html head body base basefont link meta title frame frameset noframes iframe"
_LIST = "ul ol li dl dd dt dir menu menuitem"
_FORM = "form fieldset legend optgroup option param"
_PART = (
    "address article aside blockquote center details dialog div figcaption figure footer header "
    "h1 h2 h3 h4 h5 h6 hr main nav p search section summary track"
)
_NAMES = "|".join(f"{_TABLE} {_PAGE} {_LIST} {_FORM} {_PART}".split())
_ATTRIBUTE = r""" ++[A-Za-z_:][\w.:-]*+(?: *+= *+(?:[^ "'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
_TAG = rf"</?[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+ *+/?>"


@frozen
class _Html:
    """How a block of HTML begins and ends; one in which comments mean nothing hides marks."""

    start: re.Pattern[str]
    end: re.Pattern[str] | None
    """What its last line holds; a blank line if there is none."""
    hides: bool = False
    interrupts: bool = True
    """Whether it may begin behind a line of a paragraph."""


def _html(start: str, end: str | None = None, **how: bool) -> _Html:
    last = re.compile(end, re.IGNORECASE) if end else None
    return _Html(re.compile(rf" {{0,3}}{start}", re.IGNORECASE | re.ASCII), last, **how)


_HTML = (
    _html(r"<(?:script|pre|style|textarea)(?=[ >]|\Z)", "</(?:script|pre|style|textarea)>"),
    _html(r"<!--", "-->", hides=True),
    _html(r"<\?", r"\?>", hides=True),
    _html(r"<!\[CDATA\[", r"\]\]>", hides=True),
    _html(r"<![A-Z]", ">", hides=True),
    _html(rf"</?(?:{_NAMES})(?=[ >]|/>|\Z)"),
    _html(rf"{_TAG} *+\Z", interrupts=False),
)

_PARAGRAPH = "paragraph"
_Fence: TypeAlias = tuple[str, int]
"""The sign of its bars and how many there are."""


class Kind(Enum):
    """What a line is."""

    BLANK = auto()
    TEXT = auto()
    HTML = auto()
    HIDDEN = auto()
    """It goes on with a comment, or with what is no part of the page either."""
    CODE = auto()


@frozen
class Line:
    """A line that was read."""

    kind: Kind
    goes_on: bool
    """Whether it belongs to the paragraph or the HTML of the line before it."""
    content: str
    """What stands in its containers, its tabs as spaces."""
    closes_fence: bool = False


@dataclass
class Structure:
    """Reads a file line by line, and knows what is open behind the lines that it has read."""

    containers: list[int] = field(default_factory=list)
    """From the outside in: how far in the text of a list item stands; 0 is a block quote."""
    _open: str | _Fence | _Html | None = None
    _only_a_bullet: bool = False

    def within(self) -> Structure:
        """What reads on in the same containers as if nothing stood in them yet."""
        return Structure(list(self.containers))

    def in_fence(self, line: str) -> bool:
        """Whether a line, the next one, belongs to an open code fence."""
        return isinstance(self._open, tuple) and self.inside(line) is not None

    def inside(self, line: str) -> str | None:
        """What of a line stands in all the containers; None if one of them has ended."""
        text = _plain(line)
        matched, at = self._matched(text)
        return text[at:] if matched == len(self.containers) else None

    def read(self, line: str) -> Line:
        """Read the next line."""
        text = _plain(line)
        matched, at = self._matched(text)
        all_matched = matched == len(self.containers)
        open_before, self._only_a_bullet = self._open, False
        match open_before:
            case (sign, number) if all_matched:
                end = _FENCE_END.match(text, at)
                closes = bool(end and end["bars"][0] == sign and len(end["bars"]) >= number)
                self._open = None if closes else open_before
                return Line(Kind.CODE, True, text[at:], closes_fence=closes)
            case _Html() if all_matched:
                self._end_html(open_before, text, at)
                kind = Kind.HIDDEN if open_before.hides else Kind.HTML
                return Line(kind, True, text[at:])
        in_paragraph = open_before == _PARAGRAPH
        if in_paragraph and all_matched and _UNDERLINE.match(text, at):
            self._open = None
            return Line(Kind.TEXT, True, text[at:])

        inner, at = self._opened(text, at, in_paragraph=in_paragraph and all_matched)
        in_paragraph = in_paragraph and not inner
        kind, begun = _begun(text, at, in_paragraph=in_paragraph)
        if in_paragraph and begun == _PARAGRAPH:
            return Line(
                kind, True, text[at:]
            )  # also if a quote's sign or an indentation is left out
        self.containers[matched:] = inner
        self._open = begun
        self._only_a_bullet = bool(inner and inner[-1]) and kind is Kind.BLANK
        if isinstance(begun, _Html):
            self._end_html(begun, text, at)
        return Line(kind, False, text[at:])

    def _matched(self, text: str) -> tuple[int, int]:
        """How many containers go on in a line, and where the text in them begins."""
        at = 0
        blank = _BLANK.match(text)
        for number, width in enumerate(self.containers):
            if width == 0:
                if not (found := _QUOTE.match(text, at)):
                    return number, at
                at = found.end()
                blank = _BLANK.match(text, at)
            elif blank:
                if self._only_a_bullet and number == len(self.containers) - 1:
                    return number, at
            elif text.startswith(" " * width, at):
                at += width
            else:
                return number, at
        return len(self.containers), at

    def _opened(self, text: str, at: int, *, in_paragraph: bool) -> tuple[list[int], int]:
        """The containers that begin in a line, and where the text in them begins."""
        opened: list[int] = []
        while len(self.containers) + len(opened) < DEEPEST:
            if found := _QUOTE.match(text, at):
                opened.append(0)
                at = found.end()
            elif (found := _ITEM.match(text, at)) and not _RULE.match(text, at):
                blank = _BLANK.match(text, found.end())
                if in_paragraph and not opened and (blank or found["number"] not in (None, "1")):
                    break
                end = found.end() if blank else _behind_spaces(text, found.end())
                if blank or end - found.end() > 4:  # an empty item, or one that begins with code
                    end = found.end() + 1
                opened.append(end - at)
                at = end
            else:
                break
        return opened, at

    def _end_html(self, html: _Html, text: str, at: int) -> None:
        if html.end.search(text, at) if html.end else _BLANK.match(text, at):
            self._open = None


def _begun(text: str, at: int, *, in_paragraph: bool) -> tuple[Kind, str | _Fence | _Html | None]:
    """What a line is behind its containers, and what it leaves open."""
    if _BLANK.match(text, at):
        return Kind.BLANK, None
    if _CODE.match(text, at):
        return (Kind.TEXT, _PARAGRAPH) if in_paragraph else (Kind.CODE, None)
    if fence := _FENCE.match(text, at):
        return Kind.CODE, (fence["bars"][0], len(fence["bars"]))
    if text.startswith("<", _behind_spaces(text, at)):
        for html in _HTML:
            if html.start.match(text, at) and (html.interrupts or not in_paragraph):
                return Kind.HTML, html
    if _HEADING.match(text, at) or _RULE.match(text, at):
        return Kind.TEXT, None
    return Kind.TEXT, _PARAGRAPH


def _plain(line: str) -> str:
    """A line without its end, tabs as the spaces that they stand for."""
    return line.removesuffix("\r").expandtabs(4)


def _behind_spaces(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip(" "))
