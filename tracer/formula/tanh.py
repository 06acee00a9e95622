"""The hyperbolic tangent in Decimals."""

from __future__ import annotations

from decimal import Decimal, localcontext

MORE = 10
"""Digits more than those of the result."""


def tanh(x: Decimal) -> Decimal:
    """(1 - e^-2x) / (1 + e^-2x): -1 to 1."""
    with localcontext() as context:
        # Near 0, the first digits of 1 - e^-2x cancel.
        context.prec += MORE + max(0, -x.adjusted())
        power = (-2 * abs(x)).exp()
        result = ((1 - power) / (1 + power)).copy_sign(x)
    return +result
