"""Full-width digits and signs, as in Chinese and Japanese texts, in their ASCII forms."""

from __future__ import annotations

import re

_FULL = "０１２３４５６７８９＝＋－＊／％＾"
_ASCII = str.maketrans(_FULL, "0123456789=+-*/%^")
_ANY = re.compile(rf"[（，、．{_FULL}]")
_POINT = re.compile(r"(?<=\d)．(?=\d)")
_SIGN = r"[-+*/^%=≈−×÷·⋅√]"
_INSIDE = r"（(?P<inside>[^（）\n]*)）"
_BRACKETS = (
    re.compile(rf"(?:(?<={_SIGN})|(?<={_SIGN}\s)|(?<=[a-z])){_INSIDE}"),
    re.compile(rf"(?<![\d)）]){_INSIDE}(?=\s*[-+*/^−×÷·⋅])"),
    re.compile(rf"(?<![\w)）]){_INSIDE}(?=\s*[=≈])"),
)
"""Brackets beside a sign, or behind the name of a function; others hold remarks."""
_ARITHMETIC = re.compile(r"[\d\s.,()\[\]，、+*/^%−×÷·⋅√-]*\d[\d\s.,()\[\]，、+*/^%−×÷·⋅√-]*")
_COMMA = re.compile(r"(?<=\d)[，、](?=\s?[-−]?[\d.][^()\[\]\n]{0,200}[)\]])")
"""A comma in a row of numbers; elsewhere it ends a sentence."""


def ascii_signs(text: str) -> str:
    """Return a text of the same length in which arithmetic has ASCII digits, signs and brackets."""
    if not _ANY.search(text):
        return text
    plain = _POINT.sub(".", text.translate(_ASCII))
    for _ in range(_DEEPEST):
        for brackets in _BRACKETS:
            plain = brackets.sub(_bracket, plain)
    return _COMMA.sub(",", plain)


_DEEPEST = 3
"""Brackets in more brackets are not read."""


def _bracket(found: re.Match[str]) -> str:
    is_computed = _ARITHMETIC.fullmatch(found["inside"])
    return f"({found['inside']})" if is_computed else found[0]
