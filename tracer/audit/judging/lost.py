"""Superscripts, fractions and roots that were lost on the way: what may have been, and whether."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.audit.judging.judgement import Verdict, agree_at_face, judge
from tracer.audit.judging.pairs import MOST_NUMBERS, Pair
from tracer.audit.judging.readings import Sides, replaced, whole
from tracer.audit.reading import expression as ex
from tracer.audit.reading.texts import Markup


def marks(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 103 as 10³, or 34 as 3/4, in one number, or in all; 22 + 20 as 2² + 2⁰."""
    found = [number for side in (left, right) for number in ex.numbers(side)]
    for number in found:
        for other in _with_marks(number):
            yield replaced(left, number, other), replaced(right, number, other)

    def with_powers(part: ex.Expression) -> ex.Expression:
        return next(_with_marks(part), part) if isinstance(part, ex.Number) else part

    if sum(any(_with_marks(number)) for number in found) > 1:
        one, other = ex.mapped(left, with_powers), ex.mapped(right, with_powers)
        yield from ((one, other), (one, right), (left, other))
    powers = {number.printed[-1] for number in found}
    if len(powers) == 1 and all(_SAME_POWER.fullmatch(number.printed) for number in found):
        yield ex.mapped(left, _with_last), ex.mapped(right, _with_last)
    if any(number.printed in _FIRST_POWERS for number in found):
        yield ex.mapped(left, _with_place), right


_FIRST_POWERS = {"20", "21", "100", "101", "160", "161"}
_PLACES = re.compile(r"(2|10|16)(\d)")


_SAME_POWER = re.compile(r"[1-9]\d?[1-5]")
"""Digits of which the last one is the exponent of all numbers: 13 + 123 = 93 + 103."""


def _with_last(part: ex.Expression) -> ex.Expression:
    """Return a number of which the last digit is its exponent as that power."""
    if isinstance(part, ex.Number):
        base, exponent = (whole(int(each), part) for each in (part.printed[:-1], part.printed[-1]))
        return ex.Power(base, exponent)
    return part


def _with_place(part: ex.Expression) -> ex.Expression:
    """Return a number of which the digits are a base and its exponent as that power."""
    if isinstance(part, ex.Number) and (digits := _PLACES.fullmatch(part.printed)):
        base, exponent = (whole(int(each), part) for each in digits.groups())
        return ex.Power(base, exponent)
    return part


_POWER = re.compile(r"([2-9]|[1-9]\d{1,2})([2-9]|[12]\d)")
_QUOTIENT = re.compile(r"([1-9])([2-9])")
"""Digits that may be a base and its exponent, and a numerator and its denominator."""


def _with_marks(number: ex.Number) -> Iterator[ex.Expression]:
    """Yield the power and the quotient that a number's digits may have been."""
    if digits := _POWER.fullmatch(number.printed):
        base, exponent = (whole(int(part), number) for part in digits.groups())
        yield ex.Power(base, exponent)
    if digits := _QUOTIENT.fullmatch(number.printed):
        over, under = (whole(int(part), number) for part in digits.groups())
        yield ex.Product((("*", over), ("/", under)))


def has_marks(pair: Pair) -> bool:
    """Return whether it holds with a superscript or stroke that may be lost.

    If all numbers are whole, it must hold exactly: 25/5 = 6 does not, though 2⁵/5 is about 6.
    """
    if len(pair.numbers) > MOST_NUMBERS or _is_typeset(pair):
        return False
    return any(
        agree_at_face(*sides) and (not pair.is_whole or _is_exact(*sides))
        for sides in marks(pair.left, pair.right)
    )


def _is_typeset(pair: Pair) -> bool:
    """Return whether fractions are marked up; then superscripts are, too."""
    return "frac" in "".join(pair.sources)


def _is_exact(left: ex.Expression, right: ex.Expression) -> bool:
    found = judge(left, right)
    return found is not None and found.verdict is Verdict.EXACT


_COPIED = re.compile(r"(?<![^\W\d]|[\\^_])[a-z][2-9][+−-]\d*[a-z(]|[a-z\d]\)[23](?=[+−=-])")


def is_copied(pair: Pair) -> bool:
    """Return whether text near lost its superscripts when it was copied: (−12)2 + x2−3x."""
    content = pair.text.content
    if "\u200b" in "".join(pair.sources):
        return True  # as a formula that a page shows: 41\u200b for 1/4
    is_formula = "\\" in content[pair.start : pair.end] or pair.text.markup is Markup.LATEX
    return pair.is_whole and not is_formula and bool(_COPIED.search(pair.before + pair.after))


_OUTSIDE = re.compile(r"[^\W\d]|[\n<>:;，。；：（）「」、`|]")
"""What no formula without letters contains."""
_LONGEST_FORMULA = 1000
_UNPRINTED = re.compile(r"[\s√―.·]")


def is_doubled(pair: Pair) -> bool:
    """Return whether a formula is there twice, as a page is copied: 6 =1 +2 +36=1+2+3."""
    content = pair.text.content
    start = pair.start
    while (
        pair.start - start < _LONGEST_FORMULA and start and not _OUTSIDE.match(content, start - 1)
    ):
        start -= 1
    behind = _OUTSIDE.search(content, pair.end, pair.end + _LONGEST_FORMULA)
    end = behind.start() if behind else pair.end + _LONGEST_FORMULA
    equation = _UNPRINTED.sub("", content[pair.start : pair.end])
    formula = _UNPRINTED.sub("", content[start:end]).removesuffix("![](")
    half = len(formula) // 2
    return formula == 2 * formula[:half] or formula.count(equation) > 1
