"""Numbers as they are written: with a decimal sign, separated thousands, and in rows."""

from __future__ import annotations

import re

from tracer.audit.reading.vocabulary import Is

MOST_DIGITS = 40
"""A longer number is not read."""

_GROUPS = r"(?:,|\{,\}|\\,|_|[\u202f\u2009\u00a0])"
PATTERNS = {
    ".": rf"(?:\d{{1,3}}(?:{_GROUPS}\d{{3}})+(?!\d)|\d+)(?:\.\d+|\{{,\}}(?:\d\d?|\d{{4,}})(?!\d))?",
    ",": rf"\d{{1,3}}(?:{_GROUPS}\d{{3}})*{_GROUPS}000(?!\d)"
    r"|(?:[1-9]\d{0,2}(?:(?:\.|\\,|[\u202f\u2009\u00a0])\d{3})+(?!\d)|\d+)(?:(?:[,.]|\{,\})\d+)?",
}
"""The regular expressions of numbers, by the decimal sign of the text."""

_SEPARATOR = re.compile(r"\{,\}|\\,|[,_\u202f\u2009\u00a0]")
_DECIMAL = re.compile(r"\{,\}(?=(?:\d\d?|\d{4,})(?:[eE]|\Z))")
_ROUND = re.compile(r"\d{1,3}(?:(?:,|\{,\})\d{3})*(?:,|\{,\})000")
_THOUSANDS = re.compile(r"(?<!\b0)\.(?=\d{3}(?!\d))|\\,|[\u202f\u2009\u00a0]")
ITEMS = re.compile(r"(?<![{\\]),|(?:\{,\}|\\,|[^,{\\])+")
"""The numbers and commas of a row without spaces; the commas of LaTeX's {,} do not count."""


_AROUND = 40
_LAST_BRACKET = re.compile(r".*[\[\](){}]", re.DOTALL)
_FIRST_BRACKET = re.compile(r"[\[\](){}].*", re.DOTALL)


def is_row(match: re.Match[str]) -> bool:
    """Return whether the commas in a number separate entries: not in (2, 10,000)."""
    if "," not in match[0]:
        return False
    start, end = match.span()
    before = _LAST_BRACKET.sub("", match.string[max(0, start - _AROUND) : start])
    after = _FIRST_BRACKET.sub("", match.string[end : end + _AROUND])
    around = before + after
    return ", " not in around and ";" not in around


def plain(written: str, decimal: str) -> tuple[Is, str]:
    """Return the kind and plain form of a number, without its thousands separators."""
    digits = written
    if decimal == "," and not _ROUND.fullmatch(written):
        digits = _THOUSANDS.sub("", written.replace("{,}", ",")).replace(",", ".")
    elif "," in written or "_" in written or "\\" in written or not written.isascii():
        digits = _SEPARATOR.sub("", _DECIMAL.sub(".", written))
    return (Is.NUMBER, digits) if len(digits) <= MOST_DIGITS else (Is.OTHER, written)
