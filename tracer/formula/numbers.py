"""Decimals as people round them: half away from zero."""

from __future__ import annotations

from decimal import ROUND_05UP, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import cache
from typing import Any

CONTEXT = Context(prec=60, rounding=ROUND_05UP)
"""More digits than any line. ROUND_05UP keeps 0.5 - 10⁻³⁰⁰ below 0.5, so it is rounded down."""

SUMS = Context(prec=400, rounding=ROUND_05UP)
"""Enough digits that a sum such as 0.5 + 10⁻¹⁷⁰ - 10⁻⁹² is rounded only once."""

SCIENTIFIC_FROM = 12
"""From 10¹² a number is written as 1.069×10¹³."""

PLAIN_ZEROS = 4
"""The last decimal for the first digit of a plain number: 0.0001, but 1×10⁻⁵."""


def visible_places(number: Decimal, decimals: int) -> int:
    """Return `decimals`, or enough places for two significant digits if `decimals` show too little.

    They show too little if the number becomes 0, or a power of ten with one digit: 1×10⁻⁵ for
    5.1×10⁻⁶.
    """
    if not number or number.adjusted() >= -decimals:
        return decimals
    too_little = decimals > PLAIN_ZEROS or not round_half_away(number, decimals)
    return 1 - number.adjusted() if too_little else decimals


def round_half_away(number: Decimal, places: int) -> Decimal:
    """Round to `places` decimals, ties away from zero, no −0; infinities stay."""
    if not number.is_finite():
        return number
    try:
        rounded = number.quantize(_unit(places), ROUND_HALF_UP, CONTEXT)
    except InvalidOperation:  # its last digit is far before that place
        return CONTEXT.plus(number)
    return rounded or rounded.copy_abs()


@cache
def _unit(places: int) -> Decimal:
    return Decimal(1).scaleb(-places)


def trimmed(number: Decimal) -> Decimal:
    """Return a number without trailing zeros: 1.080 → 1.08, 120 → 120, 1.50×10⁹ → 1.5×10⁹."""
    least = number.normalize(CONTEXT)
    power = exponent_of(least)
    whole = power > 0 and exponent_of(number) <= 0 and least.adjusted() < SCIENTIFIC_FROM
    return least.quantize(Decimal(1)) if whole else least


def as_decimal(number: Any) -> Decimal:
    """Return a Decimal unchanged, a float as its shortest decimal."""
    return number if isinstance(number, Decimal) else Decimal(repr(float(number)))


def as_typed(number: float) -> Decimal:
    """Return a number as a person types it: 100000.0 as 100000."""
    return trimmed(Decimal(repr(number)))


def guarded(number: Decimal, places: int, guard: int) -> int:
    """Return `places` plus at most `guard`, but no more digits than the number has."""
    return max(places, min(places + guard, -exponent_of(trimmed(number))))


def exponent_of(number: Decimal) -> int:
    """The exponent of the last digit of a finite number: -2 of 1.25."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent
