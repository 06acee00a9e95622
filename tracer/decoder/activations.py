"""What each activation function computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from tracer.scenario.model import ActivationFunction

if TYPE_CHECKING:
    from tracer.decoder.arithmetic import Arithmetic


def activated(
    function: ActivationFunction, a: NDArray[Any], arithmetic: Arithmetic
) -> NDArray[Any]:
    """The function of each entry; what NumPy does not do alike on all numbers, arithmetic does."""
    match function:
        case "relu":
            return np.asarray(np.maximum(a, arithmetic.array(0)))
        case _:
            assert_never(function)
