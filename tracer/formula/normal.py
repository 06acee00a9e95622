"""Φ, the distribution function of the standard normal, in Decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

PI: Final = Decimal(
    "3.141592653589793238462643383279502884197169399375105820974944592307816406286"
    "208998628034825342117067982148086513282306647093844609550582231725359408128"
)
"""Enough digits for the sum below, in which most digits cancel."""

FAR = 16
"""From this value on, the asymptotic series gives all digits of Φ."""


def normal(x: Decimal) -> Decimal:
    """Φ(x): the probability that a standard normal number is below x."""
    with localcontext(rounding=ROUND_HALF_EVEN) as context:
        context.prec += 10
        if x > FAR:
            result = 1 - _tail(x)
        elif x < -FAR:
            result = _tail(-x)
        else:
            # The sum is nearly ½ where the share is small: its first digits cancel.
            context.prec += int(x * x / 4) + 1
            result = Decimal("0.5") + _middle(x)
    return +result


def _density(x: Decimal) -> Decimal:
    return (-x * x / 2).exp() / (2 * PI).sqrt()


def _middle(x: Decimal) -> Decimal:
    """Φ(x) - ½ = φ(x) (x + x³/3 + x⁵/(3·5) + …)."""
    term = total = x
    n = 1
    while total + term != total or n == 1:
        n += 2
        term *= x * x / n
        total += term
    return total * _density(x)


def _tail(x: Decimal) -> Decimal:
    """1 - Φ(x) = φ(x)/x (1 - 1/x² + 3/x⁴ - 15/x⁶ + …), until the terms grow."""
    term = total = Decimal(1)
    n = 1
    while total + term != total and n < x * x:
        term *= -n / (x * x)
        total += term
        n += 2
    return total * _density(x) / x
