"""Intervals of decimal numbers: the values that a printed number may stand for.

They are computed with far more digits than anyone prints. The rounding error at their ends is
smaller than any difference that a judgment depends on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow

DIGITS = 40

CONTEXT = Context(
    prec=DIGITS, Emax=100_000, Emin=-100_000, traps=[InvalidOperation, DivisionByZero, Overflow]
)
"""The context for all computations here; a number beyond its range is not computed."""

LARGEST_EXPONENT, LARGEST_ANGLE = 10_000, 10**8

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")


class UndefinedError(ArithmeticError):
    """There is no value, or none that can be computed here: 1/0, ln(-1), e^1000000."""


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`."""

    low: Decimal
    high: Decimal

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        if self.low == self.high and other.low == other.high:
            product = self.low * other.low
            return Interval(product, product)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(corners), max(corners))

    def __truediv__(self, other: Interval) -> Interval:
        if other.low <= 0 <= other.high:
            raise UndefinedError
        if other.low == other.high:
            return Interval(*sorted((self.low / other.low, self.high / other.low)))
        return self * Interval(1 / other.high, 1 / other.low)

    @property
    def middle(self) -> Decimal:
        """The number between its ends."""
        return (self.low + self.high) / 2

    def meets(self, other: Interval) -> bool:
        """Return whether the intervals have a number in common."""
        return self.low <= other.high and other.low <= self.high


def point(number: Decimal) -> Interval:
    """Return the interval that holds only one number."""
    return Interval(number, number)


def rising(of: Callable[[Decimal], Decimal]) -> Callable[[Interval], Interval]:
    """Apply a nondecreasing function to intervals."""

    def rises(x: Interval) -> Interval:
        low = of(x.low)
        return Interval(low, low if x.low == x.high else of(x.high))

    return rises


def to_the_power(base: Interval, exponent: Interval) -> Interval:
    """Return the base raised to the exponent."""
    if max(abs(exponent.low), abs(exponent.high)) > LARGEST_EXPONENT:
        raise UndefinedError
    if exponent.low == exponent.high and exponent.low == exponent.low.to_integral_value():
        return _to_a_whole_power(base, int(exponent.low))
    if base.low <= 0:
        raise UndefinedError
    corners = [a**b for a in (base.low, base.high) for b in (exponent.low, exponent.high)]
    return Interval(min(corners), max(corners))


def _to_a_whole_power(base: Interval, exponent: int) -> Interval:
    if exponent == 0:
        return point(Decimal(1))
    if exponent < 0 and base.low <= 0 <= base.high:
        raise UndefinedError
    ends = sorted((base.low**exponent, base.high**exponent))
    if exponent > 0 and exponent % 2 == 0 and base.low < 0 < base.high:
        return Interval(Decimal(0), ends[1])
    return Interval(*ends)


def exp(x: Decimal) -> Decimal:
    """e^x."""
    if abs(x) > LARGEST_EXPONENT:
        raise UndefinedError
    return x.exp()


def _of_positive(of: Callable[[Decimal], Decimal]) -> Callable[[Decimal], Decimal]:
    def where_defined(x: Decimal) -> Decimal:
        if x <= 0:
            raise UndefinedError
        return of(x)

    return where_defined


ln, log10 = _of_positive(Decimal.ln), _of_positive(Decimal.log10)


def gelu(x: Decimal) -> Decimal:
    """GELU(x) = x Φ(x), with the standard normal distribution function Φ."""
    return x * Decimal((1 + math.erf(float(x) / math.sqrt(2))) / 2)


def gelu_by_tanh(x: Decimal) -> Decimal:
    """GELU(x), approximated with tanh as GPT-2 computes it."""
    inner = (2 / PI).sqrt() * (x + Decimal("0.044715") * x**3)
    return x * (1 - 1 / (exp(2 * inner) + 1))


def sine(x: Interval) -> Interval:
    """The sine, which changes by no more than its argument."""
    if max(abs(x.low), abs(x.high)) > LARGEST_ANGLE:
        raise UndefinedError
    middle, half = Decimal(math.sin(x.middle)), (x.high - x.low) / 2
    return Interval(max(middle - half, Decimal(-1)), min(middle + half, Decimal(1)))


def cosine(x: Interval) -> Interval:
    """The cosine."""
    return sine(x + point(PI / 2))


def absolute(x: Interval) -> Interval:
    """The absolute value."""
    if x.low >= 0:
        return x
    return -x if x.high <= 0 else Interval(Decimal(0), max(-x.low, x.high))
