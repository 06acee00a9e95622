"""How well the digits of printed numbers agree with the numbers of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracer.check.draft.reading import Row
from tracer.check.printed import Printed
from tracer.decoder.comparison import Floats

ENOUGH_DIGITS = 4.0
"""A row or matrix with fewer digits has to agree in all its numbers."""
MANY_DIGITS = 14.0
"""With more digits, no row is near by chance."""
ROUGH = 0.02
"""A number that is so near, relative to its size, may be the same one computed otherwise."""
LONG, MOST_OFF = 5, 0.2
"""A row of so many numbers may be near as a whole, off by this share of its length as a vector."""
COUNTED = 1e-9
"""Whole numbers differ by more."""
MOST_DIGITS = 5
"""Further digits of a number say no more."""


def likeness(row: Row, table: Floats) -> Floats:
    """Return how well a printed row agrees with each row of a table: the digits that agree."""
    score = np.zeros(len(table))
    for column, number in enumerate(row):
        there = table[:, column]
        if not number.value.is_finite():
            score += np.where(there == float(number.value), digits_of(number), -1.0)
            continue
        unit = float(number.unit)
        off = np.abs(there - float(number.value))
        exact = off <= 0.5 * unit * (1 + 1e-9) + 1e-12
        digits = digits_of(number)
        agrees = np.full(len(table), -1.0)
        if digits > 2:
            agrees[(off <= ROUGH * np.abs(there)) & np.isfinite(there)] = 0.35 * digits
            agrees[off <= max(1.5 * unit, 0.5 * _rounded_to(number))] = 0.7 * digits
        # A whole number of one or two digits is hardly ever a rounded one; it counts something.
        counts = digits <= 2 and number.places <= 0
        agrees[off < COUNTED if counts else exact] = digits
        score += agrees
    return score


def closeness(row: Row, table: Floats) -> Floats:
    """Return how near a long printed row is to each row of a table, as one vector.

    All numbers of a text that is out of date can be somewhat off.
    """
    numbers = np.array([float(number.value) for number in row])
    size = float(np.linalg.norm(numbers))
    if len(row) < LONG or not np.isfinite(size) or not size:
        return np.zeros(len(table))
    with np.errstate(invalid="ignore"):
        off = np.linalg.norm(table - numbers, axis=1) / size
    share = np.nan_to_num(1.0 - off / MOST_OFF, nan=0.0, neginf=0.0)
    return np.asarray(0.35 * most_digits((row,)) * np.clip(share, 0.0, 1.0))


def most_digits(rows: Sequence[Row]) -> float:
    """Return what rows say whose numbers all agree."""
    return sum(digits_of(number) for row in rows for number in row)


def says_enough(alike: float, rows: Sequence[Row]) -> bool:
    """Return whether numbers of few digits all agree; of others, some may be wrong.

    Of short rows, those that agree are not only near.
    """
    most = most_digits(rows)
    least = 0.4 * most if most <= MANY_DIGITS else 0.0
    return alike > (least if most > ENOUGH_DIGITS else most - 0.1)


def digits_of(number: Printed) -> float:
    """Return what a printed number says: its significant digits, little for one digit."""
    if not number.value.is_finite():
        return 0.3
    if not number.value:
        return max(0.2, 0.4 * min(number.places, MOST_DIGITS))
    shown = number.value if number.places > 0 else number.value.normalize()  # 1.00, but not 100
    digits = len(shown.as_tuple().digits)
    if digits > MOST_DIGITS:
        return float(MOST_DIGITS)
    return 0.5 if digits == 1 else float(digits)


def _rounded_to(number: Printed) -> float:
    """Return what a whole number may be rounded to: 1000 for 109,000."""
    if number.places > 0 or not number.value:
        return 0.0
    return float(10 ** max(0, int(number.value.normalize().as_tuple().exponent)))
