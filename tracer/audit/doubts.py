"""Doubts: why an equation that does not hold may still be right, so that it is not reported.

Some doubts are found while an equation is read, all others here: `CHECKS` is the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, partial

from tracer.audit import expression as ex, readings, wording
from tracer.audit.intervals import PI
from tracer.audit.judgement import Judgement, Verdict, judge, judge_as_rounded
from tracer.audit.wording import NEAR, Around
from tracer.dataclass import frozen


class Doubt(StrEnum):
    """A reason, in the words of the report."""

    # found while the equation is read
    AFTER = "it may continue in the text after it"
    BEFORE = "it may continue the text before it"
    BULLET = "a sign at the start of a line may be a bullet"
    COLUMNS = "numbers side by side may be columns"
    EXCLAMATION = "the ! may be a factorial, or end a sentence"
    FUNCTION = "may be another function"
    MINUS = "a minus sign may belong to the number after it"
    MIXED = "may be a mixed number"
    ORDER = "may be computed in another order"
    PERCENT = "a percentage may be of the number before it"
    RANGE = "may be a range"
    REFERENCE = "may be a reference"
    REMARK = "parentheses may hold a remark"
    CYCLES = "may be the cycles of a permutation"
    SERIES = "may be another series"
    SHAPE = "may be a size or a shape"
    # number systems
    BINARY = "may be binary numbers"
    LEADING_ZEROS = "numbers with leading zeros may be codes"
    SYSTEM = "the text around is about another number system"
    XOR = "^ may mean exclusive or"
    # digits
    FEW_DIGITS = "numbers with few digits may be rounded"
    FLOAT = "the last digits may be a float's rounding error"
    LOST = "a superscript or fraction may be lost"
    SEPARATOR = "points or commas may separate thousands, or decimals"
    # what is meant
    ANGLE = "π may stand for 180 degrees"
    APART = "may be two different numbers"
    APPROXIMATION = "may be an approximation on purpose"
    DELIBERATE = "may be false on purpose"
    WHOLE_QUOTIENT = "a quotient may be rounded to a whole number"
    LEFT_TO_RIGHT = "may be computed from left to right"
    MAGNITUDE = "a power of ten may be an order of magnitude"
    MEASURED = "a measured number may be compared"
    NAMED = "the number may belong to the words before it"
    UNIT = "a unit follows"


MOST_NUMBERS = 12
"""An equation with more numbers is not read otherwise."""


@frozen
class Pair:
    """Two sides that do not agree, and the text around."""

    left: ex.Expression
    right: ex.Expression
    found: Judgement
    around: Around
    start: int
    end: int
    sign: int

    @cached_property
    def numbers(self) -> list[ex.Number]:
        """The numbers of both sides."""
        return [*ex.numbers(self.left), *ex.numbers(self.right)]

    def holds_as(self, reading: readings.Reading) -> bool:
        """Return whether the sides are equal when they are read otherwise, and are short."""
        return len(self.numbers) <= MOST_NUMBERS and readings.hold(reading, self.left, self.right)

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        return all(number.is_whole for number in self.numbers)

    @property
    def is_approximate(self) -> bool:
        """Whether the sign between the sides is ≈."""
        return self.around.text.content[self.sign] != "="

    def source(self, number: ex.Number) -> str:
        """Return a number as it is written in the text."""
        return self.around.text.content[number.start : number.end]

    @property
    def before(self) -> str:
        """The text that ends where the left side begins."""
        return self.around.text.content[max(0, self.start - NEAR) : self.start]

    @property
    def after(self) -> str:
        """The text that begins where the right side ends."""
        return self.around.text.content[self.end : self.end + NEAR // 2]

    @property
    def ratio(self) -> Decimal | None:
        """The printed number divided by the computed one; None if one of them is 0 or unknown."""
        found = self.found
        if found.verdict is Verdict.SCALE:
            return found.factor
        if not found.computed or not found.printed:
            return None
        return found.printed / found.computed

    def is_off_by_less_than(self, share: str) -> bool:
        """Return whether the sides differ by less than this share."""
        return self.ratio is not None and abs(self.ratio - 1) < Decimal(share)


def doubt(pair: Pair) -> Doubt | None:
    """Return the first doubt that two sides leave; None if they are certainly meant to be equal."""
    return next((reason for reason, may_be in CHECKS if may_be(pair)), None)


# --- number systems ------------------------------------------------------------------------------


def _is_binary(pair: Pair) -> bool:
    """Return whether all numbers have only the digits 0 and 1, and are not powers of ten."""
    sources = list(map(pair.source, pair.numbers))
    if not sources or not all(set(source) <= {"0", "1"} for source in sources):
        return False
    if all(len(source) == 1 for source in sources):
        return True
    has_two_ones = any(source.count("1") > 1 for source in sources)
    return has_two_ones or pair.holds_as(readings.binary)


def _has_leading_zeros(pair: Pair) -> bool:
    return any(re.match(r"0\d", number.printed) for number in pair.numbers)


def _is_of_another_system(pair: Pair) -> bool:
    if any(
        isinstance(part, ex.Call) for side in (pair.left, pair.right) for part in ex.every(side)
    ):
        return False  # √3 · 65536
    return pair.is_whole and pair.around.is_about_a_number_system(pair.start, pair.end)


# --- units and words -----------------------------------------------------------------------------


def _digits(number: Decimal) -> Decimal:
    """Return a number without its power of ten, between 1 and 10."""
    return number.scaleb(-number.adjusted())


_CONVERTED = Decimal("1.5")
"""A factor this large may convert units."""

_KIBI = [Decimal("1.024") ** power for power in (1, 2, 3, 4, -1, -2, -3, -4)]
"""The factors between KB and KiB, MB and MiB, …"""

_CONVERSIONS = (
    *map(Decimal, (1, 7, 8, 12, 24, 30, 60, 365, 3600, 5280, 86400)),
    *map(Decimal, ("2.54", "1.609", "0.4536")),
)

_FACTORS = [
    _digits(each) for factor in (*_CONVERSIONS, *_KIBI) for each in (factor, 1 / factor)
] + [Decimal(10)]
"""The digits of what converts days to weeks, bytes to bits, hours to seconds, inches to cm, …"""


def _has_unit(pair: Pair) -> bool:
    """Return whether a unit follows, and the sides differ by what may convert units."""
    unit, ratio = wording.unit(pair.after), pair.ratio
    if ratio is None or ratio <= 0:
        return False
    percent = ex.is_percent(pair.left) or ex.is_percent(pair.right)
    if percent and pair.found.computed and abs(pair.found.computed) > 1:
        return ratio == Decimal("0.01")  # 0.99 × 3 = 2.97 %
    if unit is None:
        return False
    if pair.found.verdict is Verdict.SCALE:
        return True
    digits = pair.found.unit / abs(pair.found.printed) / 2 if pair.found.printed else Decimal(0)
    tolerance = max(digits, Decimal("0.01"))
    if wording.is_of_bytes(unit) and any(_is_near(ratio, each, tolerance) for each in _KIBI):
        return True
    is_far = max(ratio, 1 / ratio) >= _CONVERTED
    return is_far and any(_is_near(_digits(ratio), each, tolerance) for each in _FACTORS)


def _is_near(ratio: Decimal, factor: Decimal, tolerance: Decimal) -> bool:
    return abs(ratio / factor - 1) <= tolerance


def _is_named(pair: Pair) -> bool:
    """Return whether a number belongs to words: the complement of 318 = 681 + 1."""
    return isinstance(pair.left, ex.Number) and wording.owns(pair.before)


_SIMPLE = 10
"""Everyone can add numbers up to this one."""


def _is_deliberate(pair: Pair) -> bool:
    """Return whether it is quoted, or words near it speak of what is false."""
    if wording.calls_false(pair.before, pair.after):
        return True
    is_simple = pair.is_whole and all(number.value <= _SIMPLE for number in pair.numbers)
    return is_simple and wording.states(pair.before, pair.after)


# --- approximations ------------------------------------------------------------------------------


def _is_magnitude(pair: Pair) -> bool:
    """Return whether the result is a power of ten that is at most ten times too large or small."""
    match pair.right:
        case ex.Power(ex.Number(printed="10"), _):
            return pair.ratio is not None and Decimal("0.1") <= pair.ratio <= 10
    return False


def _is_approximation(pair: Pair) -> bool:
    """Return whether it is a formula in place of another one, or words tell of an estimate."""
    if ex.Constant("π") in (pair.left, pair.right):
        return pair.is_off_by_less_than("0.01")  # π = 22/7
    if not pair.is_approximate:
        return False
    if not (ex.is_printed(pair.left) or ex.is_printed(pair.right)):
        return pair.is_off_by_less_than("0.1") or _are_of_near_numbers(pair)
    return wording.estimates(pair.before, pair.after) and pair.is_off_by_less_than("0.05")


def _are_of_near_numbers(pair: Pair) -> bool:
    """Return whether a function is taken of two numbers that are nearly equal: sin 3 ≈ sin π."""
    match pair.left, pair.right:
        case ex.Call(name, (one,)), ex.Call(other, (another,)) if name == other:
            found = judge(one, another)
            if found is None or found.computed is None:
                return False
            return abs(found.computed - found.printed) * 10 < abs(found.computed)
    return False


def _is_measured(pair: Pair) -> bool:
    """Return whether a number with decimals precedes ≈ and what it is close to."""
    is_number = ex.is_printed(pair.left) and not ex.is_printed(pair.right)
    return pair.is_approximate and is_number and pair.is_off_by_less_than("0.01")


# --- digits --------------------------------------------------------------------------------------

_SINGLE, _DOUBLE = 8, 15
"""A number with this many digits may be printed from a float of 32 or 64 bits."""


def _is_float(pair: Pair) -> bool:
    """Return whether the sides differ by as little as floats do."""
    if not (ex.is_printed(pair.left) or ex.is_printed(pair.right)):
        return pair.is_off_by_less_than("1e-6")
    found = pair.found
    if not found.unit or found.computed is None:
        return False
    if not found.computed:
        return abs(found.printed) < Decimal("1e-9")
    decimals = [len(n.printed) - 1 for n in pair.numbers if not n.is_whole]
    digits = max(decimals, default=0)
    return (digits >= _DOUBLE and pair.is_off_by_less_than("1e-12")) or (
        digits >= _SINGLE and pair.is_off_by_less_than("1e-6")
    )


def _has_few_digits(pair: Pair) -> bool:
    """Return whether it holds if a divisor with one or two digits is rounded as others are."""
    if not ex.is_printed(pair.right) or not any(n.is_rounded for n in ex.numbers(pair.left)):
        return False
    is_near = pair.is_off_by_less_than("0.05")
    return is_near and _divides(pair.left) and judge_as_rounded(pair.left, pair.right)


def _divides(expression: ex.Expression) -> bool:
    return any(
        sign == "/" and any(not n.is_whole and n.digits < ex.SIGNIFICANT for n in ex.numbers(of))
        for part in ex.every(expression)
        if isinstance(part, ex.Product)
        for sign, of in part.factors
    )


# --- what is meant -------------------------------------------------------------------------------


def _are_apart(pair: Pair) -> bool:
    """Return whether two printed numbers need not be the same: whole, and not nearly equal."""
    if not (ex.is_printed(pair.left) and ex.is_printed(pair.right)):
        return False
    if not any(number.is_whole for number in pair.numbers):
        return False
    found = pair.found
    return found.computed is None or abs(found.computed - found.printed) * 10 > abs(found.computed)


def _are_shapes(pair: Pair) -> bool:
    """Return whether sizes are combined: 2×3 @ 3×4 = 2×4."""
    if any(_has_matrix_product(side) for side in (pair.left, pair.right)):
        return True
    one, other = pair.left, pair.right
    if not (isinstance(one, ex.Product) and isinstance(other, ex.Product) and pair.is_whole):
        return False
    sizes = [number.value for number in ex.numbers(one)]
    return all(number.value in sizes for number in ex.numbers(other))


_CYCLES = re.compile(r"(?:\s*\(\d{2,}\))+\s*")


def _are_cycles(pair: Pair) -> bool:
    """Return whether both sides are whole numbers in parentheses: (123) = (13)(12)."""
    content = pair.around.text.content
    sides = content[pair.start : pair.sign], content[pair.sign + 1 : pair.end]
    return all(map(_CYCLES.fullmatch, sides))


def _has_matrix_product(side: ex.Expression) -> bool:
    return any(
        isinstance(part, ex.Product)
        and any(sign == "@" for sign, _ in part.factors)
        and not any(isinstance(of, ex.Vector) for of in ex.every(part))
        for part in ex.every(side)
    )


def _has_other_separators(pair: Pair) -> bool:
    """Return whether it holds if its points separate thousands, or its commas decimals."""
    reading = partial(readings.separators, pair.source)
    return pair.holds_as(reading)


def _read_as(other: readings.Reading) -> Callable[[Pair], bool]:
    """Return a check whether the sides are equal when they are read otherwise."""

    def holds(pair: Pair) -> bool:
        return pair.holds_as(other)

    return holds


def _are_angles(pair: Pair) -> bool:
    """Return whether it holds with 180 for π, or up to whole turns: 0 = 2π."""
    if pair.holds_as(readings.degrees):
        return True
    one, other = pair.found.computed, pair.found.printed
    if one is None or ex.Constant("π") not in [*ex.every(pair.left), *ex.every(pair.right)]:
        return False
    turns = (one - other) / (2 * PI)
    return abs(turns) < 100 and abs(turns - round(turns)) < Decimal("1e-9")


def _has_whole_quotients(pair: Pair) -> bool:
    """Return whether it holds with whole quotients; nobody means those beside π and in powers."""
    parts = [*ex.every(pair.left), *ex.every(pair.right)]
    is_plain = not any(isinstance(part, ex.Constant | ex.Power | ex.Call) for part in parts)
    return is_plain and pair.holds_as(readings.whole_quotients)


CHECKS: tuple[tuple[Doubt, Callable[[Pair], bool]], ...] = (
    (Doubt.APART, _are_apart),
    (Doubt.LEADING_ZEROS, _has_leading_zeros),
    (Doubt.BINARY, _is_binary),
    (Doubt.SYSTEM, _is_of_another_system),
    (Doubt.CYCLES, _are_cycles),
    (Doubt.SHAPE, _are_shapes),
    (Doubt.UNIT, _has_unit),
    (Doubt.NAMED, _is_named),
    (Doubt.MAGNITUDE, _is_magnitude),
    (Doubt.FLOAT, _is_float),
    (Doubt.APPROXIMATION, _is_approximation),
    (Doubt.MEASURED, _is_measured),
    (Doubt.DELIBERATE, _is_deliberate),
    (Doubt.SEPARATOR, _has_other_separators),
    (Doubt.ANGLE, _are_angles),
    (Doubt.XOR, _read_as(readings.exclusive_or)),
    (Doubt.WHOLE_QUOTIENT, _has_whole_quotients),
    (Doubt.LOST, _read_as(readings.lost_marks)),
    (Doubt.LEFT_TO_RIGHT, _read_as(readings.left_to_right)),
    (Doubt.FEW_DIGITS, _has_few_digits),
)
"""The doubts, cheap ones first."""
