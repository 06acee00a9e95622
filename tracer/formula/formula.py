"""An elementwise operation as one formula, with its numbers, symbols, worked line and slope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from tracer.formula import expression as ex
from tracer.formula.computation import Computation, computation
from tracer.formula.evaluation import value
from tracer.formula.slope import slope
from tracer.node import Node, found, nodes_in, rewritten_within

NumberOf: TypeAlias = Callable[[ex.Expression], ex.Number]
"""Evaluates a part of a line as the number that takes its place."""


@dataclass(eq=False)
class Formula:
    """An expression of operands, read in four ways."""

    expression: ex.Expression

    @cached_property
    def compute(self) -> Computation:
        """Return what computes it."""
        if isinstance(self.expression, ex.Exponential):  # e^x as a result has to be finite
            exponent = computation(self.expression.exponent)
            return lambda x, kind, part: kind.exp(np.asarray(exponent(x, kind, part)))
        return computation(self.expression)

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
    """Return the nesting depth of the parts that a line shows."""
    is_shown = isinstance(e, ex.Part | ex.Subtotal)
    return is_shown + max(map(_depth, nodes_in(e)), default=0)


def _negative(of: ex.Expression) -> ex.Expression:
    return of if isinstance(of, ex.Number) and not of.value else ex.Negative(of)
