"""The value of an expression, computed from its printed numbers as a reader would."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    Inexact,
    InvalidOperation,
    Overflow,
    getcontext,
    localcontext,
)
from typing import assert_never

from tracer.formula import expression as ex
from tracer.formula.normal import PI, normal
from tracer.formula.numbers import CONTEXT, SUMS, round_half_away
from tracer.formula.steps import OF_DECIMALS, SETTLED, STEPS
from tracer.formula.tanh import tanh
from tracer.formula.waves import cosine, sine
from tracer.node import Node, nodes_in

HUGE = Context(prec=CONTEXT.prec, rounding=CONTEXT.rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""For the slope of SiLU at -10¹²: two numbers beyond 10^1000000 whose quotient is short."""

DOUBTFUL_DIGITS = 10
"""The number of last digits of a power that may be wrong."""


def total_of(terms: Iterable[Decimal]) -> Decimal:
    """A sum with more digits than are ever printed, within the bounds that hold here."""
    here = getcontext()
    with localcontext(SUMS, Emin=here.Emin, Emax=here.Emax):
        return sum(terms, Decimal(0))


def value(expression: ex.Expression) -> tuple[Decimal, bool]:
    """The value of an expression, and whether it is exact; ∞ if beyond all bounds.

    It is kept with the expression, since one line asks for it several times.

    Raises:
        ValueError: it holds a symbol or a matrix.
    """
    known: tuple[Decimal, bool] | None = vars(expression).get("_value")
    if known is None:
        known = vars(expression)["_value"] = _bounded(expression)
    return known


def _bounded(expression: ex.Expression) -> tuple[Decimal, bool]:
    try:
        return _evaluated(expression, CONTEXT)
    except InvalidOperation:  # ∞ / ∞
        result, exact = _evaluated(expression, HUGE)
        with localcontext(CONTEXT) as context:
            context.traps[Overflow] = False
            return context.plus(result), exact


def _evaluated(expression: ex.Expression, within: Context) -> tuple[Decimal, bool]:
    with localcontext(within) as context:
        context.clear_flags()
        context.traps[Overflow] = False
        result = _value(expression, context)
        return result, not context.flags[Inexact]


def _value(expression: ex.Expression, context: Context) -> Decimal:
    match expression:
        case ex.Number():
            return expression.value
        case ex.Blank(_, answer):
            return answer.value
        case ex.Product((ex.Part(ex.Quotient(over, under)) | ex.Quotient(over, under), *others)):
            # Multiplied first: (-2.8 / 2.4)·0.9 is -1.05 exactly.
            dividend = _value(ex.Product((over, *others)), context)
            return dividend / _value(under, context) if dividend else dividend
        case ex.Product(factors):
            return math.prod([_value(factor, context) for factor in factors], start=Decimal(1))
        case ex.Sum(terms):
            return context.plus(total_of([_value(term, context) for term in terms]))
        case ex.Rest(_, total):
            return total.value
        case ex.Pi():
            context.flags[Inexact] = True
            return PI
        case ex.Part(of) | ex.Subtotal(of):
            return _value(of, context)
        case ex.Difference(left, right):
            minuend, subtrahend = _value(left, context), _value(right, context)
            return context.plus(total_of([minuend, subtrahend.copy_negate()]))
        case ex.Quotient(over, under):
            dividend = _value(over, context)
            # 0 divided by anything is exactly 0: also by √2.
            return dividend / _value(under, context) if dividend else dividend
        case ex.Power(base, ex.Quotient(ex.Number(p), ex.Number(q))):
            return _root_of_power(_value(base, context), p, q)
        case ex.Power(base, exponent):
            return _value(base, context) ** _value(exponent, context)
        case ex.Root(of):
            return _value(of, context).sqrt()
        case ex.Exponential(exponent):
            return _value(exponent, context).exp()
        case ex.Negative(of):
            return -_value(of, context)
        case ex.Call(name, arguments):
            return _called(name, [_value(argument, context) for argument in arguments], context)
        case ex.Symbol() | ex.Operand() | ex.MatrixProduct() | ex.Transposed():
            raise ValueError(f"{expression} has no value")
        case ex.Brackets() | ex.Sized() | ex.Partial():
            raise ValueError(f"{expression} has no value")
        case _:
            assert_never(expression)


def _called(name: ex.Function | ex.InSymbols, of: list[Decimal], context: Context) -> Decimal:
    match name:
        case "max":
            return max(of)
        case "min":
            return min(of)
        case "ln":
            return of[0].ln()
        case "sin" | "cos":
            context.flags[Inexact] |= bool(of[0])
            return sine(of[0]) if name == "sin" else cosine(of[0])
        case "tanh":
            context.flags[Inexact] |= bool(of[0])
            return tanh(of[0])
        case "Φ":
            context.flags[Inexact] |= bool(of[0])
            return normal(of[0])
        case "round" | "floor" | "E2M1":
            return OF_DECIMALS[name](SETTLED.plus(of[0]))
        case "abs":
            return abs(of[0])
        case "log2":
            power = OF_DECIMALS[name](of[0])
            context.flags[Inexact] |= power % 1 != 0
            return power
        case "ReLU′":
            return Decimal(1 if of[0] > 0 else 0)
        case _:  # of matrices
            raise ValueError(f"{name} has no value")


def _root_of_power(base: Decimal, p: Decimal, q: Decimal) -> Decimal:
    """base^(p/q), exact where it can be: 10000^(2/4) is 100."""
    with localcontext(rounding=ROUND_HALF_EVEN) as inner:
        power = base ** (p / q)
        inner.prec -= DOUBTFUL_DIGITS
        short = +power
    with localcontext() as inner:
        inner.clear_flags()
        if short**q == base**p and not inner.flags[Inexact]:
            return short
    return base ** (p / q)


def product(factors: tuple[ex.Number, ex.Number]) -> Decimal:
    """The product of two numbers."""
    return CONTEXT.multiply(factors[0].value, factors[1].value)


def jumps(side: Node) -> bool:
    """Whether a number is rounded in a side, so that its last digits may matter."""
    is_step = isinstance(side, ex.Call) and side.name in STEPS
    return is_step or any(map(jumps, nodes_in(side)))


def relation(left: ex.Expression, right: ex.Expression) -> ex.Relation:
    """`=` where each part of `left` is the same in `right` or replaced by its exact value.

    Also where both sides jump to the same number: round(1 / 7) = round(0.14).
    """
    if jumps(right):
        return "=" if value(left)[0] == value(right)[0] else "≈"
    return "=" if _same(left, right) else "≈"


def _same(left: ex.Expression, right: ex.Expression) -> bool:
    if left == right or isinstance(left, ex.Symbol):
        return True
    match left, right:
        case _, ex.Number(number):
            result, exact = value(left)
            return exact and result == number
        case _:
            parts, others = tuple(nodes_in(left)), tuple(nodes_in(right))
            alike = type(left) is type(right) and len(parts) == len(others) > 0
            return alike and all(map(_same, parts, others))


def holds(left: ex.Expression, right: ex.Number, places: int) -> bool:
    """Whether `right` is `left`, correctly rounded to `places` decimals."""
    return round_half_away(value(left)[0], places) == right.value
