"""What an expression comes to: of its numbers with the digits that are printed, as the reader's.

Symbols, matrix products and brackets have no value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Overflow, localcontext
from typing import assert_never

from tracer.formula.expression import (
    Blank,
    Brackets,
    Call,
    Difference,
    Exponential,
    Expression,
    Function,
    InSymbols,
    MatrixProduct,
    Negative,
    Number,
    Operand,
    Part,
    Partial,
    Pi,
    Power,
    Product,
    Quotient,
    Relation,
    Rest,
    Root,
    Sized,
    Subtotal,
    Sum,
    Symbol,
    Transposed,
)
from tracer.formula.normal import PI, normal
from tracer.formula.numbers import CONTEXT, SUMS, round_half_away

DOUBTFUL_DIGITS = 10
"""The last digits of a power that may be off."""


def total_of(terms: Iterable[Decimal]) -> Decimal:
    """A sum with more digits than are ever printed."""
    with localcontext(SUMS):
        return sum(terms, Decimal(0))


def value(expression: Expression) -> tuple[Decimal, bool]:
    """What an expression comes to, and whether that is exact rather than cut off somewhere.

    A number beyond all bounds is ∞, and nothing is left of what is divided by it.

    Raises:
        ValueError: it holds a symbol or a matrix.
    """
    with localcontext(CONTEXT) as context:
        context.clear_flags()
        context.traps[Overflow] = False
        result = _value(expression, context)
        return result, not context.flags[Inexact]


def _value(expression: Expression, context: Context) -> Decimal:
    match expression:
        case Number():
            return expression.value
        case Blank(_, answer):
            return answer.value
        case Product(factors):
            return math.prod([_value(factor, context) for factor in factors], start=Decimal(1))
        case Sum(terms):
            return context.plus(total_of([_value(term, context) for term in terms]))
        case Rest(_, total):
            return total.value
        case Pi():
            context.flags[Inexact] = True
            return PI
        case Part(of) | Subtotal(of):
            return _value(of, context)
        case Difference(left, right):
            return context.plus(
                total_of([_value(left, context), _value(right, context).copy_negate()])
            )
        case Quotient(over, under):
            dividend = _value(over, context)
            # Nothing divided by anything is nothing, exactly: also by √2.
            return dividend / _value(under, context) if dividend else dividend
        case Power(base, Quotient(Number(p), Number(q))):
            return _root_of_power(_value(base, context), p, q)
        case Power(base, exponent):
            return _value(base, context) ** _value(exponent, context)
        case Root(of):
            return _value(of, context).sqrt()
        case Exponential(exponent):
            return _value(exponent, context).exp()
        case Negative(of):
            return -_value(of, context)
        case Call(name, arguments):
            return _called(name, [_value(argument, context) for argument in arguments], context)
        case (
            Symbol() | Operand() | MatrixProduct() | Transposed() | Brackets() | Sized() | Partial()
        ):
            raise ValueError(f"{expression} has no value")
        case _:
            assert_never(expression)


def _called(name: Function | InSymbols, of: list[Decimal], context: Context) -> Decimal:
    match name:
        case "max":
            return max(of)
        case "ln":
            return of[0].ln()
        case "sin" | "cos":
            return _wave(name, of[0], context)
        case "Φ":
            context.flags[Inexact] |= bool(of[0])
            return normal(of[0])
        case "ReLU′":
            return Decimal(1 if of[0] > 0 else 0)
        case _:  # of matrices
            raise ValueError(f"{name} has no value")


def _root_of_power(base: Decimal, p: Decimal, q: Decimal) -> Decimal:
    """base^(p/q); 10000^(2/4) is 100 exactly, which a Decimal's power does not notice."""
    with localcontext(rounding=ROUND_HALF_EVEN) as inner:
        power = base ** (p / q)
        inner.prec -= DOUBTFUL_DIGITS
        short = +power
    with localcontext() as inner:
        inner.clear_flags()
        if short**q == base**p and not inner.flags[Inexact]:
            return short
    return base ** (p / q)


def _wave(name: str, angle: Decimal, context: Context) -> Decimal:
    if not angle:
        return Decimal(0 if name == "sin" else 1)
    # Decimals have no sine; that of the nearest float is right to far more digits than are printed.
    context.flags[Inexact] = True
    return Decimal(repr(math.sin(angle) if name == "sin" else math.cos(angle)))


def product(factors: tuple[Number, Number]) -> Decimal:
    """What a product comes to."""
    return CONTEXT.multiply(factors[0].value, factors[1].value)


def relation(left: Expression, right: Expression) -> Relation:
    """`=` where each part of `left` is the same in `right` or replaced by its exact value."""
    return "=" if _same(left, right) else "≈"


def _same(left: Expression, right: Expression) -> bool:
    if left == right or isinstance(left, Symbol):
        return True
    match left, right:
        case _, Number(number):
            result, exact = value(left)
            return exact and result == number
        case (Sum(a), Sum(b)) | (Product(a), Product(b)) | (Call(_, a), Call(_, b)):
            return len(a) == len(b) and all(map(_same, a, b))
        case (
            (Quotient(a, b), Quotient(c, d))
            | (Difference(a, b), Difference(c, d))
            | (Power(a, b), Power(c, d))
        ):
            return _same(a, c) and _same(b, d)
        case (Negative(a), Negative(b)) | (Root(a), Root(b)) | (Exponential(a), Exponential(b)):
            return _same(a, b)
        case Rest(_, a), Rest(_, b):
            return a.value == b.value
        case _:
            return False


def holds(left: Expression, right: Number, places: int) -> bool:
    """Whether `right` is `left`, correctly rounded to so many places."""
    return round_half_away(value(left)[0], places) == right.value
