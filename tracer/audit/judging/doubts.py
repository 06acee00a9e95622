"""Doubts: why an equation that does not hold may still be right, so that it is not reported.

Some doubts are found while an equation is read, all others here: `CHECKS` is the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial

from tracer.audit.judging import approximations, boundaries, conversions, readings, systems, wording
from tracer.audit.judging.intervals import PI
from tracer.audit.judging.judgement import Verdict, judge
from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.steps import is_by_steps
from tracer.audit.reading import expression as ex
from tracer.audit.reasons import Doubt


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
    return has_two_ones or pair.holds_as(systems.in_bases({2}))


def _has_leading_zeros(pair: Pair) -> bool:
    return any(re.match(r"0\d", number.printed) for number in pair.numbers)


def _is_of_another_system(pair: Pair) -> bool:
    """Return whether the text around is about a system in which the sides may be equal."""
    where = pair.start, pair.end
    is_positional, is_bitwise = pair.systems.is_positional(*where), pair.systems.is_bitwise(*where)
    if (is_positional or is_bitwise) and _has_bits(pair):
        return True
    if is_positional and pair.holds_as(systems.in_bases(pair.systems.bases(*where)), LONG):
        return True
    if not pair.is_whole or pair.has(ex.Call):
        return False
    return (pair.systems.is_modular(*where) and _may_be_a_remainder(pair)) or (
        is_bitwise and pair.holds_as(systems.bits)
    )


LONG = 40
"""The numbers in 1101 = 1·2³ + 1·2² + …, for the longest such sum."""


def _may_be_a_remainder(pair: Pair) -> bool:
    """Return whether the sides may be equal modulo some number."""
    if not ex.is_printed(pair.right) or pair.found.computed is None:
        return True
    return systems.is_remainder(pair.found.computed, pair.found.printed)


def _has_bits(pair: Pair) -> bool:
    """Return whether a long number is of 0 and 1, or all are: 1.000 × 1.110 = 1.110 × 2."""
    longest = [source for source in map(pair.source, pair.numbers) if len(source) > 2]
    are_bits = [set(source) <= {"0", "1", "."} for source in longest]
    are_codes = [re.fullmatch(r"1[01]*1[01]*", source) and len(source) > 3 for source in longest]
    return bool(longest) and (all(are_bits) or any(are_codes))


# --- units and words -----------------------------------------------------------------------------


def _begins_within(pair: Pair) -> bool:
    """Return whether the left side may continue the text before it."""
    is_call = isinstance(_first(pair.left), ex.Call)
    return boundaries.begins_within(pair.before, pair.sources[0], is_call=is_call) or any(
        map(boundaries.joins_formulas, pair.sources)
    )


def _first(expression: ex.Expression) -> ex.Expression:
    """Return the first operand of an expression."""
    match expression:
        case ex.Sum((first, *_)) | ex.Product(((_, first), *_)) | ex.Power(first, _):
            return _first(first)
    return expression


def _ends_within(pair: Pair) -> bool:
    return boundaries.ends_within(pair.after)


def _is_in_a_column(pair: Pair) -> bool:
    is_number = isinstance(pair.left, ex.Number)
    return is_number and boundaries.is_in_a_column(pair.before, pair.sources[0])


def _is_percent_of(pair: Pair) -> bool:
    """Return whether a percentage is of a number, or stands for one: 1.6% = 8/5."""
    if ex.is_percent(pair.left) and ex.is_printed(pair.left):
        return pair.ratio in (100, Decimal("0.01"))
    return ex.is_percent(pair.right) and pair.holds_as(readings.shares)


def _is_named(pair: Pair) -> bool:
    """Return whether a number belongs to words: the complement of 318 = 681 + 1."""
    return (isinstance(pair.left, ex.Number) and wording.owns(pair.before)) or wording.bounds(
        pair.before
    )


def _is_label(pair: Pair) -> bool:
    """Return whether a whole number before a computation with its result names it: 1 = 6/3 = 2."""
    match pair.left:
        case ex.Number() | ex.Negative(ex.Number()):
            is_first = pair.previous is None and all(n.is_whole for n in ex.numbers(pair.left))
            is_computed = not ex.is_printed(pair.right)
            if not (is_first and is_computed and pair.following is not None):
                return False
            found = judge(pair.right, pair.following)
            return found is not None and found.verdict.holds
    return False


def _is_negated(pair: Pair) -> bool:
    """Return whether a dash before the left side may be a bullet, or parentheses mean a minus."""
    if _BULLET.match(pair.sources[0]) and re.search(r"(?:\A|\n)[ \t]*\Z", pair.before):
        return pair.ratio == -1 or pair.is_whole
    return bool(_PARENTHESIZED.search(pair.sources[0])) and pair.holds_as(
        readings.negative_parentheses
    )


_BULLET = re.compile(r"[-−–]\s+")
_PARENTHESIZED = re.compile(r"[-−+]\s*\(\s*[$€£]?[\d.,]+\s*(?:%|[a-zA-Z]+)?\s*\)")


def _is_misread(pair: Pair) -> bool:
    """Return whether a determinant, or commas in a function's arguments, may be misread."""
    source = "".join(pair.sources)
    return "vmatrix" in source or (
        any(isinstance(part, ex.Call) and len(part.arguments) > 1 for part in pair.parts)
        and re.search(r"\d,\d{3},\d{3}", source) is not None
    )


def _are_degrees(pair: Pair) -> bool:
    """Return whether two angles are compared, or classes: 1° ≈ 3°."""
    return all(
        isinstance(side, ex.Call) and side.name == "degrees" and ex.is_printed(side.arguments[0])
        for side in (pair.left, pair.right)
    )


_SIMPLE = 10
"""Everyone can add numbers up to this one."""


def _is_deliberate(pair: Pair) -> bool:
    """Return whether it is quoted, or words near it speak of what is false."""
    if wording.calls_false(pair.before, pair.after):
        return True
    is_simple = pair.is_whole and all(number.value <= _SIMPLE for number in pair.numbers)
    return is_simple and wording.states(pair.before, pair.after)


# --- what is meant -------------------------------------------------------------------------------


def _are_apart(pair: Pair) -> bool:
    """Return whether two printed numbers need not be the same: whole or in two rows, not near."""
    is_whole = any(number.is_whole for number in pair.numbers)
    if not pair.is_between_numbers or not (is_whole or "\n" in pair.sources[0]):
        return False
    found = pair.found
    return found.computed is None or abs(found.computed - found.printed) * 10 > abs(found.computed)


_FAR, _FARTHER = 20, 200
"""Two expressions, and a result, that differ by a factor this large differ by more than a slip."""


def _are_far(pair: Pair) -> bool:
    if pair.found.verdict is Verdict.SCALE or pair.ratio is None:
        return False
    far = _FAR if pair.is_between_expressions else _FARTHER
    return not Decimal(1) / far < abs(pair.ratio) < far


def _is_part(pair: Pair) -> bool:
    """Return whether a fraction may be of something: 1/4 = 15 people."""
    match pair.left, pair.right:
        case ex.Product((("*", ex.Number(a)), ("/", ex.Number(b)))), ex.Number(c):
            is_simple = pair.is_whole and 0 < a <= _SIMPLE and 0 < b <= _SIMPLE
            return is_simple and a % b != 0 and c > _SIMPLE
    return False


_SQUARE = re.compile(r"\s*(\d)[x×]\1\s*")


def _are_shapes(pair: Pair) -> bool:
    """Return whether sizes are combined: 2×3 @ 3×4 = 2×4."""
    if any(_has_matrix_product(side) for side in (pair.left, pair.right)):
        return True
    if _SQUARE.fullmatch(pair.sources[0]) and pair.before.rstrip()[-1:].isalpha():
        return True
    one, other = pair.left, pair.right
    if not (isinstance(one, ex.Product) and isinstance(other, ex.Product) and pair.is_whole):
        return False
    sizes = [number.value for number in ex.numbers(one)]
    return all(number.value in sizes for number in ex.numbers(other))


_ALONE = re.compile(r"\s*\(\d+\)\s*")


def _is_in_parentheses(pair: Pair) -> bool:
    """Return whether the result is in parentheses, as an ideal is: √(12) = (6)."""
    return bool(_ALONE.fullmatch(pair.sources[1]))


_CYCLES = re.compile(r"(?:\s*\(\d{2,}\))+\s*")


def _are_cycles(pair: Pair) -> bool:
    """Return whether both sides are whole numbers in parentheses: (123) = (13)(12)."""
    return all(map(_CYCLES.fullmatch, pair.sources))


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


def _read_as(
    other: readings.Reading, kind: type[ex.Expression] | None = None
) -> Callable[[Pair], bool]:
    """Return a check whether sides with a part of a kind are equal when they are read otherwise."""

    def holds(pair: Pair) -> bool:
        return (kind is None or pair.has(kind)) and pair.holds_as(other)

    return holds


def _are_angles(pair: Pair) -> bool:
    """Return whether it holds with 180 for π, or up to whole turns: 0 = 2π."""
    if ex.Constant("π") not in pair.parts:
        return False
    one, other = pair.found.computed, pair.found.printed
    if one is None or pair.holds_as(readings.degrees):
        return one is not None
    turns = (one - other) / (2 * PI)
    return abs(turns) < 100 and abs(turns - round(turns)) < Decimal("1e-9")


def _has_whole_quotients(pair: Pair) -> bool:
    """Return whether it holds with whole quotients; nobody means those beside π and in powers."""
    is_plain = not any(isinstance(part, ex.Constant | ex.Power | ex.Call) for part in pair.parts)
    return is_plain and pair.holds_as(readings.whole_quotients)


CHECKS: tuple[tuple[Doubt, Callable[[Pair], bool]], ...] = (
    (Doubt.APART, _are_apart),
    (Doubt.BEFORE, _begins_within),
    (Doubt.AFTER, _ends_within),
    (Doubt.COLUMNS, _is_in_a_column),
    (Doubt.LEADING_ZEROS, _has_leading_zeros),
    (Doubt.BINARY, _is_binary),
    (Doubt.SYSTEM, _is_of_another_system),
    (Doubt.CYCLES, _are_cycles),
    (Doubt.REMARK, _is_in_parentheses),
    (Doubt.SHAPE, _are_shapes),
    (Doubt.PERCENT, _is_percent_of),
    (Doubt.UNIT, conversions.may_convert),
    (Doubt.NAMED, _is_named),
    (Doubt.NAMED, _is_label),
    (Doubt.BULLET, _is_negated),
    (Doubt.FUNCTION, _is_misread),
    (Doubt.APART, _are_degrees),
    (Doubt.MAGNITUDE, approximations.is_magnitude),
    (Doubt.FLOAT, approximations.is_float),
    (Doubt.APPROXIMATION, approximations.is_approximation),
    (Doubt.SYMBOL, approximations.is_a_symbol),
    (Doubt.MEASURED, approximations.is_measured),
    (Doubt.DELIBERATE, _is_deliberate),
    (Doubt.STEPS, is_by_steps),
    (Doubt.SEPARATOR, _has_other_separators),
    (Doubt.ANGLE, _are_angles),
    (Doubt.XOR, _read_as(readings.exclusive_or, ex.Power)),
    (Doubt.RATIO, _is_part),
    (Doubt.RATIO, _read_as(readings.ratios, ex.Product)),
    (Doubt.ORDER, _read_as(readings.long_divisors, ex.Product)),
    (Doubt.WHOLE_QUOTIENT, _has_whole_quotients),
    (Doubt.LOST, _read_as(readings.lost_marks)),
    (Doubt.SEPARATOR, _read_as(readings.points_as_times, ex.Power)),
    (Doubt.LOST, _read_as(readings.lost_roots, ex.Product)),
    (Doubt.LEFT_TO_RIGHT, _read_as(readings.left_to_right, ex.Sum)),
    (Doubt.FEW_DIGITS, approximations.has_few_digits),
    (Doubt.FAR, _are_far),
)
"""The doubts, cheap ones first."""
