"""Sizes that look like products: 2×3 @ 3×4 = 2×4."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

_SQUARE = re.compile(r"\s*(\d)[x×]\1\s*")


def are_shapes(pair: Pair) -> bool:
    """Return whether sizes are combined: 2×3 @ 3×4 = 2×4."""
    if any(_has_matrix_product(side) for side in (pair.left, pair.right)):
        return True
    if _SQUARE.fullmatch(pair.sources[0]) and pair.before.rstrip()[-1:].isalpha():
        return True
    sizes, others = _factors(pair.left), _factors(pair.right)
    return pair.is_whole and bool(others) and others <= sizes


def _factors(side: ex.Expression) -> set[Decimal]:
    """Return the factors of a product of numbers, else nothing."""
    factors = side.factors if isinstance(side, ex.Product) else ()
    found = {of.value for sign, of in factors if sign == "*" and isinstance(of, ex.Number)}
    is_of_numbers = all(sign == "*" and isinstance(of, ex.Number) for sign, of in factors)
    return found if is_of_numbers else set()


def _has_matrix_product(side: ex.Expression) -> bool:
    return any(
        isinstance(part, ex.Product)
        and any(sign == "@" for sign, _ in part.factors)
        and not any(isinstance(of, ex.Vector) for of in ex.every(part))
        for part in ex.every(side)
    )
