"""Judge results with a suffix, such as 16 GB: they may be in any power of 1,000 or of 1,024."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from itertools import product

from tracer.audit.judging import evaluation as ev
from tracer.audit.judging.intervals import Interval, point
from tracer.audit.judging.judgement import (
    Judgement,
    Verdict,
    is_between,
    is_of_whole_numbers,
    power_of_ten,
)
from tracer.audit.reading import expression as ex
from tracer.audit.reading.sizes import is_literal, multipliers, result, suffixes

_MOST_POWERS = 9
_POWERS = tuple(
    Decimal(base) ** power
    for base in (1000, 1024)
    for power in range(-_MOST_POWERS, _MOST_POWERS + 1)
)
_BITS = frozenset(("bit", "kb", "Mb", "Gb", "Tb", "kbps", "Mbps", "Gbps", "Tbps"))
_BITS_OF_A_BYTE = Decimal(8)
_THREE_ZEROS = 3  # a factor of 1,000 is one between units


def is_of_sizes(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether one side is a number, and there are suffixes, which all are those of sizes."""
    if not suffixes(left, right):
        return False
    if ex.is_printed(left) and not ex.is_printed(right):
        left, right = right, left
    return result(left, right) is not None


def judged_as_sizes(
    left: ex.Expression, right: ex.Expression, found: Judgement | None, *, is_exact: bool
) -> Judgement | None:
    """Return the judgement of two sides if one is a number, and suffixes are read as sizes.

    `found` compares them without suffixes. The result is false if it is wrong under every power of
    1,000 and of 1,024, with its digits rounded or cut. None if no suffix is a size, or the sides
    hold as they are.
    """
    if not is_of_sizes(left, right) or (found is not None and found.verdict.holds):
        return None
    names = suffixes(left, right)
    if ex.is_printed(left) and not ex.is_printed(right):
        left, right = right, left
    number = result(left, right)
    if number is None or number.value <= 0:
        return None
    try:
        figure = ev.scalar(ev.evaluate(right, ev.face, ev.USUAL)).middle
        values = [ev.scalar(each) for each in _values(left, names, is_exact=is_exact)]
    except ArithmeticError:
        return None
    if any(value.low <= 0 for value in values):
        return None
    # A single final zero is exact behind =: 7B × 2 bytes = 10 GB.
    is_counted = is_exact and number.is_whole and number.unit <= 10 and is_of_whole_numbers(left)
    unit = (Decimal(1) if is_counted else number.unit) * figure / number.value
    powers = (Decimal(1),) if is_literal(left, right) else _POWERS
    scaled = [
        value * point(power)
        for value, power in product(values, powers)
        if powers is not _POWERS or abs((value.middle * power / figure).adjusted()) <= 2
    ]
    may_be = Interval(figure - unit / 2, figure + unit)
    factors = map(point, _factors(left, right, is_exact=is_exact))
    if any((value * factor).meets(may_be) for value, factor in product(scaled, factors)):
        return Judgement(Verdict.ROUNDED, figure, unit, figure)
    if ex.is_printed(left) or not scaled:
        return None
    nearest = min(scaled, key=lambda value: abs((value.middle / figure).ln()))
    off = (figure - value.middle for value in scaled if is_between(value.middle, unit))
    last_digits = [each for each in off if abs(each) < unit * 3 / 2]
    if any(0 < each < unit for each in last_digits) and (not is_exact or number.digits == 2):
        return Judgement(Verdict.ROUNDED, figure, unit, figure)  # rounded up
    if last_digits and number.digits > 2:
        return Judgement(Verdict.LAST_DIGIT, nearest.middle, unit, figure, values=nearest)
    window = Interval(figure - unit / 2, figure + unit / 2)
    tens = (power_of_ten(value, window) for value in scaled)
    times = min(filter(None, tens), key=lambda each: abs(each.adjusted()), default=None)
    if times and (powers is not _POWERS or abs(times.adjusted()) < _THREE_ZEROS):
        correct = figure / times
        return Judgement(Verdict.SCALE, correct, unit, figure, times, values=point(correct))
    return Judgement(Verdict.FALSE, nearest.middle, unit, figure, values=nearest)


def _factors(left: ex.Expression, right: ex.Expression, *, is_exact: bool) -> list[Decimal]:
    """Return what may be between two sides besides powers: bits to bytes, and shares to percent.

    Powers of both kinds may be mixed in bytes, and in approximate results: 7 × 2 = 13 GiB.
    """
    factors = [Decimal(1), Decimal(100)] if ex.is_percent(right) else [Decimal(1)]
    has_eight = any(each.value == _BITS_OF_A_BYTE for each in ex.numbers(left))
    if has_eight or suffixes(left, right) & _BITS:
        factors += [_BITS_OF_A_BYTE, 1 / _BITS_OF_A_BYTE]
    has_bytes = any(name[-1] == "B" for name in suffixes(right))
    if not is_exact or has_bytes:
        factors += [(Decimal(1000) / 1024) ** power for power in (1, 2, 3, 4)]
    return factors


def _values(left: ex.Expression, names: set[str], *, is_exact: bool) -> Iterator[ev.Value]:
    """Yield the values of a side without suffixes, and with each meaning of its suffixes."""
    ordered = sorted(names)
    for meaning in ([Decimal(1)] * len(ordered), *product(*map(multipliers, ordered))):
        by = dict(zip(ordered, meaning, strict=True))
        yield ev.evaluate(left, partial(_stands_for, by, is_exact), ev.USUAL)


def _stands_for(by: Mapping[str, Decimal], is_exact: bool, number: ex.Number) -> Interval:
    is_rough = bool(number.measure) and not is_exact  # 7B stands for 6.7 billion
    interval = ev.window(number) if is_rough else ev.as_input(number)
    for name, exponent in number.measure:
        interval = interval * point(by[name] ** exponent)
    return interval
