"""The message for an operation that has no result."""

from __future__ import annotations

import decimal
from collections.abc import Container, Sequence

from tracer.decoder.roles import Place
from tracer.decoder.value import Value
from tracer.errors import Problem

ZERO = {
    "std": "σ is 0, as it is of equal numbers; set epsilon",
    "rms": "RMS is 0, as it is of zeros; set epsilon",
}
"""The divisors of norms, by the last word of their roles."""

STEEP = "is 0 but for ε, and the root of 0 has no slope; leave ε inside the root"
NO_SQUARES = "√v̂ is 0, as it is where the gradient is 0; set the optimizer's epsilon"
NO_SLOPE = {"std": f"σ {STEEP}", "rms": f"RMS {STEEP}"}
"""Roots without a slope, where ε is added outside the root."""


def no_result(
    error: ArithmeticError,
    address: str,
    place: Place,
    inputs: Sequence[Value],
    pinned: Container[str],
) -> Problem:
    """The problem to report for a value that cannot be computed; `pinned` are the given ones."""
    given = [value.address for value in inputs if value.address in pinned]
    zeros = ZERO if place.phase == "forward" else NO_SLOPE
    divisor = inputs[1].role if len(inputs) > 1 and not given else None
    nothing = zeros.get(divisor.name.rpartition(".")[2]) if divisor else None
    if divisor and divisor.derivation == "unbiased_second":
        nothing = NO_SQUARES
    return Problem(_reason(error, nothing, given), address=address, yaml_path=place.yaml_path)


def _reason(error: ArithmeticError, nothing: str | None, given: Sequence[str]) -> str:
    match error:
        case decimal.Underflow():
            what = error.args[0] if error.args else "the number"
            return f"{what} is too small to compute with: it would be 0"
        case _ if isinstance(error, decimal.Overflow) or "overflow" in str(error):
            return "the number is too large to compute with"
        case _ if nothing:
            return f"a division by zero: {nothing}"
        case _:
            because = f" with {' and '.join(given)} as given" if given else ""
            wrong = "a division by zero, or the root or logarithm of a negative number"
            return f"no result{because}: {wrong}"
