"""Plain arithmetic: sums, products and powers of numbers, computed without intervals."""

from __future__ import annotations

from decimal import Decimal

from tracer.audit.judging.intervals import LARGEST_EXPONENT
from tracer.audit.reading import expression as ex


def value(expression: ex.Expression) -> Decimal | None:
    """Return the value of plain arithmetic; None for any other expression, and for x/0.

    Raises:
        ArithmeticError: it is too large.
    """
    match expression:
        case ex.Number(number):
            return number
        case ex.Negative(of):
            part = value(of)
            return None if part is None else -part
        case ex.Sum(terms):
            total = Decimal(0)
            for term in terms:
                if (part := value(term)) is None:
                    return None
                total += part
            return total
        case ex.Product(factors):
            result = Decimal(1)
            for sign, factor in factors:
                if (part := value(factor)) is None or (sign == "/" and not part):
                    return None
                result = result / part if sign == "/" else result * part
            return result
        case ex.Power(base, ex.Number(exponent) as power) if power.is_whole and (
            0 < exponent <= LARGEST_EXPONENT
        ):
            part = value(base)
            return None if part is None else part ** int(exponent)
    return None
