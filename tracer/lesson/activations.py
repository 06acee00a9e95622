"""What is told of each activation function: how it is written, what it does, what it has done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from tracer.decoder.activations import CUBED
from tracer.lesson.document import Sentence
from tracer.lesson.expression import (
    Call,
    Exponential,
    Expression,
    Negative,
    Number,
    Pi,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Symbol,
)
from tracer.lesson.told import listed
from tracer.scenario.layers import ActivationFunction

X = Symbol("x")


def written(function: ActivationFunction, of: Expression) -> Expression:
    """The function of a symbol, or of a number."""
    match function:
        case "relu":
            return Call("max", (Number.of(0), of))
        case "gelu":
            return Product((of, Call("Φ", (of,))))
        case "gelu_tanh":
            cubed = Product((Number(CUBED), Power(of, Number.of(3))))
            root = Root(Quotient(Number.of(8), Pi()))
            return _gated(of, Product((root, Sum((of, cubed)))))
        case "silu":
            return _gated(of, of)
        case _:
            assert_never(function)


def _gated(of: Expression, by: Expression) -> Expression:
    """of / (1 + e^-by)."""
    return Quotient(of, Sum((Number.of(1), Exponential(Negative(by)))))


def name(function: ActivationFunction) -> str:
    """What it is called."""
    match function:
        case "relu":
            return "ReLU"
        case "gelu" | "gelu_tanh":
            return "GELU"
        case "silu":
            return "SiLU"
        case _:
            assert_never(function)


def goal(function: ActivationFunction) -> Sentence:
    """What it does to each number."""
    match function:
        case "relu":
            return ("ReLU keeps what is positive and makes the rest 0.",)
        case "gelu":
            return (
                "GELU multiplies each number by Φ of it, the share of a normal distribution that "
                "lies below: large numbers stay, small ones fade, negative ones nearly vanish.",
            )
        case "gelu_tanh":
            return (
                "GELU multiplies each number by about the share of a normal distribution that "
                "lies below it: large numbers stay, small ones fade, negative ones nearly vanish. "
                "The share is not looked up but approximated by a fraction; it is the same as with "
                "the tanh that programs write, ½·(1 + tanh(…)).",
            )
        case "silu":
            return (
                "SiLU divides each number by 1 + ",
                *(Exponential(Negative(X)), ": large numbers stay, small ones are halved, "),
                "negative ones nearly vanish.",
            )
        case _:
            assert_never(function)


def claim(
    function: ActivationFunction, units: Sequence[str], hidden: Sequence[Any]
) -> Sentence | None:
    """What it has done to the hidden numbers of one token."""
    match function:
        case "relu":
            kept = [unit for unit, x in zip(units, hidden, strict=True) if x > 0]
            zeroed = [unit for unit, x in zip(units, hidden, strict=True) if x < 0]
            if len(units) < 2 or not (kept or zeroed):
                return None
            if not zeroed:
                return ("ReLU keeps them all: none is negative.",)
            if not kept:
                return ("ReLU keeps none: none is positive.",)
            return ("ReLU keeps ", *listed(kept), " and zeroes ", *listed(zeroed), ".")
        case "gelu" | "gelu_tanh" | "silu":
            return None
        case _:
            assert_never(function)
