"""What each activation function computes."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from tracer.scenario.model import ActivationFunction


def activated(function: ActivationFunction, a: NDArray[Any]) -> NDArray[Any]:
    """The function of each entry of an array of Decimals or floats."""
    match function:
        case "relu":
            zero = a.flat[0] - a.flat[0]  # of the kind that the others are
            return np.asarray(np.maximum(a, zero))
        case _:
            assert_never(function)
