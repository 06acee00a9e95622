"""Compare numbers with intervals, and the numbers of two sides in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

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


def is_cut(value: Decimal, figure: Decimal, unit: Decimal) -> bool:
    """Return whether the figure is the value with its further digits cut off."""
    return value * figure >= 0 and 0 <= abs(value) - abs(figure) < unit


def gap(a: Interval, b: Interval) -> Decimal:
    """Return the distance between two intervals; 0 if they meet."""
    return max(a.low - b.high, b.low - a.high, Decimal(0))


def factor(value: Interval, figure: Interval) -> Decimal | None:
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
