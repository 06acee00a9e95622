"""An elementwise operation is one formula: its numbers, symbols, worked line and slope follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
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

Compute: TypeAlias = Callable[[Sequence[Array], Arithmetic, RoundPart], Array]
NumberOf: TypeAlias = Callable[[ex.Expression], ex.Number]
"""Evaluates a part of a line as the number that takes its place."""


@dataclass(eq=False)
class Formula:
    """An expression of operands, read in four ways.

    A derived slope may print badly: then the formula names its own, where `Operand(-1)` is its
    result.
    """

    expression: ex.Expression
    named_slope: ex.Expression | None = None

    @cached_property
    def compute(self) -> Compute:
        """Return what computes the result of arrays; it rounds each part that a line shows."""
        if not isinstance(self.expression, ex.Exponential):
            return _compute(self.expression)
        power = _compute(self.expression.exponent)  # the next step uses it: it has to be a number
        return lambda x, a, part: a.exp(np.asarray(power(x, a, part)))

    def symbols(self, of: Sequence[ex.Expression]) -> ex.Expression:
        """Return the formula with a symbol for each operand."""
        return _put_in(self.expression, lambda operand: of[operand.position])

    def sides(
        self, number: Callable[[ex.Operand], ex.Expression], part: NumberOf, total: NumberOf
    ) -> list[ex.Expression]:
        """Return the sides of a worked line, all but the result.

        The first has the operands put in. In each of the next, one more level of parts is replaced
        by the numbers that they come to, from the inside out.
        """
        found_sides = [_put_in(self.expression, number)]
        work = _Work(number, part, total)
        for level in range(1, _depth(self.expression) + 1):
            side = work.known(self.expression, level)
            if side is None:  # a number beyond all bounds is not printed
                break
            found_sides.append(side)
        return found_sides

    @cached_property
    def slope(self) -> Formula:
        """Return the formula of the slope, for the first operand."""
        derived = self.named_slope or slope(self.expression, 0)
        return Formula(derived if derived is not None else ex.Number.of(0))


def _compute(e: ex.Expression) -> Compute:
    """Return the function that computes an expression; put together once for each formula."""
    match e:
        case ex.Operand(position, "row"):
            return lambda x, a, part: x[position][:, np.newaxis]
        case ex.Operand(position):
            return lambda x, a, part: x[position]
        case ex.Part(of):
            inner = _compute(of)
            return lambda x, a, part: part(np.asarray(inner(x, a, part)))
        case ex.Subtotal(of):
            return _compute(of)
        case ex.Number():
            number = e.value
            return lambda x, a, part: a.scalar(number)
        case ex.Pi():
            return lambda x, a, part: a.scalar(PI)
        case ex.Sum(terms):
            every = [_compute(term) for term in terms]
            return lambda x, a, part: reduce(a.add, [term(x, a, part) for term in every])
        case ex.Difference(left, right):
            one, other = _compute(left), _compute(right)
            return lambda x, a, part: a.add(one(x, a, part), -other(x, a, part))
        case ex.Product(factors):
            every = [_compute(each) for each in factors]
            return lambda x, a, part: reduce(mul, [each(x, a, part) for each in every])
        case ex.Quotient(over, under):
            return _quotient(over, under)
        case ex.Power(base, ex.Number(exponent)):
            factor, times = _compute(base), int(exponent)
            return lambda x, a, part: reduce(mul, [factor(x, a, part)] * times)
        case ex.Root(of):
            inner = _compute(of)
            return lambda x, a, part: np.sqrt(inner(x, a, part))
        case ex.Exponential(of):
            inner = _compute(of)
            return lambda x, a, part: a.unbounded_exp(np.asarray(inner(x, a, part)))
        case ex.Negative(of):
            inner = _compute(of)
            return lambda x, a, part: -inner(x, a, part)
        case ex.Call(name, arguments):
            return _call(name, [_compute(argument) for argument in arguments])
        case _:
            raise TypeError(f"{e} is not part of an elementwise formula")


def _quotient(over: ex.Expression, under: ex.Expression) -> Compute:
    top, bottom = _compute(over), _compute(under)
    if not any(found(under, ex.Exponential)):
        return lambda x, a, part: top(x, a, part) / bottom(x, a, part)

    def saturated(x: Sequence[Array], a: Arithmetic, part: RoundPart) -> Array:
        """What is divided by a number beyond all bounds is 0."""
        with a.saturating():
            divisor = np.asarray(bottom(x, a, part))
            result = np.asarray(top(x, a, part) / divisor)
        beyond = divisor == np.inf
        return np.where(beyond, a.scalar(Decimal(0)), result) if beyond.any() else result

    return saturated


def _call(name: str, arguments: list[Compute]) -> Compute:
    def of(x: Sequence[Array], a: Arithmetic, part: RoundPart) -> Array:
        return np.asarray(arguments[-1](x, a, part))

    match name:
        case "max":
            least = arguments[0]
            return lambda x, a, part: np.maximum(least(x, a, part), of(x, a, part))
        case "ReLU′":
            return lambda x, a, part: np.where(
                of(x, a, part) > 0, a.scalar(Decimal(1)), a.scalar(Decimal(0))
            )
        case "Φ":
            return lambda x, a, part: a.normal(of(x, a, part))
        case "ln":
            return lambda x, a, part: a.log(of(x, a, part))
        case "sin":
            return lambda x, a, part: a.sin(of(x, a, part))
        case "cos":
            return lambda x, a, part: a.cos(of(x, a, part))
        case _:
            raise TypeError(f"{name} is not a function of numbers")


def _put_in(e: ex.Expression, operand: Callable[[ex.Operand], ex.Expression]) -> ex.Expression:
    """Return the expression with something for each operand; what a line shows is not marked."""
    match e:
        case ex.Operand():
            return operand(e)
        case ex.Part(of) | ex.Subtotal(of):
            return _put_in(of, operand)
        case ex.Negative(of):
            return _negative(_put_in(of, operand))
        case _:
            return rewritten_within(e, Node, lambda part: _put_in(part, operand))


@frozen
class _Work:
    """Works out a formula for the numbers of one entry."""

    number: Callable[[ex.Operand], ex.Expression]
    part: NumberOf
    total: NumberOf

    def known(self, e: ex.Expression, level: int) -> ex.Expression | None:
        """Return the expression with the numbers of all parts up to a level; None beyond bounds."""
        try:
            return self._known(e, level)
        except OverflowError:
            return None

    def _known(self, e: ex.Expression, level: int) -> ex.Expression:
        match e:
            case ex.Operand():
                return self.number(e)
            case ex.Part(of) | ex.Subtotal(of):
                inner = self._known(of, level)
                if _depth(e) > level:
                    return inner
                if not value(inner)[0].is_finite():
                    raise OverflowError
                if isinstance(e, ex.Part):
                    return self.part(inner)
                is_constant = not any(found(of, ex.Operand))
                return ex.Number(value(inner)[0]) if is_constant else self.total(inner)
            case ex.Negative(of):
                return _negative(self._known(of, level))
            case _:
                return rewritten_within(e, Node, lambda part: self._known(part, level))


def _depth(e: Node) -> int:
    """How many numbers that a line shows are nested in each other."""
    is_shown = isinstance(e, ex.Part | ex.Subtotal)
    return is_shown + max(map(_depth, nodes_in(e)), default=0)


def _negative(of: ex.Expression) -> ex.Expression:
    """-a; 0 stays 0."""
    return of if isinstance(of, ex.Number) and not of.value else ex.Negative(of)
