"""What a mark without an end rewrites: the code or the display formula below it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracer.data.quote import Layout

MATH = "math"
"""The language of a formula."""

_FORMULAS = "equation|align|gather|multline|displaymath|eqnarray"
_OPENERS = {
    MATH: rf"\$\$|\\\[|\\begin\{{(?P<name>(?:{_FORMULAS})\*?)\}}(?:[ \t]*\\label\{{[^}}]*\}})?",
    "text": r"\\begin\{(?P<name>(?:verbatim|Verbatim|lstlisting|minted)\*?)\}.*",
}
_CLOSERS = {"$$": r"\$\$", r"\[": r"\\\]"}

_LAYOUT = re.compile(rf"\sas\s+(?:{'|'.join(Layout)})(?=[\s\"']|$)")
_MATRIX = re.compile(r"\\begin\{(\w*matrix|array)(\*?)\}.*?\\end\{\1\2\}", re.DOTALL)
_NUMBER = r"-?(?:\\infty|[0-9.]+(?: \\times 10\^\{-?[0-9]+\})?)(?:\\,\\%)?"
_RESULT = re.compile(rf"(?<=[=≈x])\s*({_NUMBER})(?![\w.^{{])")
_NOTHING_YET = re.compile(r"(?:=|≈|\\approx)[ \t]*(?=\s*$)")
_OPENING = re.compile(r"[ \t]*\r?\n(?:[ \t>]*:[\w-]+:.*\n)*")
"""The end of the first line, and the options of a directive in MyST, such as a label."""


@dataclass(frozen=True)
class Below:
    """What stands below a mark: its language, its content, and where its signs begin and end."""

    language: str
    begin: int
    content: slice
    end: int


def between_signs(text: str, at: int, end: int, languages: tuple[str, ...]) -> Below | None:
    """Return the formula or the code in LaTeX's signs that begins at a position."""
    for language in languages:
        if begin := re.compile(_OPENERS[language]).match(text, at, end):
            name = begin["name"]
            closer = rf"\\end\{{{re.escape(name)}\}}" if name else _CLOSERS[begin[0]]
            if close := re.compile(closer).search(text, begin.end(), end):
                return Below(language, at, slice(begin.end(), close.start()), close.end())
    return None


def whole_lines(text: str, content: slice) -> slice | None:
    """Return the lines between an opening and a closing sign; None if they share a line.

    The options of a directive stay outside.
    """
    inner = text[content]
    opening, closing = _OPENING.match(inner), re.search(r"\n[ \t>]*$", inner)
    if opening is None or closing is None:
        return None
    return slice(content.start + opening.end(), content.start + closing.start() + 1)


def part_of_formula(text: str, content: slice, asked: str) -> slice:
    """Return the part of a formula that a mark rewrites.

    It is the matrix for a mark with several numbers, for one number that behind the last = or ≈;
    all of the formula if it has none.

    Raises:
        ValueError: there are several matrices.
    """
    inner = text[content]
    several = _LAYOUT.search(asked)
    found = list(_MATRIX.finditer(inner)) if several else list(_RESULT.finditer(inner))[-1:]
    if len(found) > 1:
        raise ValueError(f"the formula has {len(found)} matrices, expected one to rewrite")
    if found:
        first, last = found[0].span(0 if several else 1)
    elif empty := _NOTHING_YET.search(inner):
        first = last = empty.end()
    else:
        first = len(inner) - len(inner.lstrip(" \t\r\n>"))
        last = max(first, len(inner.rstrip()))
    return slice(content.start + first, content.start + last)
