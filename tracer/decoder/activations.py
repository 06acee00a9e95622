"""What each activation function of a scenario computes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.normal import PI
from tracer.scenario.layers import ActivationFunction

if TYPE_CHECKING:
    from tracer.decoder.arithmetic import Arithmetic, Part

CUBED = Decimal("0.044715")
"""The weight of x³ in GELU's approximation (Hendrycks and Gimpel 2016)."""


def activated(
    function: ActivationFunction, a: NDArray[Any], arithmetic: Arithmetic, part: Part
) -> NDArray[Any]:
    """The function of each entry; `part` rounds what its line shows on the way."""
    match function:
        case "relu":
            return np.asarray(np.maximum(a, arithmetic.array(0)))
        case "gelu":
            return np.asarray(a * part(arithmetic.normal(a)))
        case "gelu_tanh":
            root, cubed = arithmetic.array((8 / PI).sqrt()), arithmetic.array(CUBED)
            return arithmetic.gated(a, part(root * (a + cubed * a * a * a)), part)
        case "silu":
            return arithmetic.gated(a, a, part)
        case _:
            assert_never(function)


def slope(
    function: ActivationFunction, a: NDArray[Any], arithmetic: Arithmetic, part: Part
) -> NDArray[Any]:
    """The slope of the function at each entry; 0 at the corner of ReLU."""
    one = arithmetic.array(1)
    match function:
        case "relu":
            return np.where(a > 0, one, arithmetic.array(0))
        case "gelu":
            return np.asarray(part(arithmetic.normal(a)) + part(a * arithmetic.density(a)))
        case "gelu_tanh":
            root, cubed = arithmetic.array((8 / PI).sqrt()), arithmetic.array(CUBED)
            steepness = part(root * (one + 3 * cubed * a * a))
            by = part(root * (a + cubed * a * a * a))
            return arithmetic.gate_slope(a * steepness, by, part)
        case "silu":
            return arithmetic.gate_slope(a, a, part)
        case _:
            assert_never(function)
