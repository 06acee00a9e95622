"""A text → its passages: stretches that may hold equations, with their positions in the text.

Markup is replaced by as many filler characters, so that each character keeps its position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from html import unescape
from typing import TypeAlias

from tracer.audit.reading.texts import Markup, Text
from tracer.audit.reading.widths import ascii_signs

FILL = "\0"
"""Replaces markup without meaning for a reader, such as the asterisks of **bold**."""

CUT = "\x1e"
"""Replaces markup at which an expression ends, such as the end of a table cell."""


class Kind(Enum):
    """The kind of writing in a passage."""

    PROSE = auto()
    CODE = auto()
    """A code fence, a cell, plain text: line breaks and indentation are significant."""
    MATH = auto()
    """LaTeX's displayed mathematics."""


@dataclass(frozen=True)
class Passage:
    """A piece of text, its kind, and its start."""

    text: str
    start: int
    kind: Kind
    decimal: str = "."
    """The decimal sign of the text, a point or a comma."""


_BLANK_LINES = re.compile(r"\n(?=[ \t\r\0]*\n)")


def passages(text: Text, holding: re.Pattern[str] | None = None) -> Iterator[Passage]:
    """Yield the passages of a text, in order; no equation extends beyond its passage.

    With `holding`, only those in which the pattern is found.
    """
    decimal = "," if _has_decimal_commas(text.content) else "."
    for raw, start, kind in _READERS[text.markup](text.content):
        if kind is Kind.MATH:
            yield Passage(ascii_signs(raw), start, kind, decimal)
            continue
        has_markup = text.markup is Markup.MARKDOWN and kind is Kind.PROSE
        clean = _prose if has_markup else _inline
        at = start
        for written in _BLANK_LINES.split(raw):
            if holding is None or holding.search(written):
                yield Passage(clean(ascii_signs(written)), at, kind, decimal)
            at += len(written) + 1


_COMMA = re.compile(
    r"""
      (?=\d)(?<![\w,.:({\[^\\-])(?:
        0,\d*[1-9](?![\w,.:)\]}])
      | \d{1,3}\{,\}(?:\d\d?|\d{4,})(?!\d)
      | \d{1,3},(?:\d\d?|\d{4,})(?=[ \u00a0\u202f]?(?:\\?%|€|[kmc]?[mg]\b|MB\b|GB\b))
      )
    | [=≈×·⋅*+][ ]?\d{1,3},(?:\d\d?|\d{4,})(?![\w,:)\]}]|\.\d|[ ],)
    """,
    re.VERBOSE,
)
_POINT = re.compile(r"\d(?<![\w,.:-].)\d{0,2}\.\d\d?(?![\w.:])")
_FEWEST_COMMAS = 3


def _has_decimal_commas(content: str) -> bool:
    near = (found.start() for found in re.finditer(r",\}?\d", content))
    commas = sum(_COMMA.search(content, max(0, at - 5), at + 24) is not None for at in near)
    return commas >= _FEWEST_COMMAS and commas > 2 * len(_POINT.findall(content))


def _blank(text: str, fill: str = FILL) -> str:
    """Return fill characters of the same length; line breaks stay."""
    return "\n".join(fill * len(line) for line in text.split("\n"))


def _without(markup: re.Pattern[str], text: str, fill: str = FILL) -> str:
    return markup.sub(lambda found: _blank(found[0], fill), text)


def _inside(markup: re.Pattern[str], text: str) -> str:
    """Replace the markup around the group of each match by fill characters."""
    return markup.sub(
        lambda f: FILL * (f.start(1) - f.start()) + f[1] + FILL * (f.end() - f.end(1)), text
    )


# --- displayed mathematics, in texts of every kind -----------------------------------------------

_DISPLAYS = "equation align alignat gather multline displaymath eqnarray flalign aligned math"
_OPENING = re.compile(
    r"\$\$|\\(?<!\\.)\[|\\begin\{(" + "|".join(f"{name}\\*?" for name in _DISPLAYS.split()) + r")\}"
)
_INLINE = re.compile(
    r"\$(?<![\\$\w].)(?=[^\s$])((?:[^$\n]|\n(?![ \t\r]*\n)){1,300})(?<=[^\s\\])\$(?![\d$])"
)
_INLINE_APART = re.compile(
    r"\$(?<![\\$\w].)(?!\d)(?=[^$\n]{0,300}(?:[=≈]|\\approx))([^$\n]{1,300})(?<!\\)\$(?![\w$])"
)
"""Inline mathematics with spaces inside its delimiters."""
_PARENTHESES = re.compile(r"\\(?<!\\.)[()]")
_CLOSING = {"$$": "$$", "\\[": "\\]"}

Raw: TypeAlias = tuple[str, int, Kind]
"""A stretch of a text, its start and its kind, before its markup is replaced."""


def _with_mathematics(text: str, start: int, kind: Kind = Kind.PROSE) -> Iterator[Raw]:
    """Yield the displayed mathematics in a text, and the text between."""
    at = 0
    missing: set[str] = set()
    for opening in _OPENING.finditer(text):
        closing = _CLOSING.get(opening[0], f"\\end{{{opening[1]}}}")
        if opening.start() < at or closing in missing:
            continue
        end = text.find(closing, opening.end())
        until = opening.end() if end < 0 else opening.start()
        yield text[at:until], start + at, kind
        if end < 0:
            missing.add(closing)
            at = until
        else:
            yield text[opening.end() : end], start + opening.end(), Kind.MATH
            at = end + len(closing)
    yield text[at:], start + at, kind


def _inline(text: str) -> str:
    on_one_line = _INLINE.sub(lambda found: found[0].replace("\n", " "), text)
    return _without(_PARENTHESES, _inside(_INLINE_APART, _inside(_INLINE, on_one_line)))


# --- Markdown and plain text ---------------------------------------------------------------------

_FENCE = re.compile(r"^[ \t>]*(?P<bars>`{3,}|~{3,})(?P<language>[^`\n]*)(?:\n|\Z)", re.MULTILINE)
_OF_TEXT = re.compile(
    r"ad-|!!!|\{(?:admonition|note|tip|hint|warning|caution|important|attention|seealso|dropdown"
    r"|exercise|solution|example|prf:|card|tab)"
)
"""The language of a fence that holds Markdown, not code."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_QUOTE = re.compile(r"^[ \t]*(?:>(?!\\)[ \t]?)+", re.MULTILINE)
_BEGINNING = re.compile(
    r"^[ \t\0]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?!\n)|#{1,6}[ \t]+)+", re.MULTILINE
)
_HEADING = re.compile(r"^([ \t\0]*#{1,6}[ \t][^\n]*)\n", re.MULTILINE)
_ENTITY = re.compile(r"&(?:times|middot|sdot|divide|minus|asymp|approx|nbsp|equals);")
_CODE = re.compile(r"(?<!`)`(?!`)([-+*/^().,_\d\s×·÷−√π%]{1,100})`(?!`)")
"""Code that holds numbers and signs only may be a part of an equation."""
_STRONG = re.compile(r"([*_])\1(?:(?<![\d*]..)(?=[^\s*_])|(?<=[^\s*_]..)(?![\d*(]))")
_EMPHASIS = re.compile(r"\*(?<![\w*)\]\\].)(?=[^\s*])([^*\n]{0,300}[^\s*\\])\*(?![\w*(\[])")


def _markdown(content: str) -> Iterator[Raw]:
    for text, start, is_fenced in _in_fences(_without(_COMMENT, content)):
        kind = Kind.CODE if is_fenced else Kind.PROSE
        yield from _with_mathematics(text if is_fenced else _without(_QUOTE, text), start, kind)


def _prose(text: str) -> str:
    signs = _ENTITY.sub(lambda f: unescape(f[0]).ljust(len(f[0]), FILL), _inline(text))
    cut = _HEADING.sub(lambda found: found[1] + CUT, signs)
    unmarked = _inside(_CODE, _without(_STRONG, _without(_BEGINNING, cut, CUT)))
    return _inside(_EMPHASIS, unmarked)


def _plain(content: str) -> Iterator[Raw]:
    for text, start, _ in _in_fences(content):
        yield from _with_mathematics(text, start, Kind.CODE)


def _in_fences(content: str) -> Iterator[tuple[str, int, bool]]:
    """Yield each stretch inside or between code fences, its start, and whether it is code."""
    start, fence, is_code = 0, "", False
    for bars in _FENCE.finditer(content):
        closes = fence and bars["bars"].startswith(fence) and not bars["language"].strip()
        if closes or not fence:
            yield content[start : bars.start()], start, is_code
            fence, start = "" if closes else bars["bars"], bars.end()
            is_code = bool(fence) and not _OF_TEXT.match(bars["language"].strip())
    yield content[start:], start, is_code


# --- LaTeX ---------------------------------------------------------------------------------------

_REMARK = re.compile(r"%(?<!\\.)[^\n]*")
_VERBATIM = re.compile(r"\\begin\{(verbatim|lstlisting|minted|alltt)\*?\}")


def _latex(content: str) -> Iterator[Raw]:
    at = 0
    for opening in _VERBATIM.finditer(content):
        if opening.start() < at:
            continue
        end = content.find(f"\\end{{{opening[1]}", opening.end())
        if end < 0:
            break
        yield from _set(content[at : opening.start()], at)
        yield content[opening.end() : end], opening.end(), Kind.CODE
        at = end
    yield from _set(content[at:], at)


def _set(content: str, start: int) -> Iterator[Raw]:
    return _with_mathematics(_without(_REMARK, content).replace("~", " "), start)


# --- reStructuredText ----------------------------------------------------------------------------

_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\. math::[ \t]*(.*\n(?:(?:\1[ \t]+\S.*|[ \t]*)\n?)*)", re.MULTILINE
)
_ROLE = re.compile(r":math:`([^`]{0,500})`")
_STARS = re.compile(r"\*(?:(?<![\w*].)\*?(?=[^\s*])|(?<=[^\s*].)\*?(?![\w*(]))")
_OPTION = re.compile(r":(?:label|nowrap|name|class|no-wrap|number):[^\n]*")


def _restructured(content: str) -> Iterator[Raw]:
    at = 0
    for block in _DIRECTIVE.finditer(content):
        yield from _unmarked(content[at : block.start()], at)
        yield _without(_OPTION, block[2]), block.start(2), Kind.MATH
        at = block.end()
    yield from _unmarked(content[at:], at)


def _unmarked(content: str, start: int) -> Iterator[Raw]:
    return _with_mathematics(_without(_STARS, _inside(_ROLE, content)), start, Kind.CODE)


# --- HTML ----------------------------------------------------------------------------------------

_TAG = re.compile(
    r"""
      <!--.*?(?:-->|\Z)
    | <(?P<close>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)[^<>]{0,2000}>
    | &(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE_WORDS = "a abbr b bdi cite code em font i kbd mark q s samp small span strong sub u var wbr"
_NOTHING = frozenset(_INSIDE_WORDS.split())
_UNSEEN = ("script", "style", "svg", "head", "math")
_SIGNS = {"<sup>": "^(", "</sup>": ")", "<sub>": "_"}
"""A superscript is read as an exponent."""


def _html(content: str) -> Iterator[Raw]:
    """Yield what a reader sees, each character at the position of its source."""
    made: list[str] = []
    at = 0
    while found := _TAG.search(content, at):
        end = found.end()
        if found["tag"] and not found["close"] and found["tag"].lower() in _UNSEEN:
            closed = re.compile(f"</{found['tag']}", re.IGNORECASE).search(content, end)
            end = closed.start() if closed else len(content)
        shown = _shown(found)
        filler = _blank(content[found.start() + len(shown) : end])
        made += content[at : found.start()], shown, filler
        at = end
    return _with_mathematics("".join((*made, content[at:])), 0, Kind.CODE)


def _shown(found: re.Match[str]) -> str:
    """Return the replacement of a piece of markup, which is never longer."""
    if found[0].startswith("&"):
        return unescape(found[0])[:1]
    if found["tag"] is None:
        return FILL
    tag = found["tag"].lower()
    return _SIGNS.get(f"<{found['close']}{tag}>", "" if tag in _NOTHING else CUT)


_READERS = {
    Markup.MARKDOWN: _markdown,
    Markup.LATEX: _latex,
    Markup.RESTRUCTURED: _restructured,
    Markup.HTML: _html,
    Markup.PLAIN: _plain,
}
