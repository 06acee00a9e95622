"""Other readings of an equation: with whole quotients, with rounded or other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from tracer.audit.judging.evaluation import plain_value
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
    numbers = [number for side in (left, right) for number in ex.numbers(side)]
    if _quotients(right) or _quotients(left) != 1 or not all(n.is_whole for n in numbers):
        return
    for by in (ROUND_FLOOR, ROUND_CEILING):

        def of(part: ex.Expression, by: str = by) -> ex.Expression:
            value = plain_value(part) if _quotients(part) and isinstance(part, ex.Product) else None
            first = ex.numbers(part)[0] if value is not None else None
            return part if value is None or first is None else whole(value, by, first)

        yield ex.mapped(left, of), right


def _quotients(expression: ex.Expression) -> int:
    products = (part for part in ex.every(expression) if isinstance(part, ex.Product))
    return sum(sign == "/" for product in products for sign, _ in product.factors)


def whole(value: Decimal, by: str, like: ex.Number) -> ex.Expression:
    """Return a value rounded to a whole number, in the place of another one."""
    rounded = abs(value).to_integral_value(by)
    number = ex.Number(rounded, f"{rounded:f}", like.start, like.end)
    return ex.Negative(number) if value < 0 else number


def as_rounded(number: ex.Number) -> ex.Number:
    """Return a number as one with decimals, which may be rounded in its last place."""
    return replace(number, printed=".")


def replaced(expression: ex.Expression, number: ex.Number, other: ex.Expression) -> ex.Expression:
    """Return the expression with another part in place of a number."""
    return ex.mapped(expression, lambda part: other if part is number else part)
