"""The slope of a formula, by the rules of calculus, simplified as a person would write it."""

from __future__ import annotations

from decimal import Decimal

from tracer.formula import expression as ex
from tracer.node import rewritten

ONE, TWO = ex.Number.of(1), ex.Number.of(2)


def slope(e: ex.Expression, of: int) -> ex.Expression | None:
    """Return ∂e/∂x for the operand x at a position; None for 0.

    Raises:
        TypeError: a function without a rule.
    """
    match e:
        case ex.Operand(position):
            return ONE if position == of else None
        case ex.Number() | ex.Pi():
            return None
        case ex.Part(ex.Exponential(a)) | ex.Exponential(a):  # a part is shown already
            inner = slope(a, of)
            return times(inner, e) if inner else None
        case ex.Part(ex.Sum() | ex.Product() | ex.Quotient() as inner):
            derived = slope(inner, of)
            if derived is None or isinstance(derived, ex.Number):
                return derived
            return ex.Part(rewritten(derived, ex.Part, lambda part: part.of))
        case ex.Part(inner) | ex.Subtotal(inner):
            return slope(inner, of)
        case ex.Sum(terms):
            return _sum([d for term in terms if (d := slope(term, of))])
        case ex.Difference(a, b):
            return _sum([d for d in (slope(a, of), _minus(slope(b, of))) if d])
        case ex.Product(factors):
            return _sum(
                [
                    times(*factors[:i], d, *factors[i + 1 :])
                    for i, factor in enumerate(factors)
                    if (d := slope(factor, of))
                ]
            )
        case ex.Quotient(a, b):  # a′ / b - a b′ / b²
            b = _plain(b)
            over, under = slope(a, of), slope(b, of)
            first = times(ex.Quotient(over, b)) if over else None
            second = times(ex.Quotient(times(a, under), ex.Power(b, TWO))) if under else None
            return _sum([d for d in (first, _minus(second)) if d])
        case ex.Power(base, ex.Number(exponent)):
            inner = slope(base, of)
            lower = base if exponent == 2 else ex.Power(base, ex.Number(exponent - 1))
            return times(ex.Number(exponent), lower, inner) if inner else None
        case ex.Root(a):
            inner = slope(a, of)
            return ex.Quotient(inner, times(TWO, e)) if inner else None
        case ex.Negative(a):
            return _minus(slope(a, of))
        case ex.Call(name, arguments):
            inner = slope(arguments[-1], of)
            return times(inner, _outer_slope(name, arguments)) if inner else None
        case _:
            raise TypeError(f"{e} has no slope")


def _outer_slope(name: str, arguments: tuple[ex.Expression, ...]) -> ex.Expression:
    *limits, at = arguments
    match name, limits:
        case "max", [ex.Number(limit)] if not limit:
            return ex.Call("ReLU′", (at,))
        case "min", [ex.Number(limit)] if not limit:
            return ex.Subtotal(ex.Difference(ONE, ex.Call("ReLU′", (at,))))
        case (("max" | "min"), [limit]):  # 0 beyond the limit, 1 at the limit as in PyTorch's clamp
            beyond = (at, limit) if name == "min" else (limit, at)
            return ex.Subtotal(ex.Difference(ONE, ex.Call("ReLU′", (ex.Difference(*beyond),))))
    match name:
        case "Φ":  # e^(-x²/2) / √(2π)
            power = ex.Exponential(ex.Negative(ex.Quotient(ex.Power(at, TWO), TWO)))
            return ex.Quotient(power, ex.Root(ex.Product((TWO, ex.Pi()))))
        case "ln":
            return ex.Quotient(ONE, at)
        case "tanh":
            squared = ex.Power(ex.Subtotal(ex.Call("tanh", (at,))), TWO)
            return ex.Subtotal(ex.Difference(ONE, squared))
        case "sin":
            return ex.Call("cos", (at,))
        case "cos":
            return ex.Negative(ex.Call("sin", (at,)))
        case _:
            raise TypeError(f"{name} has no slope")


def times(*factors: ex.Expression) -> ex.Expression:
    """Return a product without factors of 1, with its sign in front, its quotients as one."""
    flat: list[ex.Expression] = []
    divisors: list[ex.Expression] = []
    negative = False
    waiting = list(factors)
    while waiting:
        match waiting.pop(0):
            case ex.Product(inner):
                waiting = [*inner, *waiting]
            case ex.Negative(of):
                negative = not negative
                waiting.insert(0, of)
            case ex.Quotient(over, under):
                waiting.insert(0, over)
                divisors.append(under)
            case ex.Number() as number if number.value == 1:
                pass
            case factor:
                flat.append(factor)
    for divisor in list(divisors):
        if divisor in flat:  # c × a / c is a
            flat.remove(divisor)
            divisors.remove(divisor)
    constants = [factor for factor in flat if isinstance(factor, ex.Number)]
    if len(constants) > 1:
        known = Decimal(1)
        for constant in constants:
            known *= constant.value
        flat = [ex.Number(known), *(f for f in flat if not isinstance(f, ex.Number))]
    result = _product(flat)
    if divisors:
        result = ex.Quotient(result, _product(divisors))
    return ex.Negative(result) if negative else result


def _product(factors: list[ex.Expression]) -> ex.Expression:
    if not factors:
        return ONE
    return factors[0] if len(factors) == 1 else ex.Product(tuple(factors))


def _sum(terms: list[ex.Expression]) -> ex.Expression | None:
    """Return a sum whose worked out terms are shown as numbers."""
    if len(terms) < 2:
        return terms[0] if terms else None
    first, *others = [
        term if isinstance(term, ex.Number | ex.Operand) else _part(term) for term in terms
    ]
    if len(others) == 1 and isinstance(others[0], ex.Negative):
        return ex.Difference(first, others[0].of)
    return ex.Sum((first, *others))


def _part(term: ex.Expression) -> ex.Expression:
    if isinstance(term, ex.Negative):
        return ex.Negative(_part(term.of))
    return term if isinstance(term, ex.Part) else ex.Part(term)


def _minus(e: ex.Expression | None) -> ex.Expression | None:
    return e.of if isinstance(e, ex.Negative) else e and ex.Negative(e)


def _plain(e: ex.Expression) -> ex.Expression:
    """Return a denominator as it is written when it is squared: without its subtotal."""
    return e.of if isinstance(e, ex.Subtotal) else e
