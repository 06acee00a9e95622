"""Series of which an ellipsis leaves terms out: 1 + 2 + … + 100."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from tracer.audit.reading import expression as ex

MOST_TERMS = 1000
"""A series of powers with more terms is not read."""


def sums(before: Sequence[ex.Expression], after: Sequence[ex.Expression]) -> list[ex.Expression]:
    """Return the sum as each kind of series that the terms fit, from none to two.

    The terms are whole numbers, or their powers with the same exponent: 1² + 2² + … + 10².
    """
    exponent = before[0].exponent if isinstance(before[0], ex.Power) else None
    bases = [_base(term, exponent) for term in (*before, *after)]
    numbers = [base for base in bases if isinstance(base, ex.Number) and base.is_whole]
    if len(numbers) < len(bases) or len(before) < 2 or not after:
        return []
    values = [int(number.value) for number in numbers]
    place = len(before)
    if exponent is not None:
        step = _step(values, place)
        count = abs(values[-1] - values[0]) // abs(step) + 1 if step else MOST_TERMS + 1
        if count > MOST_TERMS:
            return []
        every = range(values[0], values[-1] + (1 if step > 0 else -1), step)
        return [ex.Sum(tuple(ex.Power(_whole(n, numbers[0]), exponent) for n in every))]
    return [*_arithmetic(values, place, numbers[0]), *_geometric(values, place, numbers[0])]


def _base(term: ex.Expression, exponent: ex.Expression | None) -> ex.Expression:
    """Return the base of a power with this exponent; any other term as it is."""
    match term:
        case ex.Power(base, ex.Number(value)) if (
            isinstance(exponent, ex.Number) and value == exponent.value
        ):
            return base
    return term


def _step(values: Sequence[int], place: int) -> int:
    """Return the difference between neighbors, terms left out before `place`; 0 if it varies."""
    step = values[1] - values[0]
    if not step or (values[place] - values[place - 1]) % step:
        return 0
    steps = [b - a for i, (a, b) in enumerate(pairwise(values), 1) if i != place]
    follows = (values[place] - values[place - 1]) // step > 0
    return step if follows and all(each == step for each in steps) else 0


def _arithmetic(values: Sequence[int], place: int, like: ex.Number) -> list[ex.Expression]:
    """Return n · (first + last) / 2 if the terms have equal differences."""
    step = _step(values, place)
    if not step:
        return []
    first, last = _whole(values[0], like), _whole(values[-1], like)
    count = _whole((values[-1] - values[0]) // step + 1, like)
    two = _whole(2, like)
    return [ex.Product((("*", count), ("*", ex.Sum((first, last))), ("/", two)))]


def _geometric(values: Sequence[int], place: int, like: ex.Number) -> list[ex.Expression]:
    """Return (last · ratio - first) / (ratio - 1) if the terms have equal quotients."""
    ratio = values[1] // values[0] if values[0] > 0 else 0
    if ratio < 2:
        return []
    for i, (a, b) in enumerate(pairwise(values), 1):
        while i == place and a * ratio < b:
            a *= ratio
        if a * ratio != b:
            return []
    total = (values[-1] * ratio - values[0]) // (ratio - 1)
    return [ex.Sum((_whole(total - values[-1], like), _whole(values[-1], like)))]


def _whole(value: int, like: ex.Number) -> ex.Number:
    return ex.Number(Decimal(value), str(value), like.start, like.end)
