"""The slope of a formula, by the rules of calculus, simplified as a person would write it."""

from __future__ import annotations

from decimal import Decimal

from tracer.formula.expression import (
    Call,
    Difference,
    Exponential,
    Expression,
    Negative,
    Number,
    Operand,
    Part,
    Pi,
    Power,
    Product,
    Quotient,
    Root,
    Subtotal,
    Sum,
)
from tracer.node import rewritten

ONE, TWO = Number.of(1), Number.of(2)


def slope(e: Expression, of: int) -> Expression | None:
    """Return ∂e/∂x for the operand x at a position; None for 0.

    Raises:
        TypeError: a function without a rule.
    """
    match e:
        case Operand(position):
            return ONE if position == of else None
        case Number() | Pi():
            return None
        case Part(Exponential(exponent)):  # the number that the line shows already
            inner = slope(exponent, of)
            return times(inner, e) if inner else None
        case Part(Sum() | Product() | Quotient() as inner):
            derived = slope(inner, of)
            if derived is None or isinstance(derived, Number):
                return derived
            return Part(rewritten(derived, Part, lambda part: part.of))
        case Part(inner) | Subtotal(inner):
            return slope(inner, of)
        case Sum(terms):
            return _sum([d for term in terms if (d := slope(term, of))])
        case Difference(a, b):
            return _sum([d for d in (slope(a, of), _minus(slope(b, of))) if d])
        case Product(factors):
            return _sum(
                [
                    times(*factors[:i], d, *factors[i + 1 :])
                    for i, factor in enumerate(factors)
                    if (d := slope(factor, of))
                ]
            )
        case Quotient(a, b):  # a′ / b - a b′ / b²
            b = _plain(b)
            over, under = slope(a, of), slope(b, of)
            first = times(Quotient(over, b)) if over else None
            second = times(Quotient(times(a, under), Power(b, TWO))) if under else None
            return _sum([d for d in (first, _minus(second)) if d])
        case Power(base, Number(exponent)):
            inner = slope(base, of)
            lower = base if exponent == 2 else Power(base, Number(exponent - 1))
            return times(Number(exponent), lower, inner) if inner else None
        case Root(a):
            inner = slope(a, of)
            return Quotient(inner, times(TWO, e)) if inner else None
        case Exponential(a):
            inner = slope(a, of)
            return times(inner, e) if inner else None
        case Negative(a):
            return _minus(slope(a, of))
        case Call(name, arguments):
            inner = slope(arguments[-1], of)
            return times(inner, _outer_slope(name, arguments[-1])) if inner else None
        case _:
            raise TypeError(f"{e} has no slope")


def _outer_slope(name: str, at: Expression) -> Expression:
    match name:
        case "max":  # of 0 and a number
            return Call("ReLU′", (at,))
        case "Φ":  # e^(-x²/2) / √(2π)
            power = Exponential(Negative(Quotient(Power(at, TWO), TWO)))
            return Quotient(power, Root(Product((TWO, Pi()))))
        case "ln":
            return Quotient(ONE, at)
        case "sin":
            return Call("cos", (at,))
        case "cos":
            return Negative(Call("sin", (at,)))
        case _:
            raise TypeError(f"{name} has no slope")


def times(*factors: Expression) -> Expression:
    """Return a product without factors of 1, with its sign in front, its quotients as one."""
    flat: list[Expression] = []
    divisors: list[Expression] = []
    negative = False
    waiting = list(factors)
    while waiting:
        match waiting.pop(0):
            case Product(inner):
                waiting = [*inner, *waiting]
            case Negative(of):
                negative = not negative
                waiting.insert(0, of)
            case Quotient(over, under):
                waiting.insert(0, over)
                divisors.append(under)
            case Number() as number if number.value == 1:
                pass
            case factor:
                flat.append(factor)
    constants = [factor for factor in flat if isinstance(factor, Number)]
    if len(constants) > 1:
        known = Decimal(1)
        for constant in constants:
            known *= constant.value
        flat = [Number(known), *(f for f in flat if not isinstance(f, Number))]
    result = _product(flat)
    if divisors:
        result = Quotient(result, _product(divisors))
    return Negative(result) if negative else result


def _product(factors: list[Expression]) -> Expression:
    if not factors:
        return ONE
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _sum(terms: list[Expression]) -> Expression | None:
    """Return a sum; each term that is worked out by itself is a number that the line shows."""
    if len(terms) < 2:
        return terms[0] if terms else None
    first, *others = [term if isinstance(term, Number | Operand) else _part(term) for term in terms]
    if len(others) == 1 and isinstance(others[0], Negative):
        return Difference(first, others[0].of)
    return Sum((first, *others))


def _part(term: Expression) -> Expression:
    if isinstance(term, Negative):
        return Negative(_part(term.of))
    return term if isinstance(term, Part) else Part(term)


def _minus(e: Expression | None) -> Expression | None:
    return e.of if isinstance(e, Negative) else e and Negative(e)


def _plain(e: Expression) -> Expression:
    """A denominator is squared as it is written: the line shows its parts only."""
    return e.of if isinstance(e, Subtotal) else e
