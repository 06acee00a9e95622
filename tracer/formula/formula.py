"""An elementwise operation as one formula, with its numbers, symbols, worked line and slope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial, reduce
from operator import mul
from typing import TypeAlias

import numpy as np

from tracer.formula import expression as ex
from tracer.formula.arithmetic import Arithmetic, Array, RoundPart
from tracer.formula.evaluation import value
from tracer.formula.normal import PI
from tracer.formula.slope import slope
from tracer.frozen import frozen
from tracer.node import Node, found, nodes_in, rewritten_within

NumberOf: TypeAlias = Callable[[ex.Expression], ex.Number]
"""Evaluates a part of a line as the number that takes its place."""


@dataclass(eq=False)
class Formula:
    """An expression of operands, read in four ways."""

    expression: ex.Expression

    def compute(self, x: Sequence[Array], arithmetic: Arithmetic, part: RoundPart) -> Array:
        """Return the result for the operands x; `part` rounds each part that a line shows."""
        computation = _Computation(x, arithmetic, part)
        if isinstance(self.expression, ex.Exponential):  # a step uses it: it has to be a number
            return arithmetic.exp(np.asarray(computation.of(self.expression.exponent)))
        return computation.of(self.expression)

    def symbols(self, of: Sequence[ex.Expression]) -> ex.Expression:
        """Return the formula with a symbol for each operand."""
        return _put_in(self.expression, lambda x: of[x.position], lambda _, inner: inner)

    def sides(
        self, number: Callable[[ex.Operand], ex.Expression], part: NumberOf, total: NumberOf
    ) -> list[ex.Expression]:
        """Return the sides of a worked line, all but the result.

        The first has the operands put in; each next one evaluates one more level of parts.
        """

        def known(level: int, e: ex.Part | ex.Subtotal, inner: ex.Expression) -> ex.Expression:
            if _depth(e) > level:
                return inner
            if not value(inner)[0].is_finite():
                raise OverflowError
            if isinstance(e, ex.Part):
                return part(inner)
            is_constant = not any(found(e, ex.Operand))
            return ex.Number(value(inner)[0]) if is_constant else total(inner)

        found_sides: list[ex.Expression] = []
        with suppress(OverflowError):  # a number beyond all bounds is not printed
            for level in range(_depth(self.expression) + 1):
                found_sides.append(_put_in(self.expression, number, partial(known, level)))
        return found_sides

    @cached_property
    def slope(self) -> Formula:
        """Return the formula of the slope, for the first operand."""
        return Formula(slope(self.expression, 0) or ex.Number.of(0))


@frozen
class _Computation:
    """Computes expressions of the operands x."""

    x: Sequence[Array]
    arithmetic: Arithmetic
    part: RoundPart

    def of(self, e: ex.Expression) -> Array:
        match e:
            case ex.Operand(position, along):
                operand = self.x[position]
                return operand[:, np.newaxis] if along == "row" else operand
            case ex.Part(of):
                return self.part(np.asarray(self.of(of)))
            case ex.Subtotal(of):
                return self.of(of)
            case ex.Number():
                return self.arithmetic.scalar(e.value)
            case ex.Pi():
                return self.arithmetic.scalar(PI)
            case ex.Sum(terms):
                return reduce(self.arithmetic.add, map(self.of, terms))
            case ex.Difference(left, right):
                return self.arithmetic.add(self.of(left), -self.of(right))
            case ex.Product(factors):
                return reduce(mul, map(self.of, factors))
            case ex.Quotient(over, under) if any(found(under, ex.Exponential)):
                return self.saturated(over, under)
            case ex.Quotient(over, under):
                return self.of(over) / self.of(under)
            case ex.Power(base, ex.Number(exponent)):
                return reduce(mul, [self.of(base)] * int(exponent))
            case ex.Root(of):
                return np.sqrt(self.of(of))
            case ex.Exponential(exponent):
                return self.arithmetic.unbounded_exp(np.asarray(self.of(exponent)))
            case ex.Negative(of):
                return -self.of(of)
            case ex.Call(name, arguments):
                return self.called(name, [np.asarray(self.of(each)) for each in arguments])
            case _:
                raise TypeError(f"{e} is not part of an elementwise formula")

    def saturated(self, over: ex.Expression, under: ex.Expression) -> Array:
        """Return a quotient, 0 where the divisor is ∞."""
        with self.arithmetic.saturating():
            divisor = np.asarray(self.of(under))
            result = np.asarray(self.of(over) / divisor)
        beyond = divisor == np.inf
        zero = self.arithmetic.scalar(Decimal(0))
        return np.where(beyond, zero, result) if beyond.any() else result

    def called(self, name: str, of: list[Array]) -> Array:
        match name:
            case "max":
                return np.maximum(*of)
            case "ReLU′":
                one, zero = (self.arithmetic.scalar(Decimal(n)) for n in (1, 0))
                return np.where(of[0] > 0, one, zero)
            case "Φ":
                return self.arithmetic.normal(of[0])
            case "ln":
                return self.arithmetic.log(of[0])
            case "sin":
                return self.arithmetic.sin(of[0])
            case "cos":
                return self.arithmetic.cos(of[0])
            case _:
                raise TypeError(f"{name} is not a function of numbers")


def _put_in(
    e: ex.Expression,
    operand: Callable[[ex.Operand], ex.Expression],
    shown: Callable[[ex.Part | ex.Subtotal, ex.Expression], ex.Expression],
) -> ex.Expression:
    """Return the expression with replaced operands and shown parts."""
    match e:
        case ex.Operand():
            return operand(e)
        case ex.Part(of) | ex.Subtotal(of):
            return shown(e, _put_in(of, operand, shown))
        case ex.Negative(of):
            return _negative(_put_in(of, operand, shown))
        case _:
            return rewritten_within(e, Node, lambda part: _put_in(part, operand, shown))


def _depth(e: Node) -> int:
    """How deep parts that a line shows are nested."""
    is_shown = isinstance(e, ex.Part | ex.Subtotal)
    return is_shown + max(map(_depth, nodes_in(e)), default=0)


def _negative(of: ex.Expression) -> ex.Expression:
    return of if isinstance(of, ex.Number) and not of.value else ex.Negative(of)
