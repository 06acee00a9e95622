"""What is told of each activation function: how it is written, what it does, what it has done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from tracer.lesson.document import Sentence
from tracer.lesson.expression import Call, Expression, Number
from tracer.lesson.told import listed
from tracer.scenario.model import ActivationFunction

MOST_NAMED = 6
"""Of more hidden units nobody reads the names."""


def written(function: ActivationFunction, of: Expression) -> Expression:
    """The function of a symbol, or of a number."""
    match function:
        case "relu":
            return Call("max", (Number.of(0), of))
        case _:
            assert_never(function)


def name(function: ActivationFunction) -> str:
    """What it is called."""
    match function:
        case "relu":
            return "ReLU"
        case _:
            assert_never(function)


def goal(function: ActivationFunction) -> Sentence:
    """What it does to each number."""
    match function:
        case "relu":
            return ("ReLU keeps what is positive and makes the rest 0.",)
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
        case _:
            assert_never(function)
