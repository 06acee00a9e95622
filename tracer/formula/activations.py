"""The activation functions, one row each. Everything about a function follows from its formula."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from tracer.formula import expression as ex
from tracer.formula.formula import Formula

Words: TypeAlias = tuple[str | ex.Expression, ...]

X = ex.Operand(0)
X_IN_WORDS = ex.Symbol("x")

CUBED = Decimal("0.044715")
"""The weight of x³ in GELU's approximation (Hendrycks and Gimpel 2016)."""


@dataclass(frozen=True)
class Activation:
    """An activation function: its formula for one number, its name, and its effect in words."""

    formula: Formula
    title: str
    goal: Words


def _one_more_than_power(of: ex.Expression) -> ex.Expression:
    """1 + e^-of."""
    power = ex.Part(ex.Exponential(ex.Negative(of)))
    return ex.Subtotal(ex.Sum((ex.Number.of(1), power)))


def _gated(by: ex.Expression) -> ex.Expression:
    """x / (1 + e^-by)."""
    return ex.Quotient(X, _one_more_than_power(by))


_CUBIC = ex.Sum((X, ex.Product((ex.Number(CUBED), ex.Power(X, ex.Number.of(3))))))
"""√(8/π) times this is twice the argument of tanh in GELU's approximation."""

ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(
        Formula(ex.Call("max", (ex.Number.of(0), X))),
        "ReLU",
        ("ReLU keeps positive numbers and sets all others to 0.",),
    ),
    "gelu": Activation(
        Formula(ex.Product((X, ex.Part(ex.Call("Φ", (X,)))))),
        "GELU",
        (
            "GELU multiplies each number by Φ of it, the share of a standard normal distribution "
            "below it. Large positive numbers hardly change, numbers near 0 are about halved, and "
            "large negative numbers become almost 0.",
        ),
    ),
    "gelu_tanh": Activation(
        Formula(
            _gated(ex.Part(ex.Product((ex.Root(ex.Quotient(ex.Number.of(8), ex.Pi())), _CUBIC))))
        ),
        "GELU",
        (
            "GELU multiplies each number by the share of a standard normal distribution below it. "
            "Large positive numbers hardly change, numbers near 0 are about halved, and large "
            "negative numbers become almost 0. Here the share is approximated by a fraction, which "
            "equals the ½·(1 + tanh(…)) that programs use.",
        ),
    ),
    "silu": Activation(
        Formula(_gated(X)),
        "SiLU",
        (
            "SiLU divides each number ",
            X_IN_WORDS,
            " by 1 + ",
            ex.Exponential(ex.Negative(X_IN_WORDS)),
            ". Large positive numbers hardly change, numbers near 0 are about halved, and large "
            "negative numbers become almost 0.",
        ),
    ),
    "sigmoid": Activation(
        Formula(ex.Quotient(ex.Number.of(1), _one_more_than_power(X))),
        "Sigmoid",
        ("The sigmoid maps each number to a number between 0 and 1, and 0 to 0.5.",),
    ),
    "tanh": Activation(
        Formula(ex.Call("tanh", (X,))),
        "tanh",
        ("tanh maps each number to a number between -1 and 1, and 0 to 0.",),
    ),
    "relu_squared": Activation(
        Formula(ex.Power(ex.Part(ex.Call("max", (ex.Number.of(0), X))), ex.Number.of(2))),
        "ReLU²",
        ("ReLU² squares positive numbers and sets all others to 0.",),
    ),
}
"""By name in a scenario. A new function needs only a row here."""
