"""Sine and cosine in Decimals, of angles in radians."""

from __future__ import annotations

from decimal import ROUND_05UP, Decimal, Overflow, localcontext

from tracer.formula.normal import PI
from tracer.formula.numbers import round_half_away

MORE = 10
"""Digits more than those of the result."""

FARTHEST = Decimal("1e60")
"""Beyond it, the digits of π do not say which part of the wave an angle is on."""

REDUCED = 220
"""Enough digits that an angle without its quarter turns is as exact as π."""


def sine(angle: Decimal) -> Decimal:
    """The sine of an angle."""
    return _wave(angle, 0)


def cosine(angle: Decimal) -> Decimal:
    """The cosine of an angle, which is the sine of a quarter turn more."""
    return _wave(angle, 1)


def _wave(angle: Decimal, quarters: int) -> Decimal:
    if not angle:
        return Decimal(quarters)
    if not abs(angle) < FARTHEST:
        raise Overflow
    # What the inner rounding cuts off stays visible to the outer one: the sine of 0.5 is below 0.5.
    with localcontext(rounding=ROUND_05UP) as context:
        context.prec += MORE
        turns = round_half_away(angle / (PI / 2), 0)
        with localcontext(prec=REDUCED):
            rest = angle - turns * PI / 2
        quarters += int(turns)
        result = _series(rest, quarters % 2, context.prec)
    return -result if quarters % 4 >= 2 else +result


def _series(x: Decimal, first: int, digits: int) -> Decimal:
    """x - x³/3! + x⁵/5! - …; if `first` is 1, 1 - x²/2! + x⁴/4! - …"""
    square = x * x
    start = term = Decimal(1) if first else x
    others = Decimal(0)
    n = 1 - first
    while term and term.adjusted() >= start.adjusted() - digits:
        n += 2
        term *= -square / (n * (n - 1))
        others += term
    return start + others
