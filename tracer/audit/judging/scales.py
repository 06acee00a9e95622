"""Words for powers of ten, as in 15 million, and rounded numbers: what they leave open."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging import readings
from tracer.audit.judging.confirmation import is_short
from tracer.audit.judging.judgement import Verdict, judge, judge_as_rounded
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.units import MULTIPLIERS

_WORD = re.compile(rf"({'|'.join(MULTIPLIERS)})\W*\Z")


def _zeros(pair: Pair, number: ex.Number) -> int:
    """Return the exponent of the power of ten that a number's word stands for, 0 without one."""
    word = _WORD.search(pair.source(number))
    return MULTIPLIERS[word[1]] if word else 0


def is_of_words(pair: Pair) -> bool:
    """Return whether it nearly holds without words for powers of ten, which some numbers have.

    The others may be of the same size: 15 + 20 = 35 million.
    """
    have_words = [bool(_zeros(pair, number)) for number in pair.numbers]
    if not any(have_words) or all(have_words):
        return False

    def without(part: ex.Expression) -> ex.Expression:
        if isinstance(part, ex.Number) and (zeros := _zeros(pair, part)):
            value = part.value.scaleb(-zeros)
            return ex.Number(value, f"{value:f}", part.start, part.end)
        return part

    found = judge(ex.mapped(pair.left, without), ex.mapped(pair.right, without))
    return found is not None and found.verdict < Verdict.SCALE


def is_of_a_prefix(pair: Pair) -> bool:
    """Return whether the sides differ by a factor such as milli or mega, and there is more text."""
    is_power = pair.found.verdict is Verdict.SCALE and pair.found.factor.adjusted() % 3 == 0
    return is_power and not is_short(pair.text)


def are_rounded(pair: Pair) -> bool:
    """Return whether it holds if numbers with words, and earlier results, are rounded.

    Examples are $59 million, and 347 after 1,250,000 / 3600 = 347. A sum whose digits are cut, not
    rounded, is none.
    """
    is_near = pair.found.verdict is not Verdict.CUT and pair.is_off_by_less_than("0.05")
    if not (ex.is_printed(pair.right) and is_near):
        return False

    def rounded(part: ex.Expression) -> ex.Expression:
        if isinstance(part, ex.Number) and (_zeros(pair, part) or _is_a_result(pair, part)):
            return readings.as_rounded(part)
        return part

    left, right = ex.mapped(pair.left, rounded), ex.mapped(pair.right, rounded)
    return left != pair.left and judge_as_rounded(left, right)


def _is_a_result(pair: Pair, number: ex.Number) -> bool:
    """Return whether a whole number of some digits rounds one before it, or is a quotient."""
    if not number.is_whole or number.digits < ex.SIGNIFICANT:
        return False
    if number.digits >= _LONG:
        return True
    value = int(number.value)
    unrounded = _without_commas(pair.text.content[max(0, pair.start - _ABOVE) : pair.start])
    if f"{value}." in unrounded or f"{value - 1}." in unrounded:  # most have no such number
        decimals = map(Decimal, _DECIMAL.findall(unrounded))
        if any(abs(other - number.value) <= Decimal("0.5") for other in decimals):
            return True
    written = pair.source(number)
    rounded = r"[≈~]|\\approx|(?:[/÷]|\\[dt]?frac)[^=\n]{1,60}="
    result = rf"(?:{rounded})[\s$]*{re.escape(written)}(?![\w.,]*\d)"
    return written in pair.before and re.search(result, pair.before) is not None


def _without_commas(text: str) -> str:
    return text.replace("{,}", "").replace(",", "")


_LONG = 5
"""Whole numbers with so many digits are seldom counted, and may be rounded: 1,157,407."""
_ABOVE = 2000
"""An unrounded number is at most this many characters above its use."""


_DECIMAL = re.compile(r"(?<![\d.])\d+\.\d+")
