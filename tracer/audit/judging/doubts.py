"""Doubts: why an equation that does not hold may still be right, so that it is not reported.

Some doubts are found while an equation is read, all others here: `CHECKS` is the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial

from tracer.audit.judging import (
    angles,
    approximations,
    bases,
    boundaries,
    conversions,
    listings,
    lost,
    orders,
    readings,
    scales,
    shapes,
    slips,
    symbols,
    wording,
)
from tracer.audit.judging.judgement import judge
from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.steps import is_by_steps
from tracer.audit.reading import expression as ex
from tracer.audit.reasons import Doubt

_LONG = 40
"""A sign that an equation is read in two ways is worth a look at longer ones."""


def doubt(pair: Pair, *while_read: Doubt | None) -> Doubt | None:
    """Return the first doubt that two sides leave; None if they are certainly meant to be equal.

    Doubts that arose while they were read come first. What is read in two ways is doubtful only if
    it holds in the other one.
    """
    for reason in while_read:
        if reason and (reason not in OTHERWISE or pair.holds_as(OTHERWISE[reason], _LONG)):
            return reason
    return next((reason for reason, may_be in CHECKS if may_be(pair)), None)


OTHERWISE: dict[Doubt, readings.Reading] = {
    Doubt.ORDER: orders.orders,
    Doubt.PERCENT: readings.percentages,
    Doubt.MIXED: readings.mixed_numbers,
}
"""The other readings of what is read in two ways."""


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


_OF = re.compile(r"[\s$*]+(?:of|der|des|du|de|del)\s")


def _ends_within(pair: Pair) -> bool:
    """Return whether the right side may continue in the text after it: 1/3 of something."""
    is_share = not ex.is_printed(pair.right) and _OF.match(pair.after) is not None
    return is_share or boundaries.ends_within(pair.after)


def _is_in_a_column(pair: Pair) -> bool:
    if any(map(boundaries.crosses_rows, pair.sources)) or boundaries.is_a_column(pair.sources[0]):
        return True
    is_number = isinstance(pair.left, ex.Number)
    return is_number and boundaries.is_in_a_column(pair.before, pair.sources[0])


def _is_percent_of(pair: Pair) -> bool:
    """Return whether a percentage is of a number, or stands for one: 1.6% = 8/5, 2 - 1 = 1%."""
    has_percent = any(ex.is_percent(part) for part in pair.parts)
    if has_percent and pair.ratio in (100, Decimal("0.01")):
        return True
    has_sign = pair.sources[1].strip(" $\\{").startswith("+")
    if has_sign and ex.is_percent(pair.right) and pair.holds_as(readings.changes):
        return True
    if _TIMES.match(pair.sources[0]) and has_percent:
        return True
    return ex.is_percent(pair.right) and pair.holds_as(readings.shares)


_TIMES = re.compile(r"\s*\d+[×x]\s")
"""So many of something, not a factor: 2× 99.9%."""


def _is_named(pair: Pair) -> bool:
    """Return whether a number belongs to words: the complement of 318 = 681 + 1."""
    if isinstance(pair.left, ex.Negative) and ex.is_printed(pair.left):
        return wording.owns(pair.before)  # the probability for Z = -1.04 = 0.1492
    if not isinstance(pair.left, ex.Number):
        return wording.bounds(pair.before)
    is_label = (
        pair.previous is None and pair.left.is_whole and wording.labels(pair.before, pair.after)
    )
    is_of_the_text = pair.sources[0].endswith("$")  # a payment of 41 $= 3 + 9$
    if is_label or is_of_the_text or wording.abbreviates(pair.before):
        return True
    return wording.owns(pair.before) or wording.bounds(pair.before)


def _is_label(pair: Pair) -> bool:
    """Return whether a number before a computation with its result names it: 1 = 6/3 = 2."""
    match pair.left:
        case ex.Number() | ex.Negative(ex.Number()):
            begins = not pair.before.rpartition("\n")[2].strip(" >`|")
            is_whole = all(number.is_whole for number in ex.numbers(pair.left))
            is_first = pair.previous is None and (is_whole or begins)
            is_computed = not ex.is_printed(pair.right)
            is_result = pair.before.rstrip(" $&").endswith("=")
            if is_result or not (is_first and is_computed and pair.following is not None):
                return False
            found = judge(pair.right, pair.following)
            return found is not None and found.verdict.holds
    return False


def _is_negated(pair: Pair) -> bool:
    """Return whether a dash before the left side may be a bullet, or parentheses mean a minus."""
    if _DASH.match(pair.sources[0]) and pair.holds_as(readings.unsigned):
        return True
    if _BULLET.match(pair.sources[0]) and pair.before.endswith("=") and pair.ratio == -1:
        return True  # other =- 724 * 0.4 = 289.6
    if _BULLET.match(pair.sources[0]) and re.search(r"(?:\A|\n)[ \t>]*\Z", pair.before):
        return pair.ratio == -1 or pair.is_whole
    return bool(_PARENTHESIZED.search(pair.sources[0])) and pair.holds_as(
        readings.negative_parentheses
    )


_DASH = re.compile(r"[-−–](?:\s|\\[;:, ])*\$")
_BULLET = re.compile(r"[-−–]\s+")
_PARENTHESIZED = re.compile(r"[-−+]\s*\(\s*[$€£]?[\d.,]+\s*(?:%|[a-zA-Z]+)?\s*\)")


_REMARK = re.compile(r"\d\s?\(\d+\)")
_FORMULA = re.compile(r"\s*\(\$[^$]*\$\)\s*")


def _has_remarks(pair: Pair) -> bool:
    """Return whether numbers in parentheses may be remarks on others: 4(7) + 3(5) = 12."""
    if _FORMULA.fullmatch(pair.sources[0]):
        return True
    is_remarked = _REMARK.search(pair.sources[0]) is not None
    reading = readings.results_behind if pair.is_alone else readings.remarks
    return is_remarked and pair.holds_as(reading)


def _are_quotations(pair: Pair) -> bool:
    """Return whether a stroke may separate two prices: a spread of 150.00 / 150.50 = 0.50."""
    return not (pair.is_alone or pair.is_whole) and pair.holds_as(readings.quotations)


_DASHED = re.compile(r"\s*\d+ [-−–] \d+\s*")
"""As many numbers: slots 0 - 5460 = 5461."""
_COUNTED = 100
"""Fewer numbers are no range, but a difference."""
_TO = re.compile(r"[\s%$]*(?:to|bis|à)\s+[$€£]?\d")
_RANGE = re.compile(r"\s*\d+[-−–]\d+(?:/\d+\s*| [×x*·] .*)")


def _is_a_range(pair: Pair) -> bool:
    """Return whether a range ends behind it, or may be of a number of points: 2-3/4 = 0.5."""
    found = pair.found
    if found.computed is not None and found.printed == 1 - found.computed > _COUNTED:
        return pair.is_whole and _DASHED.fullmatch(pair.sources[0]) is not None
    return bool(_RANGE.fullmatch(pair.sources[0]) or _TO.match(pair.after))


def _is_deliberate(pair: Pair) -> bool:
    """Return whether it is quoted, or words near it speak of what is false."""
    if wording.is_questioned(pair.before, pair.after) or wording.is_corrected(pair.after):
        return True
    if wording.refutes(pair.after, pair.sources[1].strip(" $")):
        return True
    is_long = len(pair.numbers) > _STATEMENT or not pair.is_whole
    if wording.calls_false(pair.before, pair.after, near=_NEAR_A_LONG_ONE if is_long else _NEAR):
        return True
    if not pair.is_whole:
        return False
    is_riddle = len(pair.numbers) == 3 and wording.is_a_riddle(pair.before, pair.after)
    is_simple = all(number.value <= slips.SIMPLE for number in pair.numbers)
    return is_riddle or (is_simple and wording.states(pair.before, pair.after))


_STATEMENT = 4
"""What is false on purpose has seldom more numbers than this, or decimals."""
_NEAR, _NEAR_A_LONG_ONE = 120, 40
"""Words that call an equation false are at most this many characters away."""


# --- what is meant -------------------------------------------------------------------------------


def _are_apart(pair: Pair) -> bool:
    """Return whether two printed numbers need not be the same, and are not near.

    One is whole, they are in two rows, or a unit follows: 0.99998 = 10.51 min per year.
    """
    is_whole = any(number.is_whole for number in pair.numbers)
    has_unit = conversions.unit(pair.behind) is not None
    if not pair.is_between_numbers or not (is_whole or has_unit or "\n" in pair.sources[0]):
        return False
    found = pair.found
    return found.computed is None or abs(found.computed - found.printed) * 10 > abs(found.computed)


def _is_part(pair: Pair) -> bool:
    """Return whether a fraction may be of something: 1/4 = 15 people."""
    match pair.left, pair.right:
        case ex.Product((("*", ex.Number(a)), ("/", ex.Number(b)))), ex.Number(c):
            is_simple = pair.is_whole and 0 < a <= slips.SIMPLE and 0 < b <= slips.SIMPLE
            return is_simple and a % b != 0 and c > slips.SIMPLE
    return False


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


def _is_exclusive_or(pair: Pair) -> bool:
    """Return whether ^ may be an operator of a program: 10 ^ 5 = 15, outside LaTeX."""
    is_code = "^" in "".join(pair.sources) and "\\" not in "".join(pair.sources)
    return is_code and pair.holds_as(readings.exclusive_or)


def _has_whole_quotients(pair: Pair) -> bool:
    """Return whether it holds with whole quotients; nobody means those beside π and in powers."""
    if any(isinstance(part, ex.Constant | ex.Power | ex.Call) for part in pair.parts):
        return False
    return _is_cut_to_zero(pair) or pair.holds_as(readings.whole_quotients)


def _is_cut_to_zero(pair: Pair) -> bool:
    """Return whether a quotient of whole numbers is less than 1, and is printed as 0."""
    found = pair.found
    is_less = found.computed is not None and 0 < found.computed < 1 and not found.printed
    return is_less and pair.is_whole and isinstance(pair.left, ex.Product)


CHECKS: tuple[tuple[Doubt, Callable[[Pair], bool]], ...] = (
    (Doubt.APART, _are_apart),
    (Doubt.BEFORE, _begins_within),
    (Doubt.AFTER, _ends_within),
    (Doubt.COLUMNS, _is_in_a_column),
    (Doubt.COLUMNS, listings.begins_a_column),
    (Doubt.COLUMNS, listings.is_a_numbered_line),
    (Doubt.COLUMNS, listings.continues_columns),
    (Doubt.COLUMNS, listings.is_an_exercise),
    (Doubt.BEFORE, listings.is_of_a_spreadsheet),
    (Doubt.BEFORE, listings.is_an_assignment),
    (Doubt.BEFORE, listings.has_dots_between),
    (Doubt.BEFORE, listings.is_an_item),
    (Doubt.BEFORE, listings.has_commas_between),
    (Doubt.OPTION, listings.is_an_option),
    (Doubt.LEADING_ZEROS, bases.has_leading_zeros),
    (Doubt.BINARY, bases.is_binary),
    (Doubt.SYSTEM, bases.is_of_another_system),
    (Doubt.CYCLES, symbols.are_cycles),
    (Doubt.FUNCTION, symbols.are_symbols),
    (Doubt.REMARK, symbols.is_in_parentheses),
    (Doubt.SHAPE, shapes.are_shapes),
    (Doubt.PERCENT, _is_percent_of),
    (Doubt.UNIT, conversions.may_convert),
    (Doubt.UNIT, scales.is_of_words),
    (Doubt.UNIT, scales.is_priced),
    (Doubt.UNIT, scales.is_in_thousands),
    (Doubt.UNIT, scales.is_of_a_prefix),
    (Doubt.NAMED, _is_named),
    (Doubt.NAMED, _is_label),
    (Doubt.BULLET, _is_negated),
    (Doubt.FUNCTION, symbols.is_misread),
    (Doubt.RATIO, symbols.are_multiples),
    (Doubt.MAGNITUDE, approximations.is_magnitude),
    (Doubt.FLOAT, approximations.is_float),
    (Doubt.APPROXIMATION, approximations.is_approximation),
    (Doubt.SYMBOL, approximations.is_a_symbol),
    (Doubt.MEASURED, approximations.is_measured),
    (Doubt.DELIBERATE, _is_deliberate),
    (Doubt.DELIBERATE, slips.is_simple),
    (Doubt.SIGN, slips.is_owed),
    (Doubt.NAMED, slips.are_names),
    (Doubt.STEPS, is_by_steps),
    (Doubt.SEPARATOR, _has_other_separators),
    (Doubt.ANGLE, angles.are_angles),
    (Doubt.XOR, _is_exclusive_or),
    (Doubt.RATIO, _is_part),
    (Doubt.RATIO, _read_as(readings.ratios, ex.Product)),
    (Doubt.RATIO, _are_quotations),
    (Doubt.RATIO, _read_as(readings.amplified, ex.Product)),
    (Doubt.RANGE, _is_a_range),
    (Doubt.FEW_DIGITS, _read_as(readings.short_pi, ex.Constant)),
    (Doubt.ORDER, _read_as(orders.long_arguments, ex.Call)),
    (Doubt.ORDER, _read_as(orders.long_divisors, ex.Product)),
    (Doubt.ORDER, _read_as(orders.long_sums, ex.Sum)),
    (Doubt.ORDER, orders.raises_a_divisor),
    (Doubt.WHOLE_QUOTIENT, _has_whole_quotients),
    (Doubt.REMARK, _has_remarks),
    (Doubt.FUNCTION, slips.is_another_logarithm),
    (Doubt.FUNCTION, _read_as(readings.shares_of_a_row, ex.Vector)),
    (Doubt.LOST, lost.has_marks),
    (Doubt.LOST, lost.is_copied),
    (Doubt.TWICE, lost.is_doubled),
    (Doubt.LOST, lost.has_powers),
    (Doubt.SEPARATOR, _read_as(readings.points_as_times, ex.Power)),
    (Doubt.LOST, _read_as(lost.roots, ex.Product)),
    (Doubt.LOST, _read_as(lost.dots, ex.Sum)),
    (Doubt.LEFT_TO_RIGHT, _read_as(orders.left_to_right, ex.Sum)),
    (Doubt.FEW_DIGITS, approximations.has_few_digits),
    (Doubt.FEW_DIGITS, scales.are_rounded),
    (Doubt.FEW_DIGITS, scales.is_of_unrounded),
    (Doubt.PERCENT, slips.is_score),
    (Doubt.APART, slips.is_of_one_digit),
)
"""The doubts, cheap ones first."""
