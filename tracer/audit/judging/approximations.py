"""Sides that are only nearly equal: approximations, measured numbers, float and rounding errors."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial

from tracer.audit.judging import readings, wording
from tracer.audit.judging.causes import cause
from tracer.audit.judging.judgement import judge, judge_as_rounded
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex


def is_magnitude(pair: Pair) -> bool:
    """Return whether the result is a power of ten that is at most ten times too large or small.

    Or it is nearly a power of 2 or e: 960 ≈ 2¹⁰, 1000³ = 2³⁰.
    """
    match pair.right:
        case ex.Power(ex.Number(printed="2"), _):
            most = Decimal(2) if pair.is_approximate else Decimal("1.05")
            return pair.ratio is not None and 1 / most <= pair.ratio <= most
        case ex.Power(ex.Constant("e"), _) if pair.is_approximate:
            return pair.ratio is not None and Decimal("0.4") <= pair.ratio <= Decimal("2.5")
        case ex.Power(ex.Number(printed="10"), _):
            return pair.ratio is not None and Decimal("0.1") <= pair.ratio <= 10
    return False


def is_approximation(pair: Pair) -> bool:
    """Return whether it is a formula in place of another one, or words tell of an estimate."""
    if wording.rounds(pair.after) and pair.is_off_by_less_than("0.3"):
        return True  # to whatever suits: 11,008 = 4096 * 8/3, rounded; 5/4 = 1.0, capped
    if ex.Constant("π") in (pair.left, pair.right):
        return pair.is_off_by_less_than("0.01")  # π = 22/7
    if pair.is_approximate and (
        _is_another_number(pair) or _is_a_simple_fraction(pair) or _is_round(pair)
    ):
        return True
    if not pair.is_approximate:
        is_of_terms = _is_of_rationals(pair) or _is_a_near_value(pair)
        return is_of_terms and wording.approximates(pair.before, pair.after)
    if pair.is_between_expressions:
        is_near = pair.is_off_by_less_than("0.1") and not _is_a_step(pair)
        return is_near or _are_of_near_numbers(pair)
    if pair.holds_as(readings.tangents) or _is_of_a_series(pair):
        return True
    is_precise = any(n.is_rounded and n.digits > _PRECISE for n in ex.numbers(pair.right))
    is_near = pair.is_off_by_less_than("0.0005" if is_precise else "0.05")
    return is_near and wording.estimates(pair.before, pair.after)


_PRECISE = 4
"""A result with more digits is no estimate."""


def _is_a_step(pair: Pair) -> bool:
    """Return whether the right side has a result with some digits: -2 + 2.47/1.62 ≈ -2 + 1.53."""
    known = {number.value for number in ex.numbers(pair.left)}
    return any(n.is_rounded and n.value not in known for n in ex.numbers(pair.right))


def _is_another_number(pair: Pair) -> bool:
    """Return whether a number is said to be near another one, such as an expected answer.

    It is no rounded one; it may be a part that can be bought: 159 nF ≈ 150 nF.
    """
    one, other = pair.left, pair.right
    if not (isinstance(one, ex.Number) and isinstance(other, ex.Number)):
        return False
    if pair.is_whole:
        return pair.is_off_by_less_than("0.1")
    if one.unit == other.unit:
        return pair.is_off_by_less_than("0.1")
    is_apart = abs(one.value - other.value) > other.unit
    return one.unit < other.unit and is_apart and pair.is_off_by_less_than("0.005")


def _is_round(pair: Pair) -> bool:
    """Return whether the result is rounded to fives, or to tens or more: 4 × 38 ≈ 150."""
    found, right = pair.found, pair.right
    if not (isinstance(right, ex.Number) and right.is_whole) or found.computed is None:
        return False
    is_of_fives = right.unit == 1 and right.value < 100 and not right.value % _FIVE
    unit = _FIVE if is_of_fives else right.unit
    return unit > 1 and abs(found.computed - found.printed) <= unit / 2


_FIVE = Decimal(5)


def _is_a_simple_fraction(pair: Pair) -> bool:
    """Return whether a decimal number is near a quotient of two digits: 0.618 ≈ 2/3."""
    match pair.left, pair.right:
        case ex.Number(), ex.Product((("*", ex.Number(a)), ("/", ex.Number(b)))):
            return a < 10 and b < 10 and pair.is_whole is False and pair.is_off_by_less_than("0.2")
    return False


def _is_of_rationals(pair: Pair) -> bool:
    """Return whether a function, cos 1, is nearly equal to what has none: 1 - 1/2 + 1/24."""
    sides = pair.left, pair.right
    functions = [any(isinstance(of, ex.Call | ex.Constant) for of in ex.every(s)) for s in sides]
    is_one = pair.is_between_expressions and functions[0] != functions[1]
    return is_one and pair.is_off_by_less_than("0.02")


def _is_of_a_series(pair: Pair) -> bool:
    """Return whether a function's many digits are right at first, as a series' are: e^0.4."""
    is_function = any(isinstance(part, ex.Call | ex.Constant) for part in ex.every(pair.left))
    has_digits = isinstance(pair.right, ex.Number) and pair.right.digits >= _SINGLE - 1
    return is_function and has_digits and pair.is_off_by_less_than("0.001")


def _is_a_near_value(pair: Pair) -> bool:
    """Return whether a function of a number is nearly equal to a decimal: sin 0.5 = 0.4792."""
    is_value = isinstance(pair.left, ex.Call) and isinstance(pair.right, ex.Number)
    return is_value and not pair.is_whole and pair.is_off_by_less_than("0.02")


def _are_of_near_numbers(pair: Pair) -> bool:
    """Return whether a function is taken of two numbers that are nearly equal: sin 3 ≈ sin π."""
    match pair.left, pair.right:
        case ex.Call(name, (one,)), ex.Call(other, (another,)) if name == other:
            found = judge(one, another)
            if found is None or found.computed is None:
                return False
            return abs(found.computed - found.printed) * 10 < abs(found.computed)
    return False


def is_measured(pair: Pair) -> bool:
    """Return whether a number with decimals precedes ≈ and what it is close to."""
    is_number = ex.is_printed(pair.left) and not ex.is_printed(pair.right)
    return pair.is_approximate and is_number and pair.is_off_by_less_than("0.01")


_NOISE = Decimal("1e-15")
"""A function of a float that is nearer to 0 is 0, as sin 180° is."""
_SINGLE, _DOUBLE = 8, 15
"""A number with this many digits may be printed from a float of 32 or 64 bits."""


def is_float(pair: Pair) -> bool:
    """Return whether the sides differ by as little as floats do, or a small term is lost."""
    match pair.left:
        case ex.Sum((large, small)) if large == pair.right and not pair.is_whole:
            return pair.is_off_by_less_than("0.25") and ex.is_printed(small)
    if pair.is_between_expressions:
        return pair.is_off_by_less_than("1e-6")
    found = pair.found
    if not found.unit or found.computed is None:
        return False
    is_computed = ex.is_printed(pair.right) and not ex.is_printed(pair.left)
    if is_computed and _as_float(pair.left) == float(found.printed):
        return True
    if not found.computed or (pair.has(ex.Call) and abs(found.computed) < _NOISE):
        return abs(found.printed) < Decimal("1e-9")
    decimals = [len(n.printed) - 1 for n in pair.numbers if not n.is_whole]
    digits = max(decimals, default=0)
    if _is_missing_little(pair):
        return False
    return (digits >= _DOUBLE and pair.is_off_by_less_than("1e-12")) or (
        digits >= _SINGLE and pair.is_off_by_less_than("1e-6")
    )


def _is_missing_little(pair: Pair) -> bool:
    """Return whether it is nearly 1, and what is missing is wrong: 1 - 0.001³ = 99.9999997%."""
    if pair.found.computed is None:
        return False
    one, other = 1 - pair.found.computed, 1 - pair.found.printed
    is_near = 0 < abs(one) < _LITTLE and 0 < abs(other) < _LITTLE
    return is_near and not Decimal("0.9") < one / other < Decimal("1.1")


_LITTLE = Decimal("0.001")


def _as_float(expression: ex.Expression) -> float | None:
    """Return what programs compute: (1 + 10²⁰) - 10²⁰ is 0. None if there is no such value."""
    try:
        match expression:
            case ex.Number(number):
                return float(number)
            case ex.Negative(of):
                return None if (value := _as_float(of)) is None else -value
            case ex.Sum(terms):
                values = [value for term in terms if (value := _as_float(term)) is not None]
                return sum(values) if len(values) == len(terms) else None
            case ex.Power(base, exponent):
                one, other = _as_float(base), _as_float(exponent)
                return None if one is None or other is None else float(one**other)
    except (ArithmeticError, TypeError):
        return None
    return None


def has_few_digits(pair: Pair) -> bool:
    """Return whether it holds if numbers with one or two digits are rounded as others are.

    They matter most in a divisor, and in a difference of numbers that are nearly equal.
    """
    most = "0.1" if pair.is_approximate else "0.05"
    if pair.is_between_expressions:
        if pair.ratio and _SCALED.search(pair.sources[1]):  # 4096² + 2048² ≈ 16.8M + 4.2M
            return abs(pair.ratio.scaleb(-pair.ratio.adjusted()) - 1) < _ROUGH or (
                abs(pair.ratio.scaleb(-pair.ratio.adjusted() - 1) - 1) < _ROUGH
            )
        return pair.is_off_by_less_than("0.0001") and _has_rounded_parts(pair)
    if not ex.is_printed(pair.right) or not pair.is_off_by_less_than(most):
        return False
    if _is_of_thousands(pair) or _adds_up(pair) or _is_a_short_product(pair):
        return True
    if _is_a_whole_difference(pair):
        return True
    divides = _divides(pair.left) and any(map(_may_be_rounded, ex.numbers(pair.left)))
    is_near = abs((pair.found.computed or 0) - pair.found.printed) <= pair.found.unit
    has_more = any(number.digits >= ex.SIGNIFICANT for number in ex.numbers(pair.right))
    shrinks = is_near and has_more and _multiplies(pair.left)
    may_differ = divides or shrinks or _cancels(pair.left) or _raises(pair.left)
    fewest = 1 if _BY_A_PROGRAM.search(pair.sources[0]) else 2
    if fewest == 1 or _has_rounded_powers(pair):
        rounded = partial(_with_rounded_powers, fewest=fewest)
        return judge_as_rounded(ex.mapped(pair.left, rounded), pair.right)
    return may_differ and judge_as_rounded(pair.left, pair.right)


_SCALED = re.compile(r"\d\s?(?:[KkMGTB]B?\b|\w*illi)")
"""A number with a prefix is nearly always rounded."""
_ROUGH = Decimal("0.01")
_POWER = re.compile(r"\de[-+]?\d")
_BY_A_PROGRAM = re.compile(r"\de[-+]\d\d")
"""A program rounds to the digits it prints, even to one: 3e+14."""


def _has_rounded_powers(pair: Pair) -> bool:
    """Return whether numbers such as 7.2e16 may be rounded: ≈ or many digits follow."""
    if pair.is_approximate or not ex.numbers(pair.right):
        return _POWER.search(pair.sources[0]) is not None
    powers = [n.digits for n in ex.numbers(pair.left) if "e" in n.printed and n.digits > 1]
    return bool(powers) and min(powers) + 2 < ex.numbers(pair.right)[0].digits


def _with_rounded_powers(part: ex.Expression, fewest: int) -> ex.Expression:
    """Return a number that is written as 8.1e8, with enough digits, with the last one rounded."""
    if isinstance(part, ex.Number) and "e" in part.printed and part.digits >= fewest:
        return readings.as_rounded(part)
    return part


_SMALL, _MANY = Decimal("0.1"), 5


def _may_be_rounded(number: ex.Number) -> bool:
    """Return whether a number has many digits, or begins with zeros: 0.019."""
    return number.is_rounded or 0 < number.value < _SMALL


def _has_rounded_parts(pair: Pair) -> bool:
    """Return whether results that are whole may be rounded: 1 + 2 + 2 · 790.6 = 3 + 1581."""
    known = {number.value for number in ex.numbers(pair.left)}

    def of(part: ex.Expression) -> ex.Expression:
        if isinstance(part, ex.Number) and part.is_whole and part.value not in known:
            return readings.as_rounded(part)
        return part

    found = judge(pair.left, ex.mapped(pair.right, of))
    return found is not None and found.verdict.holds


def _is_of_thousands(pair: Pair) -> bool:
    """Return whether few digits of millions are multiplied, and ≈ precedes the result: 12 × 7M."""
    content = pair.text.content
    return pair.is_approximate and any(
        n.digits < ex.SIGNIFICANT and re.match(r" ?(?:[KMBkT]\b|[mbt]illion)", content[n.end :][:9])
        for n in ex.numbers(pair.left)
    )


def _adds_up(pair: Pair) -> bool:
    """Return whether a sum of rounded numbers is off by one in the last place.

    At least three have decimals, or all have so many digits that they are hardly counted.
    """
    match pair.left:
        case ex.Sum(terms) if isinstance(pair.right, ex.Number):
            numbers = ex.numbers(pair.left)
            units = {min(number.unit, Decimal(1)) for number in (*numbers, pair.right)}
            found = pair.found
            if len(numbers) != len(terms) or len(units) > 1 or found.computed is None:
                return False
            is_near = abs(found.computed - found.printed) <= units.pop()
            have_decimals = len(terms) > 2 and not any(number.is_whole for number in numbers)
            return is_near and (have_decimals or all(number.digits >= _MANY for number in numbers))
    return False


def _is_a_whole_difference(pair: Pair) -> bool:
    """Return whether a difference of rounded numbers has decimals: 841 - 833 = 8.21."""
    match pair.left, pair.right:
        case ex.Sum((ex.Number() as a, ex.Negative(ex.Number() as b))), right:
            have_digits = a.is_whole and b.is_whole and min(a.digits, b.digits) >= ex.SIGNIFICANT
            has_decimals = not all(number.is_whole for number in ex.numbers(right))
            return have_digits and has_decimals and abs(a.value - b.value - pair.found.printed) < 1
    return False


def _is_a_short_product(pair: Pair) -> bool:
    """Return whether one of two factors is below 1 and may be rounded: 0.30 × 196 ≈ 58.9."""
    match pair.left:
        case ex.Product((("*", one), ("*", other))) | ex.Negative(
            ex.Product((("*", one), ("*", other)))
        ):
            numbers = [part.of if isinstance(part, ex.Negative) else part for part in (one, other)]
        case _:
            return False
    if not all(isinstance(number, ex.Number) for number in numbers):
        return False
    is_short = any(n.value < 1 and 0 < n.digits < ex.SIGNIFICANT for n in ex.numbers(pair.left))
    if not is_short or cause(pair.left, pair.found) is not None:
        return False

    def of(part: ex.Expression) -> ex.Expression:
        if isinstance(part, ex.Number) and part.is_whole and part.digits >= ex.SIGNIFICANT:
            return readings.as_rounded(part)  # it may be a result, too
        return part

    return judge_as_rounded(ex.mapped(pair.left, of), pair.right)


def _divides(expression: ex.Expression) -> bool:
    return any(
        sign == "/" and any(not n.is_whole and n.digits < ex.SIGNIFICANT for n in ex.numbers(of))
        for part in ex.every(expression)
        if isinstance(part, ex.Product)
        for sign, of in part.factors
    )


def _multiplies(expression: ex.Expression) -> bool:
    """Return whether a number below 1 with one or two digits is a part of a product."""
    return any(
        0 < n.value < 1 and n.digits < ex.SIGNIFICANT
        for part in ex.every(expression)
        if isinstance(part, ex.Product)
        for n in ex.numbers(part)
    )


def _raises(expression: ex.Expression) -> bool:
    """Return whether an exponent of e is a decimal number with one or two digits: e^5.1."""
    powers = [
        part.exponent if isinstance(part, ex.Power) else part.arguments[0]
        for part in ex.every(expression)
        if (isinstance(part, ex.Power) and part.base == ex.Constant("e"))
        or (isinstance(part, ex.Call) and part.name == "exp")
    ]
    exponents = [power.of if isinstance(power, ex.Negative) else power for power in powers]
    return any(
        isinstance(n, ex.Number) and not n.is_whole and n.value > 1 and n.digits < ex.SIGNIFICANT
        for n in exponents
    )


def _cancels(expression: ex.Expression) -> bool:
    for part in ex.every(expression):
        match part:
            case ex.Sum((ex.Number() as a, ex.Negative(ex.Number() as b))):
                if not (a.is_whole or b.is_whole) and abs(a.value - b.value) * 2 < abs(a.value):
                    return True
    return False
