"""Judge whether two sides of an equation are equal, as far as their printed digits can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from tracer.audit.judging import evaluation as ev
from tracer.audit.judging.intervals import Interval, UndefinedError, point
from tracer.audit.reading import expression as ex

TOLERANCE = Decimal("1e-9")
"""Differences below this part of a unit in the last place are ignored."""

MOST_POWERS = 12
"""An error of up to this many powers of ten counts as an error of scale."""

_HALF_A_POWER = Decimal(10).sqrt()


def within(value: Decimal, interval: Interval) -> bool:
    """Return whether a value lies in an interval."""
    slack = (interval.high - interval.low) * TOLERANCE
    return interval.low - slack <= value <= interval.high + slack


def is_between(value: Decimal, unit: Decimal) -> bool:
    """Return whether a value needs more digits than the unit allows."""
    remainder = abs(value % unit)
    return min(remainder, unit - remainder) > unit * TOLERANCE


def power_of_ten(value: Interval, figure: Interval) -> Decimal | None:
    """Return the power of ten by which the figure is too large; None if there is none."""
    if not value.middle or not figure.middle or (value.middle < 0) != (figure.middle < 0):
        return None
    ratio = figure.middle / value.middle
    power = ratio.adjusted() + (ratio.scaleb(-ratio.adjusted()) > _HALF_A_POWER)
    if not power or abs(power) > MOST_POWERS:
        return None
    times = Decimal(10) ** power
    return times if (value * point(times)).meets(figure) else None


def side_by_side(
    left: ex.Expression,
    right: ex.Expression,
    one: ev.StandsFor,
    other: ev.StandsFor,
    meaning: ev.Meaning,
) -> Iterator[tuple[Interval, Interval]]:
    """Yield the numbers of both sides in pairs."""
    a, b = ev.evaluate(left, one, meaning), ev.evaluate(right, other, meaning)
    yield from zip(flat(a), flat(b, a), strict=True)


def flat(value: ev.Value, like: ev.Value | None = None) -> Iterator[Interval]:
    """Yield the numbers of a value, row by row; with `like`, it must have the shape of `like`."""
    if isinstance(like, tuple) != isinstance(value, tuple) and like is not None:
        raise UndefinedError
    if not isinstance(value, tuple):
        yield value
        return
    if isinstance(like, tuple) and len(like) != len(value):
        raise UndefinedError
    for i, item in enumerate(value):
        yield from flat(item, like[i] if isinstance(like, tuple) else None)


REMEMBERED, SMALL = 5000, 40
"""So many pairs of sides with up to so many parts are judged once."""


class Verdict(IntEnum):
    """How well two sides agree, best first."""

    EXACT = 0
    ROUNDED = 1
    """The printed numbers give the other side, after rounding."""
    CONSISTENT = 2
    """Unrounded numbers, of which the printed ones are the roundings, give the other side."""
    CUT = 3
    LAST_DIGIT = 4
    SCALE = 5
    """Correct except for a power of ten, or a % sign."""
    FALSE = 6

    @property
    def at_face(self) -> bool:
        """Whether the sides agree with the digits as they stand."""
        return self <= Verdict.ROUNDED

    @property
    def holds(self) -> bool:
        """Whether there is nothing to report."""
        return self <= Verdict.CONSISTENT


class Judgement(NamedTuple):
    """The result of comparing two sides."""

    verdict: Verdict
    computed: Decimal | None = None
    """The correct value of the figure, unrounded; None if there is no single value."""
    unit: Decimal = Decimal(0)
    """One unit in the last place of the printed figure."""
    printed: Decimal = Decimal(0)
    factor: Decimal = Decimal(1)
    """The factor by which the printed figure is too large."""
    place: int = 0
    """The index of the figure among the numbers of the printed side, from 0."""
    decides: bool = False
    """Whether another last digit would also have been consistent."""
    meaning: ev.Meaning = ev.USUAL
    values: Interval | None = None
    """The values of the figure that the unrounded inputs may give."""


def judge(left: ex.Expression, right: ex.Expression) -> Judgement | None:
    """Judge whether two sides are equal; None if that cannot be decided.

    A side that is already a number is compared with the value of the other one. If both sides are
    expressions, the right one is taken as a later step, and its numbers as rounded results.
    """
    if ex.is_printed(left) and not ex.is_printed(right):
        left, right = right, left
    try:
        if isinstance(right, ex.Number) and _is_exact(left, right.value):
            return Judgement(Verdict.EXACT, right.value, printed=right.value)
    except ArithmeticError:
        return None
    is_small = len(ex.every(left)) + len(ex.every(right)) <= SMALL
    return (_compared_again if is_small else _compared)(left, right)


def _compared(left: ex.Expression, right: ex.Expression) -> Judgement | None:
    """Return the best judgement of all meanings that two sides may have."""
    best: Judgement | None = None
    for meaning in ev.meanings(left, right):
        try:
            found = _judged(left, right, meaning)._replace(meaning=meaning)
        except ArithmeticError:  # undefined, or too large
            continue
        if not found.verdict.holds and meaning.vectors == "each":
            continue  # an elementwise product of vectors is rarely meant: no error
        if best is None or found.verdict < best.verdict:
            best = found
    return best


_compared_again = lru_cache(maxsize=REMEMBERED)(_compared)


def _is_exact(expression: ex.Expression, value: Decimal) -> bool:
    """Return whether unrounded numbers have this value; a short way, because most do.

    Raises:
        ArithmeticError: they are too large.
    """
    if ex.is_printed(expression) or ev.plain_value(expression) != value:
        return False
    return not any(number.is_rounded for number in ex.numbers(expression))


def agree_at_face(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether two sides agree with the digits as they stand."""
    found = judge(left, right)
    return found is not None and found.verdict.at_face


def judge_as_rounded(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether some numbers that round to the printed ones make both sides equal."""
    try:
        pairs = side_by_side(left, right, ev.as_decimals, ev.window, ev.USUAL)
        return all(a.meets(b) for a, b in pairs)
    except ArithmeticError:
        return False


def _judged(left: ex.Expression, right: ex.Expression, meaning: ev.Meaning) -> Judgement:
    if not ex.is_printed(right):
        return _of_expressions(left, right, meaning)
    value = ev.plain_value(left)
    at_face = ev.evaluate(left, ev.face, meaning) if value is None else point(value)
    if ex.is_printed(left):
        are_counts = all(n.is_whole and n.unit == 1 for n in ex.numbers(left) + ex.numbers(right))
        as_inputs = at_face if are_counts else ev.evaluate(left, ev.window, meaning)
    elif any(number.is_rounded for number in ex.numbers(left)):
        as_inputs = ev.evaluate(left, ev.as_input, meaning)
    else:
        as_inputs = at_face
    rounded_to = ev.window_of_whole if is_of_whole_numbers(left) else ev.window
    printed = ev.evaluate(right, ev.face, meaning)
    stands_for = ev.evaluate(right, rounded_to, meaning)
    values = flat(at_face), flat(as_inputs), flat(printed, at_face), flat(stands_for)
    in_percent = ex.is_percent(right) and _has_hundred(left)
    found = [
        _of_a_figure(*figure, in_percent=in_percent)._replace(place=place)
        for place, figure in enumerate(zip(*values, strict=True))
    ]
    if not found:
        raise UndefinedError
    worst = max(found, key=lambda judgement: judgement.verdict)
    return worst._replace(decides=any(judgement.decides for judgement in found))


def _of_a_figure(
    at_face: Interval,
    as_inputs: Interval,
    printed: Interval,
    stands_for: Interval,
    *,
    in_percent: bool,
) -> Judgement:
    value, figure = at_face.middle, printed.middle
    if in_percent and abs(value / 100 - figure) < abs(value - figure):
        value, as_inputs = value / 100, as_inputs * point(Decimal("0.01"))
    unit = stands_for.high - stands_for.low
    slack = unit * TOLERANCE
    stands_for = Interval(stands_for.low - slack, stands_for.high + slack)
    needs_rounding = is_between(value, unit) or as_inputs.low != as_inputs.high
    half = unit / 2
    decides = as_inputs.low < stands_for.low - half or as_inputs.high > stands_for.high + half

    def said(verdict: Verdict, factor: Decimal = Decimal(1)) -> Judgement:
        return Judgement(verdict, value, unit, figure, factor, decides=decides, values=as_inputs)

    if abs(value - figure) <= slack:
        return said(Verdict.EXACT)
    if within(value, stands_for) and needs_rounding:
        return said(Verdict.ROUNDED)
    if as_inputs.meets(stands_for) and needs_rounding:
        return said(Verdict.CONSISTENT)
    is_coarse = unit >= 1 and abs(value - figure) > abs(figure) / 2  # final zeros are no digits
    if needs_rounding and not is_coarse:
        if value * figure >= 0 and 0 <= abs(value) - abs(figure) < unit:
            return said(Verdict.CUT)
        is_far = abs(value - figure) > abs(figure) / 2  # 1/365 ≈ 0.03
        if is_far and (factor := power_of_ten(as_inputs, stands_for)):
            return said(Verdict.SCALE, factor)
        if as_inputs.meets(Interval(stands_for.low - unit, stands_for.high + unit)):
            return said(Verdict.LAST_DIGIT)
    if figure and (factor := power_of_ten(as_inputs, stands_for)):
        return said(Verdict.SCALE, factor)
    return said(Verdict.FALSE)


def _of_expressions(left: ex.Expression, right: ex.Expression, meaning: ev.Meaning) -> Judgement:
    pairs = list(side_by_side(left, right, ev.as_input, ev.as_part, meaning))
    at_face = list(side_by_side(left, right, ev.face, ev.face, meaning))
    cancels = _may_cancel(left) or _may_cancel(right)
    if all(abs(a.middle - b.middle) <= _tolerance(a, b, cancels=cancels) for a, b in at_face):
        return Judgement(Verdict.EXACT)
    if all(a.meets(b) for a, b in pairs):  # the numbers on the right are rounded results
        return Judgement(Verdict.ROUNDED)
    if all(max(a.low - b.high, b.low - a.high) <= b.high - b.low for a, b in pairs):
        return _apart(Verdict.LAST_DIGIT, at_face)
    if len(pairs) == 1 and (factor := power_of_ten(*pairs[0])):
        return Judgement(Verdict.SCALE, factor=factor)
    return _apart(Verdict.FALSE, at_face)


def _may_cancel(expression: ex.Expression) -> bool:
    """Return whether a sum or a function, which is no exponent, may be inexactly zero."""
    match expression:
        case ex.Power(base, _):
            return _may_cancel(base)
        case ex.Sum() | ex.Call():
            return True
    return any(map(_may_cancel, ex.parts(expression)))


def _tolerance(one: Interval, other: Interval, *, cancels: bool) -> Decimal:
    """Return the difference between two sides below which they are equal."""
    size = max(abs(one.middle), abs(other.middle))
    return TOLERANCE if cancels or size > 1 else TOLERANCE * size


def _apart(verdict: Verdict, at_face: Sequence[tuple[Interval, Interval]]) -> Judgement:
    if len(at_face) > 1:
        return Judgement(verdict)
    [(a, b)] = at_face
    return Judgement(verdict, a.middle, printed=b.middle)


def is_of_whole_numbers(expression: ex.Expression) -> bool:
    """Return whether it holds whole numbers and no quotient, so that nothing needs rounding."""
    if isinstance(expression, ex.Number):
        return expression.is_whole
    factors = expression.factors if isinstance(expression, ex.Product) else ()
    is_quotient = any(sign == "/" for sign, _ in factors)
    known = isinstance(expression, ex.Negative | ex.Sum | ex.Product | ex.Power | ex.Vector)
    return known and not is_quotient and all(map(is_of_whole_numbers, ex.parts(expression)))


def _has_hundred(expression: ex.Expression) -> bool:
    """Return whether it is multiplied by 100, as when computing a percentage."""
    return isinstance(expression, ex.Product) and any(
        sign == "*" and [n.value for n in ex.numbers(factor)] == [100]
        for sign, factor in expression.factors
    )
