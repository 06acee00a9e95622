"""A formula as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce
from operator import mul
from typing import TypeAlias

import numpy as np

from tracer.formula import expression as ex
from tracer.formula.arithmetic import Arithmetic, Array, RoundPart, no_rounding
from tracer.formula.normal import PI
from tracer.node import found

Computation: TypeAlias = Callable[[Sequence[Array], Arithmetic, RoundPart], Array]
"""Computes the operands x in an arithmetic, with each part that a line shows rounded."""


def computation(e: ex.Expression) -> Computation:
    """Return what computes an expression, of operands of any shapes that broadcast."""
    match e:
        case ex.Operand(position, "row"):
            return lambda x, kind, part: x[position][:, np.newaxis]
        case ex.Operand(position):
            return lambda x, kind, part: x[position]
        case ex.Part(of):
            inner = computation(of)
            return lambda x, kind, part: part(np.asarray(inner(x, kind, part)))
        case ex.Subtotal(of):
            return computation(of)
        case ex.Number():
            number = e.value
            return lambda x, kind, part: kind.scalar(number)
        case ex.Pi():
            return lambda x, kind, part: kind.scalar(PI)
        case ex.Sum(terms):
            each = [computation(term) for term in terms]
            return lambda x, kind, part: reduce(kind.add, [term(x, kind, part) for term in each])
        case ex.Difference(left, right):
            a, b = computation(left), computation(right)
            return lambda x, kind, part: kind.add(a(x, kind, part), -b(x, kind, part))
        case ex.Product((ex.Part(ex.Quotient(over, under)), factor)):
            return _quotient_times(computation(over), computation(under), computation(factor))
        case ex.Product(factors):
            each = [computation(factor) for factor in factors]
            return lambda x, kind, part: reduce(mul, [factor(x, kind, part) for factor in each])
        case ex.Quotient(over, under):
            a, b = computation(over), computation(under)
            if any(found(under, ex.Exponential)):
                return _saturated(a, b)
            return lambda x, kind, part: a(x, kind, part) / b(x, kind, part)
        case ex.Power(of, ex.Number(exponent)):
            a, times = computation(of), int(exponent)
            return lambda x, kind, part: reduce(mul, [a(x, kind, part)] * times)
        case ex.Power(of, ex.Quotient(ex.Number(over), ex.Number(under))):
            a, p, q = computation(of), int(over), int(under)
            return lambda x, kind, part: kind.powers(a(x, kind, part), [p], q)[0]
        case ex.Power(ex.Number(base), of):
            a = computation(of)
            return lambda x, kind, part: kind.power_of(base, a(x, kind, part))
        case ex.Root(of):
            a = computation(of)
            return lambda x, kind, part: np.sqrt(a(x, kind, part))
        case ex.Exponential(of):
            a = computation(of)
            return lambda x, kind, part: kind.unbounded_exp(np.asarray(a(x, kind, part)))
        case ex.Negative(of):
            a = computation(of)
            return lambda x, kind, part: -a(x, kind, part)
        case ex.Call(name, arguments):
            each = [computation(argument) for argument in arguments]
            return lambda x, kind, part: _called(
                name, [np.asarray(argument(x, kind, part)) for argument in each], kind
            )
        case _:
            raise TypeError(f"{e} is not part of an elementwise formula")


def _quotient_times(over: Computation, under: Computation, by: Computation) -> Computation:
    """Return what computes (a / b) · c; of Decimals a · c / b, if no line rounds the quotient.

    So (-2.8 / 2.4) · 0.9 is -1.05, which is rounded as a tie.
    """

    def product(x: Sequence[Array], kind: Arithmetic, part: RoundPart) -> Array:
        a, b, c = (each(x, kind, part) for each in (over, under, by))
        if kind.multiplies_first and part is no_rounding:
            return np.asarray(a * c / b)
        return part(np.asarray(a / b)) * c

    return product


def _saturated(over: Computation, under: Computation) -> Computation:
    """Return what computes a quotient, 0 where the divisor is ∞."""

    def quotient(x: Sequence[Array], kind: Arithmetic, part: RoundPart) -> Array:
        with kind.saturating():
            divisor = np.asarray(under(x, kind, part))
            result = np.asarray(over(x, kind, part) / divisor)
        beyond = divisor == np.inf
        return np.where(beyond, kind.scalar(Decimal(0)), result) if beyond.any() else result

    return quotient


def _called(name: str, of: list[Array], kind: Arithmetic) -> Array:
    match name:
        case "max":
            return np.maximum(*of)
        case "min":
            return np.minimum(*of)
        case "ReLU′":
            one, zero = (kind.scalar(Decimal(n)) for n in (1, 0))
            return np.where(of[0] > 0, one, zero)
        case "Φ":
            return kind.normal(of[0])
        case "ln":
            return kind.log(of[0])
        case "sin":
            return kind.sin(of[0])
        case "cos":
            return kind.cos(of[0])
        case "tanh":
            return kind.tanh(of[0])
        case "round" | "floor" | "E2M1":
            return kind.step(name, kind.settled(of[0]))
        case "log2" | "abs":
            return kind.step(name, of[0])
        case _:
            raise TypeError(f"{name} is not a function of numbers")
