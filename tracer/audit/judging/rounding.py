"""Sides that are only nearly equal: approximations, and errors of rounded numbers and floats."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from tracer.audit.judging import surroundings
from tracer.audit.judging.evaluation import plain_value
from tracer.audit.judging.judgement import Verdict, agree_at_face, judge_as_rounded
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.units import MULTIPLIERS


def is_magnitude(pair: Pair) -> bool:
    """Return whether the result is a power of ten, or nearly one of 2 or e: 960 ≈ 2¹⁰."""
    if not isinstance(pair.right, ex.Power) or pair.ratio is None:
        return False
    match pair.right.base:
        case ex.Number(printed="2"):
            most = Decimal("2" if pair.is_approximate else "1.05")
        case ex.Constant("e") if pair.is_approximate:
            most = Decimal("2.5")
        case ex.Number(printed="10"):
            most = Decimal(10)
        case _:
            return False
    return 1 / most <= pair.ratio <= most


_FLOAT = 8
"""A number with this many digits may be printed from a float of 32 or 64 bits."""


def is_float(pair: Pair) -> bool:
    """Return whether the sides differ by as little as floats do: sin(180°) = 1.2e-16."""
    found = pair.found
    if found.computed is None or pair.is_between_expressions:
        return pair.is_off_by_less_than("1e-6")
    has_call = any(isinstance(part, ex.Call) for part in pair.parts)
    if not found.computed or (has_call and abs(found.computed) < Decimal("1e-15")):
        return abs(found.printed) < Decimal("1e-9")
    digits = max((n.digits for n in pair.numbers if not n.is_whole), default=0)
    return digits >= _FLOAT and pair.is_off_by_less_than("1e-6")


def is_approximation(pair: Pair) -> bool:
    """Return whether another number is meant: 159 nF ≈ 150 nF, 4 × 38 ≈ 150, 5/4 = 1.0, capped."""
    if surroundings.is_rounded(pair) and pair.is_off_by_less_than("0.3"):
        return True
    if not pair.is_approximate:
        return False
    one, other = pair.left, pair.right
    if isinstance(one, ex.Number) and isinstance(other, ex.Number):
        is_alike = pair.is_whole or one.unit == other.unit
        return pair.is_off_by_less_than("0.1" if is_alike else "0.005") and one.unit <= other.unit
    if pair.is_between_expressions:
        known = {number.value for number in ex.numbers(one)}
        is_a_step = any(n.is_rounded and n.value not in known for n in ex.numbers(other))
        return pair.is_off_by_less_than("0.1") and not is_a_step  # √1.02 ≈ 1 + 0.02
    is_measured = ex.is_printed(one) and not ex.is_printed(other)  # 0.57733 ≈ 1/√3
    return _is_round(pair) or (is_measured and pair.is_off_by_less_than("0.01"))


def _is_round(pair: Pair) -> bool:
    """Return whether the result is rounded to fives, or to tens or more: 4 × 38 ≈ 150."""
    found, right = pair.found, pair.right
    if not (isinstance(right, ex.Number) and right.is_whole) or found.computed is None:
        return False
    is_of_fives = right.unit == 1 and right.value < 100 and not right.value % 5
    unit = Decimal(5) if is_of_fives else right.unit
    return unit > 1 and abs(found.computed - found.printed) <= unit / 2


def has_few_digits(pair: Pair) -> bool:
    """Return whether it holds if numbers with one or two digits are rounded as others are."""
    most = "0.1" if pair.is_approximate else "0.05"
    if not ex.is_printed(pair.right) or not pair.is_off_by_less_than(most):
        return False
    if _adds_up(pair):
        return True
    if any(_is_rounded_power(pair, number) for number in ex.numbers(pair.left)):

        def rounded(part: ex.Expression) -> ex.Expression:
            is_power = isinstance(part, ex.Number) and _is_rounded_power(pair, part)
            return ex.as_rounded(part) if is_power and isinstance(part, ex.Number) else part

        return judge_as_rounded(ex.mapped(pair.left, rounded), pair.right)
    return _is_sensitive(pair) and judge_as_rounded(pair.left, pair.right)


def _is_rounded_power(pair: Pair, number: ex.Number) -> bool:
    """Return whether a number is a power such as 7.2e16 or 3e+14 that seems to be rounded."""
    if "e" not in number.printed:
        return False
    most = max((each.digits for each in ex.numbers(pair.right)), default=0)
    is_shorter = number.digits > 1 and (pair.is_approximate or number.digits + 2 < most)
    return is_shorter or "e+" in pair.source(number)


def _adds_up(pair: Pair) -> bool:
    """Return whether a sum of rounded numbers is off in the last place, or 841 - 833 = 8.21."""
    found, numbers = pair.found, ex.numbers(pair.left)
    is_sum = isinstance(pair.left, ex.Sum) and len(numbers) == len(pair.left.terms)
    if not is_sum or found.computed is None or isinstance(pair.right, ex.Vector):
        return False
    apart = abs(found.computed - found.printed)
    units = {number.unit for number in pair.numbers}
    if len(numbers) > 2 and len(units) == 1 and max(units) < 1:
        return apart <= max(units)
    is_whole = all(n.is_whole and n.digits >= ex.SIGNIFICANT for n in numbers)
    return is_whole and min(units) < 1 and apart < 1  # 841 - 833 = 8.21


def _is_sensitive(pair: Pair) -> bool:
    """Return whether a short number decides about the last digits: as a divisor, an exponent, …"""
    is_near = abs((pair.found.computed or 0) - pair.found.printed) <= pair.found.unit
    is_longer = any(number.digits >= ex.SIGNIFICANT for number in ex.numbers(pair.right))
    are_rounded = any(n.is_rounded or 0 < n.value < Decimal("0.1") for n in ex.numbers(pair.left))
    left = pair.left.of if isinstance(pair.left, ex.Negative) else pair.left
    if isinstance(left, ex.Product) and [sign for sign, _ in left.factors] == ["*", "*"]:
        numbers = [of.of if isinstance(of, ex.Negative) else of for _, of in left.factors]
        if all(isinstance(of, ex.Number) for of in numbers) and _has_short(left, 1):
            return True  # 0.30 × 196 ≈ 58.9
    for part in ex.every(left):
        match part:
            case ex.Product(factors):
                if are_rounded and any(s == "/" and _has_short(of) for s, of in factors):
                    return True
                if _has_short(part, 1) and is_near and is_longer:
                    return True
            case ex.Power(ex.Constant("e"), of) | ex.Call("exp", (of,)):
                of = of.of if isinstance(of, ex.Negative) else of
                if isinstance(of, ex.Number) and of.value > 1 and _has_short(of):
                    return True
            case ex.Sum((ex.Number() as a, ex.Negative(ex.Number() as b))):
                is_small = abs(a.value - b.value) * 2 < abs(a.value)
                if is_small and not (a.is_whole or b.is_whole):
                    return True
    return False


def _has_short(expression: ex.Expression, below: int | None = None) -> bool:
    """Return whether a number in it has decimals, at most two digits, and is below a limit."""
    return any(
        not n.is_whole and n.digits < ex.SIGNIFICANT and (below is None or 0 < n.value < below)
        for n in ex.numbers(expression)
    )


def are_rounded(pair: Pair) -> bool:
    """Return whether it holds if earlier results, and numbers with words, are rounded."""
    is_near = pair.found.verdict is not Verdict.CUT and pair.is_off_by_less_than("0.05")
    if not (ex.is_printed(pair.right) and is_near):
        return False

    def rounded(part: ex.Expression) -> ex.Expression:
        if isinstance(part, ex.Number) and (
            _WORD.search(pair.source(part)) or _is_a_result(pair, part)
        ):
            return ex.as_rounded(part)
        return part

    left, right = ex.mapped(pair.left, rounded), ex.mapped(pair.right, rounded)
    return left != pair.left and judge_as_rounded(left, right)


_WORD = re.compile(rf"(?:{'|'.join(MULTIPLIERS)})\W*\Z")

_LONG = 5
"""Whole numbers with so many digits are seldom counted, and may be rounded: 1,157,407."""
_RESULT = re.compile(
    r"(?:[≈~]|\\approx|(?:[/÷]|\\[dt]?frac)[^=\n]{1,60}=)[\s$]*(?P<number>\d[\d.,{}]*)"
)


def _is_a_result(pair: Pair, number: ex.Number) -> bool:
    """Return whether a whole number of some digits is long, or a rounded result before."""
    if not number.is_whole or number.digits < ex.SIGNIFICANT:
        return False
    written = pair.source(number)
    results = (found["number"] for found in _RESULT.finditer(pair.before))
    return number.digits >= _LONG or any(each.rstrip(".,") == written for each in results)


def has_whole_quotient(pair: Pair) -> bool:
    """Return whether it holds if 160/136 is 1 or 2; nobody means that beside π and in powers."""
    left, found = pair.left, pair.found
    if not pair.is_whole or _quotients(pair.right) or not _quotients(left):
        return False
    if any(isinstance(part, ex.Constant | ex.Power | ex.Call) for part in pair.parts):
        return False
    if found.computed is not None and 0 < found.computed < 1 and not found.printed:
        return isinstance(left, ex.Product)  # it is cut to 0
    for by in (ROUND_FLOOR, ROUND_CEILING):

        def of(part: ex.Expression, by: str = by) -> ex.Expression:
            value = plain_value(part) if _quotients(part) and isinstance(part, ex.Product) else None
            first = ex.numbers(part)[0] if value is not None else None
            return part if value is None or first is None else _whole(value, by, first)

        if agree_at_face(ex.mapped(left, of), pair.right):
            return True
    return False


def _quotients(expression: ex.Expression) -> int:
    products = (part for part in ex.every(expression) if isinstance(part, ex.Product))
    return sum(sign == "/" for product in products for sign, _ in product.factors)


def _whole(value: Decimal, by: str, like: ex.Number) -> ex.Expression:
    rounded = abs(value).to_integral_value(by)
    number = ex.Number(rounded, f"{rounded:f}", like.start, like.end)
    return ex.Negative(number) if value < 0 else number
