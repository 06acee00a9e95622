"""What an expression says: its parts, as a tree."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias

from tracer.frozen import frozen

SIGNIFICANT = 3
"""A decimal number with so many significant digits was rounded, for all that a reader knows."""


@frozen
class Number:
    """A number with the digits that it is printed with, from where to where."""

    value: Decimal
    printed: str
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether it has no decimals."""
        return "." not in self.printed and "e" not in self.printed.lower()

    @property
    def digits(self) -> int:
        """How many significant digits it has; zeros at the end of a whole number are none."""
        if not self.value:
            return 0
        digits = self.value.as_tuple().digits
        return len("".join(map(str, digits)).rstrip("0")) if self.is_whole else len(digits)

    @property
    def is_rounded(self) -> bool:
        """Whether it looks as if it was rounded before it was put in."""
        return not self.is_whole and self.digits >= SIGNIFICANT

    @property
    def unit(self) -> Decimal:
        """One in its last place."""
        if not self.is_whole or not self.value:
            return Decimal(1).scaleb(int(self.value.as_tuple().exponent))
        plain = self.printed.lstrip("-")
        return Decimal(1).scaleb(len(plain) - len(plain.rstrip("0")))


@frozen
class Constant:
    """Euler's number or that of the circle."""

    name: str


@frozen
class Negative:
    """A sign before something."""

    of: Expression


@frozen
class Sum:
    """Terms; one that is taken away is negative."""

    terms: tuple[Expression, ...]


@frozen
class Product:
    """Factors, each with * (elementwise or as matrices), @ or / before it."""

    factors: tuple[tuple[str, Expression], ...]


@frozen
class Power:
    """A base and an exponent."""

    base: Expression
    exponent: Expression


@frozen
class Call:
    """A function of one or more things."""

    name: str
    arguments: tuple[Expression, ...]


@frozen
class Vector:
    """Numbers in a row, or rows of a matrix."""

    items: tuple[Expression, ...]


Expression: TypeAlias = Number | Constant | Negative | Sum | Product | Power | Call | Vector


def parts(expression: Expression) -> tuple[Expression, ...]:
    """What an expression is made of, from left to right."""
    match expression:
        case Number() | Constant():
            return ()
        case Negative(of):
            return (of,)
        case Product(factors):
            return tuple(factor for _, factor in factors)
        case Power(base, exponent):
            return base, exponent
        case Sum(items) | Call(_, items) | Vector(items):
            return items


def every(expression: Expression) -> list[Expression]:
    """It and all its parts, from left to right."""
    found = [expression]
    for part in parts(expression):
        if isinstance(part, Number):  # most are
            found.append(part)
        else:
            found += every(part)
    return found


def numbers(expression: Expression) -> list[Number]:
    """All the numbers in it, from left to right."""
    return [part for part in every(expression) if isinstance(part, Number)]


def is_printed(expression: Expression) -> bool:
    """Whether it is a number or a vector of numbers, in which nothing is left to compute."""
    match expression:
        case Number():
            return True
        case Negative(of):
            return isinstance(of, Number)
        case Vector(items):
            return all(map(is_printed, items))
        case Call("percent", (of,)):
            return is_printed(of)
    return False


def is_percent(expression: Expression) -> bool:
    """Whether it has a % behind it."""
    return isinstance(expression, Call) and expression.name == "percent"
