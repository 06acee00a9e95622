"""Other readings of an equation: with whole quotients, with rounded or other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from tracer.audit.judging.judgement import agree_at_face
from tracer.audit.reading import expression as ex

Sides: TypeAlias = tuple[ex.Expression, ex.Expression]
Reading: TypeAlias = Callable[[ex.Expression, ex.Expression], Iterator[Sides]]
"""Yields the two sides as they may have been meant."""


def hold(reading: Reading, left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether two sides are equal when they are read otherwise."""
    return any(
        agree_at_face(one, other)
        for one, other in reading(left, right)
        if one is not left or other is not right  # as they are, they do not hold
    )


def whole_quotients(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 160/136 + 1 as programs compute it: 160/136 is 1, or 2 if it is rounded up."""

    def rounded(by: str) -> Callable[[ex.Expression], ex.Expression]:
        def of(part: ex.Expression) -> ex.Expression:
            match part:
                case ex.Product((("*", ex.Number() as a), ("/", ex.Number() as b))) if (
                    b.value and a.start < b.start  # not ½
                ):
                    return whole(int((a.value / b.value).to_integral_value(by)), a)
                case ex.Product(
                    (
                        ("*", ex.Number() as a),
                        ("/", ex.Product((("*", ex.Number() as b), ("*", ex.Number() as c)))),
                    )
                ) if b.value * c.value:
                    return whole(int((a.value / (b.value * c.value)).to_integral_value(by)), a)
                case ex.Product(
                    (("*", ex.Negative(ex.Number() as a)), ("/", ex.Number() as b))
                ) if a.value >= b.value:
                    return ex.Negative(of(ex.Product((("*", a), ("/", b)))))
            return part

        return of

    numbers = [number for side in (left, right) for number in ex.numbers(side)]
    divides, of_one = _quotients(right) > 0, _quotients(left) == 1
    if of_one and not divides and all(number.is_whole for number in numbers):
        for by in (ROUND_FLOOR, ROUND_CEILING):
            yield ex.mapped(left, rounded(by)), right


def _quotients(expression: ex.Expression) -> int:
    products = (part for part in ex.every(expression) if isinstance(part, ex.Product))
    return sum(sign == "/" for product in products for sign, _ in product.factors)


def whole(value: int, like: ex.Number) -> ex.Number:
    """Return a whole number in the place of another one."""
    return ex.Number(Decimal(value), str(value), like.start, like.end)


def as_rounded(number: ex.Number) -> ex.Number:
    """Return a number as one with decimals, which may be rounded in its last place."""
    return replace(number, printed=".")


def replaced(expression: ex.Expression, number: ex.Number, other: ex.Expression) -> ex.Expression:
    """Return the expression with another part in place of a number."""
    return ex.mapped(expression, lambda part: other if part is number else part)
