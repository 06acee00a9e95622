"""Functions that jump: rounding to a whole number, or to a number of four bits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from itertools import pairwise
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.four_bits import E2M1
from tracer.formula.expression import Step
from tracer.formula.numbers import CONTEXT

STEPS: Final[tuple[str, ...]] = get_args(Step)
"""Functions that jump, so that two arguments with the same digits can have different results."""

_BETWEEN = tuple((a + b) / 2 for a, b in pairwise(E2M1))
"""The numbers halfway between neighbors; each goes to the neighbor with an even mantissa."""

_LONG = Context(prec=400)


SETTLED: Final = Context(prec=40, rounding=ROUND_HALF_EVEN, traps=[])
"""Fewer digits than computed numbers have: 0.6 / (2 / 15) is 4.5, which is a tie."""


def round_half_even(x: Decimal) -> Decimal:
    """Return the nearest whole number, of two equally near ones the even one; no −0."""
    return x.quantize(Decimal(1), ROUND_HALF_EVEN, _LONG) + 0


def floor(x: Decimal) -> Decimal:
    """Return the largest whole number that is not larger."""
    return x.quantize(Decimal(1), ROUND_FLOOR, _LONG) + 0


def e2m1(x: Decimal) -> Decimal:
    """Return the nearest number of four bits; what is too large becomes ±6."""
    size = abs(x)
    # The positive numbers are counted from 0, and those with an even count have an even mantissa.
    near = sum(
        size > middle or (size == middle and i % 2 == 1) for i, middle in enumerate(_BETWEEN)
    )
    return -E2M1[near] if x < 0 and near else E2M1[near]


def log2(x: Decimal) -> Decimal:
    """Return the logarithm to base 2; exact for powers of two, and never on their other side."""
    over, under = x.as_integer_ratio()
    power = over.bit_length() - under.bit_length()
    power -= Decimal(2) ** power > x
    with localcontext(CONTEXT):
        share = x / Decimal(2) ** power
        rest = share.ln() / Decimal(2).ln() if share > 1 else Decimal(0)
        return power + min(rest, 1 - Decimal("1e-50"))


OF_DECIMALS: Final[dict[str, Callable[[Decimal], Decimal]]] = {
    "round": round_half_even,
    "floor": floor,
    "E2M1": e2m1,
    "log2": log2,
    "abs": abs,
}


def _e2m1_of_floats(x: NDArray[Any]) -> NDArray[Any]:
    middles = np.array(_BETWEEN, float)
    size = abs(x)[..., np.newaxis]
    is_odd = np.arange(len(middles)) % 2 == 1
    near = ((size > middles) | ((size == middles) & is_odd)).sum(axis=-1)
    return np.asarray(np.copysign(np.array(E2M1, float)[near], x) + 0.0)


OF_FLOATS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "round": lambda x: np.rint(x) + 0.0,
    "floor": np.floor,
    "E2M1": _e2m1_of_floats,
    "log2": np.log2,
    "abs": np.abs,
}
