"""Readings in another order: 6/2(3) as 6/(2·3), -2² as (-2)², sin π/6 as sin (π/6)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from tracer.audit.judging.readings import Sides
from tracer.audit.reading import expression as ex


def orders(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read an expression in every order that its writer may have meant."""
    for of in (_squared, _divided, _of_fractions, _split, _called, _in_all_ways):
        one, other = ex.mapped(left, of), ex.mapped(right, of)
        yield one, other
        if one is not left and other is not right:
            yield from ((one, right), (left, other))


def _in_all_ways(part: ex.Expression) -> ex.Expression:
    for of in (_squared, _divided, _split, _called):
        part = of(part)
    return part


def _squared(part: ex.Expression) -> ex.Expression:
    """Read -2² as (-2)²."""
    match part:
        case ex.Negative(ex.Power(base, exponent)):
            return ex.Power(ex.Negative(base), exponent)
    return part


def _divided(part: ex.Expression) -> ex.Expression:
    """Read 8960 / 2*2 as 8960 / (2*2), and 5 / 1/6 as 5 / (1/6)."""
    match part:
        case ex.Product(factors):
            signs = [sign for sign, _ in factors]
            if "/" in signs and (at := signs.index("/")) < len(factors) - 1:
                divisor = ex.Product((("*", factors[at][1]), *factors[at + 1 :]))
                return ex.Product((*factors[:at], ("/", divisor)))
    return part


def _of_fractions(part: ex.Expression) -> ex.Expression:
    """Read 1/2 ÷ 3/2 as (1/2) ÷ (3/2)."""
    match part:
        case ex.Product((over, ("/", under), ("/", second), ("/", divisor))):
            one = ex.Product((over, ("/", under)))
            other = ex.Product((("*", second), ("/", divisor)))
            return ex.Product((("*", one), ("/", other)))
    return part


def _split(part: ex.Expression) -> ex.Expression:
    """Read 6 / 2×10³ as 6 / 2 · 10³."""
    match part:
        case ex.Product(factors):
            read = list[tuple[str, ex.Expression]]()
            for sign, of in factors:
                if sign == "/" and isinstance(of, ex.Number) and "e" in of.printed:
                    digits, _, power = of.printed.partition("e")
                    mantissa = ex.Number(Decimal(digits), digits, of.start, of.end)
                    ten = ex.Number(Decimal(10) ** int(power), f"1e{power}", of.start, of.end)
                    read += [("/", mantissa), ("*", ten)]
                else:
                    read.append((sign, of))
            return ex.Product(tuple(read)) if len(read) > len(factors) else part
    return part


def _called(part: ex.Expression) -> ex.Expression:
    """Read sin π/6 as sin (π/6)."""
    match part:
        case ex.Product((("*", ex.Call(name, (argument,))), *others)) if others:
            return ex.Call(name, (ex.Product((("*", argument), *others)),))
    return part


def long_divisors(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 8960 / 2*2 as 8960 / (2*2)."""

    def of(part: ex.Expression) -> ex.Expression:
        match part:
            case ex.Product((*over, ("/", divisor), ("*", last))):
                return ex.Product((*over, ("/", ex.Product((("*", divisor), ("*", last))))))
        return part

    yield ex.mapped(left, of), ex.mapped(right, of)


def left_to_right(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 81 + 40 * 27 as (81 + 40) * 27."""
    one, other = _in_order(left), _in_order(right)
    if one or other:
        yield one or left, other or right


def _in_order(side: ex.Expression) -> ex.Expression | None:
    """Return a sum of numbers and their products as computed from left to right, else None."""
    if not isinstance(side, ex.Sum) or not any(map(_is_product, side.terms)):
        return None
    total: ex.Expression | None = None
    for term in side.terms:
        of = term.of if isinstance(term, ex.Negative) else term
        match of:
            case ex.Product((("*", ex.Negative(first)), *others)):  # 3 - 1/2
                term = ex.Negative(of := ex.Product((("*", first), *others)))
        factors = of.factors if isinstance(of, ex.Product) else (("*", of),)
        if not all(isinstance(factor, ex.Number) for _, factor in factors):
            return None
        first = ex.Negative(factors[0][1]) if of is not term else factors[0][1]
        total = first if total is None else ex.Sum((total, first))
        if len(factors) > 1:
            total = ex.Product((("*", total), *factors[1:]))
    return total


def _is_product(term: ex.Expression) -> bool:
    return isinstance(term.of if isinstance(term, ex.Negative) else term, ex.Product)
