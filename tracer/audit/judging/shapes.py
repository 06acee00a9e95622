"""Sizes that look like products: 2×3 @ 3×4 = 2×4."""

from __future__ import annotations

import re

from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

_SQUARE = re.compile(r"\s*(\d)[x×]\1\s*")


def are_shapes(pair: Pair) -> bool:
    """Return whether sizes are combined: 2×3 @ 3×4 = 2×4."""
    if any(_has_matrix_product(side) for side in (pair.left, pair.right)):
        return True
    if _SQUARE.fullmatch(pair.sources[0]) and pair.before.rstrip()[-1:].isalpha():
        return True
    one, other = pair.left, pair.right
    if not (isinstance(one, ex.Product) and isinstance(other, ex.Product) and pair.is_whole):
        return False
    sizes = [number.value for number in ex.numbers(one)]
    return all(number.value in sizes for number in ex.numbers(other))


def _has_matrix_product(side: ex.Expression) -> bool:
    return any(
        isinstance(part, ex.Product)
        and any(sign == "@" for sign, _ in part.factors)
        and not any(isinstance(of, ex.Vector) for of in ex.every(part))
        for part in ex.every(side)
    )
