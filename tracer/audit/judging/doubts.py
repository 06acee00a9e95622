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
    boundaries,
    conversions,
    listings,
    lost,
    orders,
    readings,
    scales,
    shapes,
    wording,
)
from tracer.audit.judging.judgement import Verdict, judge
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
    is_simple = all(number.value <= _SIMPLE for number in pair.numbers)
    return is_riddle or (is_simple and wording.states(pair.before, pair.after))


_SIMPLE = 10
"""Everyone can add numbers up to this one."""
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


def _is_binary(pair: Pair) -> bool:
    """Return whether all numbers have only the digits 0 and 1, and are not powers of ten.

    Or the left side has two binary fractions: 0.1011 ÷ 0.1101.
    """
    if len(_FRACTION.findall(pair.sources[0])) > 1 and not _DIGIT.search(pair.sources[0]):
        return True
    sources = list(map(pair.source, pair.numbers))
    if not sources or not all(set(source) <= {"0", "1"} for source in sources):
        return False
    if all(len(source) == 1 for source in sources):
        return True
    return any(source.count("1") > 1 for source in sources)


_FRACTION, _DIGIT = re.compile(r"\b[01]\.[01]{4,}\b"), re.compile(r"[2-9]")
"""Binary fractions, as in 1.0011 + 0.1101, and the digits that they do not have."""


def _is_of_one_digit(pair: Pair) -> bool:
    """Return whether a power of ten is concluded from one digit that is not exact: 5 + 4 = 1."""
    found = pair.found
    if found.verdict is not Verdict.SCALE or not isinstance(pair.right, ex.Number):
        return False
    computed = found.computed
    return pair.right.digits == 1 and (computed is None or computed * found.factor != found.printed)


_ALONE = re.compile(r"\s*\(\d+\)\s*")


def _is_in_parentheses(pair: Pair) -> bool:
    """Return whether a side is a number in parentheses: an ideal (6), an equation's number (3)."""
    return any(map(_ALONE.fullmatch, pair.sources))


_SAID = re.compile(
    r"\b(?!(?:[Ss]o|[Tt]hen|[Tt]hus|[Hh]ence|and)\b)[^\W\d_]{2,}(?:[ $*`]|<[^<>]*>)*\Z"
)
_REMARKED = re.compile(r"[\s$*`)]*(?:\(|(?!(?:and|but|while|then|und|aber)\b)[^\W\d_]{3})")


def _is_simple_sum(pair: Pair) -> bool:
    """Return whether a sum of small numbers means something else: 4 + 1 + 1 = 3 coins.

    A word or a remark follows, or it is a proverb in a sentence: it means that 1 + 1 = 3.
    """
    if not pair.is_whole or any(number.value > _SIMPLE for number in pair.numbers):
        return False
    match pair.left, pair.right:
        case ex.Sum((ex.Number(one), ex.Number(other))), ex.Number(value) if (
            one == other
            and value == one + other + 1
            and (_SAID.search(pair.before) or pair.is_a_remark)
        ):
            return True
        case ex.Sum(), ex.Number() if not pair.is_alone:
            return _REMARKED.match(pair.after) is not None
    return False


def _is_score(pair: Pair) -> bool:
    """Return whether a share is printed as a whole percentage without its sign."""
    found = pair.found
    is_hundredfold = found.verdict is Verdict.SCALE and found.factor == 100
    is_whole = isinstance(pair.right, ex.Number) and pair.right.is_whole
    is_share = found.computed is not None and found.computed <= 1
    return is_hundredfold and is_whole and is_share and not pair.is_alone


CHECKS: tuple[tuple[Doubt, Callable[[Pair], bool]], ...] = (
    (Doubt.APART, _are_apart),
    (Doubt.BEFORE, _begins_within),
    (Doubt.AFTER, _ends_within),
    (Doubt.COLUMNS, listings.continues_columns),
    (Doubt.OPTION, listings.is_an_option),
    (Doubt.BINARY, _is_binary),
    (Doubt.REMARK, _is_in_parentheses),
    (Doubt.SHAPE, shapes.are_shapes),
    (Doubt.PERCENT, _is_percent_of),
    (Doubt.PERCENT, _is_score),
    (Doubt.UNIT, conversions.may_convert),
    (Doubt.UNIT, scales.is_of_words),
    (Doubt.UNIT, scales.is_of_a_prefix),
    (Doubt.NAMED, _is_label),
    (Doubt.BULLET, _is_negated),
    (Doubt.MAGNITUDE, approximations.is_magnitude),
    (Doubt.FLOAT, approximations.is_float),
    (Doubt.APPROXIMATION, approximations.is_approximation),
    (Doubt.MEASURED, approximations.is_measured),
    (Doubt.DELIBERATE, _is_deliberate),
    (Doubt.DELIBERATE, _is_simple_sum),
    (Doubt.STEPS, is_by_steps),
    (Doubt.SEPARATOR, _has_other_separators),
    (Doubt.ANGLE, angles.are_angles),
    (Doubt.RANGE, _is_a_range),
    (Doubt.FEW_DIGITS, _read_as(readings.short_pi, ex.Constant)),
    (Doubt.ORDER, _read_as(orders.long_divisors, ex.Product)),
    (Doubt.WHOLE_QUOTIENT, _has_whole_quotients),
    (Doubt.LOST, lost.has_marks),
    (Doubt.LOST, lost.is_copied),
    (Doubt.TWICE, lost.is_doubled),
    (Doubt.LEFT_TO_RIGHT, _read_as(orders.left_to_right, ex.Sum)),
    (Doubt.FEW_DIGITS, approximations.has_few_digits),
    (Doubt.FEW_DIGITS, scales.are_rounded),
    (Doubt.APART, _is_of_one_digit),
)
"""The doubts, cheap ones first."""
