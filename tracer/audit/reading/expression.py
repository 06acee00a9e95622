"""The syntax tree of an expression."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeAlias

Measure: TypeAlias = tuple[tuple[str, int], ...]
"""Units with their exponents, sorted by name: (("h", -1), ("km", 1))."""

SIGNIFICANT = 3
"""A decimal number with at least this many significant digits may be rounded."""


@dataclass(frozen=True)
class Number:
    """A number with its printed digits; equal numbers may have different places in the text."""

    value: Decimal
    printed: str
    start: int = field(compare=False)
    end: int = field(compare=False)
    measure: Measure = ()
    """Its unit."""

    @property
    def is_whole(self) -> bool:
        """Whether the number has no decimals."""
        printed = self.printed
        return printed.isdecimal() or ("." not in printed and "e" not in printed.lower())

    @property
    def digits(self) -> int:
        """The number of significant digits; final zeros of a whole number do not count."""
        if not self.value:
            return 0
        digits = self.value.as_tuple().digits
        return len("".join(map(str, digits)).rstrip("0")) if self.is_whole else len(digits)

    @property
    def is_rounded(self) -> bool:
        """Whether the number looks rounded."""
        return not self.is_whole and self.digits >= SIGNIFICANT

    @property
    def unit(self) -> Decimal:
        """One unit in the last printed place."""
        if not self.is_whole or not self.value:
            return Decimal(1).scaleb(int(self.value.as_tuple().exponent))
        plain = self.printed.lstrip("-")
        return Decimal(1).scaleb(len(plain) - len(plain.rstrip("0")))


@dataclass(frozen=True)
class Constant:
    """e or π."""

    name: str


@dataclass(frozen=True)
class Negative:
    """A negated expression."""

    of: Expression


@dataclass(frozen=True)
class Sum:
    """A sum of terms; a subtracted term is negative."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Product:
    """Factors, each preceded by * (elementwise or matrix product), @ or /."""

    factors: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Power:
    """A base and an exponent."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Call:
    """A function call with one or more arguments."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Vector:
    """Numbers in a row, or the rows of a matrix."""

    items: tuple[Expression, ...]


Expression: TypeAlias = Number | Constant | Negative | Sum | Product | Power | Call | Vector


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of an expression, from left to right."""
    match expression:
        case Number():
            return ()
        case Sum(items) | Call(_, items) | Vector(items):
            return items
        case Product(factors):
            return tuple([factor for _, factor in factors])
        case Negative(of):
            return (of,)
        case Power(base, exponent):
            return base, exponent
        case Constant():
            return ()


def mapped(expression: Expression, of: Callable[[Expression], Expression]) -> Expression:
    """Return the expression with each part replaced by `of` it, the innermost ones first."""
    if isinstance(expression, Number):  # most are
        return of(expression)
    before = parts(expression)
    after = tuple(mapped(part, of) for part in before)
    changed = any(map(operator.is_not, before, after))
    return of(_with_parts(expression, after) if changed else expression)


def _with_parts(expression: Expression, other: tuple[Expression, ...]) -> Expression:
    match expression:
        case Number() | Constant():
            return expression
        case Negative():
            return Negative(*other)
        case Product(factors):
            signs = (sign for sign, _ in factors)
            return Product(tuple(zip(signs, other, strict=True)))
        case Power():
            return Power(*other)
        case Sum():
            return Sum(other)
        case Call(name):
            return Call(name, other)
        case Vector():
            return Vector(other)


def every(expression: Expression) -> list[Expression]:
    """Return the expression and all its parts, from left to right."""
    found = [expression]
    for part in parts(expression):
        if isinstance(part, Number):  # most are
            found.append(part)
        else:
            found += every(part)
    return found


def numbers(expression: Expression) -> list[Number]:
    """Return all numbers in the expression, from left to right."""
    return [part for part in every(expression) if isinstance(part, Number)]


def is_printed(expression: Expression) -> bool:
    """Return whether it is a number or a vector of numbers, with nothing left to compute."""
    match expression:
        case Number():
            return True
        case Negative(of):
            return isinstance(of, Number) or (isinstance(of, Call) and is_printed(of))
        case Vector(items):
            return all(map(is_printed, items))
        case Call("percent", (of,)):
            return is_printed(of)
    return False


def is_percent(expression: Expression) -> bool:
    """Return whether the expression ends with a % sign."""
    return isinstance(expression, Call) and expression.name == "percent"


def as_rounded(number: Number) -> Number:
    """Return a number as one with decimals, which may be rounded in its last place."""
    return replace(number, printed=".")


def replaced(expression: Expression, number: Number, other: Expression) -> Expression:
    """Return the expression with another part in place of a number."""
    return mapped(expression, lambda part: other if part is number else part)
