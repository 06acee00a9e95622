"""What is told of each activation function: how it is written, what it does, what it has done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, assert_never

from tracer.decoder.activations import CUBED
from tracer.lesson.document import Sentence
from tracer.lesson.evaluation import value
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

NumberOf: TypeAlias = Callable[[Expression], Number]
"""The number that takes the place of a part of a line."""

MOST_NAMED = 6
"""Of more hidden units nobody reads the names."""


def written(function: ActivationFunction, of: Expression) -> Expression:
    """The function of a symbol, or of a number."""
    match function:
        case "relu":
            return Call("max", (Number.of(0), of))
        case "gelu":
            return Product((of, Call("Φ", (of,))))
        case "gelu_tanh":
            return _gated(of, _steepened(of))
        case "silu":
            return _gated(of, of)
        case _:
            assert_never(function)


def worked(
    function: ActivationFunction, of: Number, part: NumberOf, total: NumberOf
) -> list[Expression]:
    """The function of a number, then with each part of it as the number that it comes to.

    `part` rounds what is worked out on the way, `total` what a sum comes to.
    """
    whole = written(function, of)
    match function:
        case "relu":
            return [whole]
        case "gelu":
            return [whole, Product((of, part(Call("Φ", (of,)))))]
        case "gelu_tanh":
            by = part(_steepened(of))
            return [whole, *_worked_gate(of, by, part, total)]
        case "silu":
            return _worked_gate(of, of, part, total)
        case _:
            assert_never(function)


def slope(function: ActivationFunction, of: Expression) -> Expression:
    """How steep the function is there."""
    match function:
        case "relu":
            return Call("ReLU′", (of,))
        case "gelu":
            return Sum((Call("Φ", (of,)), _rising(of)))
        case "gelu_tanh":
            return _gate_slope((of, _steepness(of)), Exponential(Negative(_steepened(of))))
        case "silu":
            return _gate_slope((of,), Exponential(_minus(of)))
        case _:
            assert_never(function)


def worked_slope(function: ActivationFunction, of: Number, part: NumberOf) -> list[Expression]:
    """The slope at a number, then with each part of it as the number that it comes to."""
    whole = slope(function, of)
    match function:
        case "relu":
            return [whole]
        case "gelu":
            return [whole, Sum((part(Call("Φ", (of,))), part(_rising(of))))]
        case "gelu_tanh":
            factors = (of, part(_steepness(of)))
            by = part(_steepened(of))
            known = _gate_slope(factors, Exponential(_minus(by)))
            return [whole, known, *_worked_gate_slope(factors, by, part)]
        case "silu":
            return [whole, *_worked_gate_slope((of,), of, part)]
        case _:
            assert_never(function)


def _rising(of: Expression) -> Expression:
    """x e^(-x²/2) / √(2π): x times the slope of Φ."""
    power = Exponential(Negative(Quotient(Power(of, Number.of(2)), Number.of(2))))
    return Quotient(Product((of, power)), Root(Product((Number.of(2), Pi()))))


def _gate_slope(factors: tuple[Expression, ...], power: Expression) -> Sum:
    """1 / (1 + e^-u) + x u′ e^-u / (1 + e^-u)²."""
    under = Sum((Number.of(1), power))
    first = Quotient(Number.of(1), under)
    return Sum((first, Quotient(Product((*factors, power)), Power(under, Number.of(2)))))


def _worked_gate_slope(
    factors: tuple[Expression, ...], by: Number, part: NumberOf
) -> list[Expression]:
    known = _gate_slope(factors, part(Exponential(_minus(by))))
    return [known, Sum(tuple(map(part, known.terms)))]


def _minus(of: Expression) -> Expression:
    """-x; nothing, if it is 0."""
    return of if isinstance(of, Number) and not of.value else Negative(of)


def _steepness(of: Expression) -> Expression:
    """√(8/π) (1 + 0.134145 x²), the slope of what GELU's tanh is taken of, doubled."""
    squared = Product((Number(3 * CUBED), Power(of, Number.of(2))))
    return Product((Root(Quotient(Number.of(8), Pi())), Sum((Number.of(1), squared))))


def _steepened(of: Expression) -> Expression:
    """√(8/π) (x + 0.044715 x³), which is twice what GELU's tanh is taken of."""
    cubed = Product((Number(CUBED), Power(of, Number.of(3))))
    return Product((Root(Quotient(Number.of(8), Pi())), Sum((of, cubed))))


def _gated(of: Expression, by: Expression) -> Quotient:
    """of / (1 + e^-by)."""
    return Quotient(of, Sum((Number.of(1), Exponential(_minus(by)))))


def _worked_gate(of: Number, by: Number, part: NumberOf, total: NumberOf) -> list[Expression]:
    whole = _gated(of, by)
    assert isinstance(whole.under, Sum)
    one, power = whole.under.terms
    if not value(power)[0].is_finite():
        return [whole]
    under = Sum((one, part(power)))
    return [whole, Quotient(of, under), Quotient(of, total(under))]


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
                "lies below it: large numbers stay, small ones are about halved, and of those far "
                "below 0 hardly anything is left.",
            )
        case "gelu_tanh":
            return (
                "GELU multiplies each number by the share of a normal distribution that lies "
                "below it: large numbers stay, small ones are about halved, and of those far below "
                "0 hardly anything is left. Here the share is not looked up but approximated by a "
                "fraction, the same number as the ½·(1 + tanh(…)) that programs write.",
            )
        case "silu":
            return (
                *("SiLU divides each number ", X, " by 1 + ", Exponential(Negative(X))),
                ": large numbers stay, small ones are about halved, and of those far below 0 "
                "hardly anything is left.",
            )
        case _:
            assert_never(function)


def claim(
    function: ActivationFunction, units: Sequence[str], hidden: Sequence[Any], largest: Sentence
) -> Sentence | None:
    """What it has done to the hidden numbers of one token; of many, how many, and the largest."""
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
            if len(units) > MOST_NAMED:
                told = (
                    f"ReLU keeps {len(kept)} of the {len(units)} numbers and zeroes {len(zeroed)}"
                )
                return (told, *(("; the largest is ", *largest) if largest else ()), ".")
            return ("ReLU keeps ", *listed(kept), " and zeroes ", *listed(zeroed), ".")
        case "gelu" | "gelu_tanh" | "silu":
            return None
        case _:
            assert_never(function)
