"""Other readings of an equation: with lost superscripts, whole quotients, from left to right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias, TypeGuard

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


_POINT = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_COMMA = re.compile(r"\d{1,3}(?:,|\{,\})\d{3}")


def separators(
    source: Callable[[ex.Number], str], left: ex.Expression, right: ex.Expression
) -> Iterator[Sides]:
    """Read 6.144 as 6144, or 1,177 as 1.177; a text has only one of these notations."""

    def thousands(part: ex.Expression) -> ex.Expression:
        if not (isinstance(part, ex.Number) and _POINT.fullmatch(part.printed)):
            return part
        return whole(int(part.printed.replace(".", "")), part)

    def decimal(part: ex.Expression) -> ex.Expression:
        if not (isinstance(part, ex.Number) and _COMMA.fullmatch(source(part)) and part.is_whole):
            return part
        printed = f"{part.printed[:-3]}.{part.printed[-3:]}"
        if printed.endswith(".000"):  # nobody writes 100 so
            return part
        return ex.Number(Decimal(printed), printed, part.start, part.end)

    numbers = [number for side in (left, right) for number in ex.numbers(side)]
    written = "".join(map(source, numbers))
    if any(_POINT.fullmatch(number.printed) for number in numbers) and "," not in written:
        yield ex.mapped(left, thousands), ex.mapped(right, thousands)
    if any(map(_COMMA.fullmatch, map(source, numbers))) and "." not in written:
        yield ex.mapped(left, decimal), ex.mapped(right, decimal)
        for one in numbers:
            yield replaced(left, one, decimal(one)), replaced(right, one, decimal(one))


def degrees(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read π as 180: 2π = 360."""

    def of(part: ex.Expression) -> ex.Expression:
        return ex.Number(Decimal(180), "180", 0, 0) if part == ex.Constant("π") else part

    yield ex.mapped(left, of), ex.mapped(right, of)


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


def negative_parentheses(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 50 + (10) as accountants do, 50 - 10: flip the sign of one term."""
    if isinstance(left, ex.Sum):
        for i, term in enumerate(left.terms):
            flipped = term.of if isinstance(term, ex.Negative) else ex.Negative(term)
            yield ex.Sum((*left.terms[:i], flipped, *left.terms[i + 1 :])), right


def shares(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 256/2 = 50% as half of 256, which is 50 %."""
    if ex.is_percent(right) and isinstance(left, ex.Product):
        _, *others = left.factors
        one = ex.Number(Decimal(1), "1", 0, 0)
        yield ex.Product((("*", one), *others)), right


def changes(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 1.08 × 1.03 = 11.2% as the change, 1.08 × 1.03 - 1."""
    yield ex.Sum((left, ex.Negative(ex.Number(Decimal(1), "1", 0, 0)))), right


def percentages(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 5 + 10% as 5.5, or as 15%: a percentage of the number before it, or all in percent."""

    def of_the_first(part: ex.Expression) -> ex.Expression:
        match part:
            case ex.Sum((first, *others)) if not ex.is_percent(first):
                return ex.Sum((first, *(_share_of(first, term) for term in others)))
        return part

    def without_sign(part: ex.Expression) -> ex.Expression:
        return part.arguments[0] if _is_a_percentage(part) else part

    for of in (of_the_first, without_sign):
        one, other = ex.mapped(left, of), ex.mapped(right, of)
        yield from ((one, other), (one, right), (left, other))


def _is_a_percentage(part: ex.Expression) -> TypeGuard[ex.Call]:
    return isinstance(part, ex.Call) and part.name == "percent"


def _share_of(total: ex.Expression, term: ex.Expression) -> ex.Expression:
    """Return a term, or if it is a percentage the share that it is of something."""
    if isinstance(term, ex.Negative):
        return ex.Negative(_share_of(total, term.of))
    return ex.Product((("*", total), ("*", term))) if _is_a_percentage(term) else term


def mixed_numbers(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 2 1/3 as 2 + 1/3."""

    def of(part: ex.Expression) -> ex.Expression:
        match part:
            case ex.Product((one, ("*", ex.Call("percent", (fraction,))))):  # 16 2/3 %
                return ex.Call("percent", (of(ex.Product((one, ("*", fraction)))),))
            case ex.Product((("*", ex.Number() as one), ("*", ex.Product() as fraction), *others)):
                mixed = ex.Sum((one, fraction))
                return ex.Product((("*", mixed), *others)) if others else mixed
        return part

    yield ex.mapped(left, of), ex.mapped(right, of)


def unsigned(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read - 3 + 4 as 3 + 4, behind a dash."""
    match left:
        case ex.Negative(of):
            yield of, right
        case ex.Sum((ex.Negative(of), *others)):
            yield ex.Sum((of, *others)), right
        case ex.Product((("*", ex.Negative(of)), *others)):
            yield ex.Product((("*", of), *others)), right


def short_pi(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read π in a computation as 3.14, as pupils do."""
    if ex.Constant("π") in (left, right):
        return
    for digits in ("3.14", "3.1416", "3.142", "3.1415"):
        pi = ex.Number(Decimal(digits), "3", 0, 0)  # taken as exact

        def of(part: ex.Expression, pi: ex.Expression = pi) -> ex.Expression:
            return pi if part == ex.Constant("π") else part

        yield ex.mapped(left, of), ex.mapped(right, of)


def tangents(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 5.1³ ≈ 132.5 as 5³ + 3 · 5² · 0.1, and √17 ≈ 4.125 as 4 + 1 / (2 · 4)."""
    match left:
        case ex.Power(ex.Number(x), ex.Number(n) as power) if power.is_whole and 1 < n < 10:
            near = x.to_integral_value()
            value = near**n + n * near ** (n - 1) * (x - near)
        case ex.Call("sqrt", (ex.Number(x),)) if x >= 1:
            near = x.sqrt().to_integral_value()
            value = near + (x - near**2) / (2 * near)
        case _:
            return
    yield ex.Number(value, f"{value:f}", 0, 0), right


def whole(value: int, like: ex.Number) -> ex.Number:
    """Return a whole number in the place of another one."""
    return ex.Number(Decimal(value), str(value), like.start, like.end)


def as_rounded(number: ex.Number) -> ex.Number:
    """Return a number as one with decimals, which may be rounded in its last place."""
    return replace(number, printed=".")


def replaced(expression: ex.Expression, number: ex.Number, other: ex.Expression) -> ex.Expression:
    """Return the expression with another part in place of a number."""
    return ex.mapped(expression, lambda part: other if part is number else part)
