"""Angles that are equal in another unit, or up to whole or half turns."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging import readings
from tracer.audit.judging.intervals import PI
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.vocabulary import ANGLES

_LARGEST = 100_000
"""Nobody turns as often as larger angles do."""


def are_angles(pair: Pair) -> bool:
    """Return whether it holds with 180 for π, or up to whole turns: 0 = 2π, 270° = -90°."""
    calls = {part.name for part in pair.parts if isinstance(part, ex.Call)}
    if calls & ANGLES:
        return _may_be_of_another_quadrant(pair)
    one, other = pair.found.computed, pair.found.printed
    if one is not None and re.search(r"°|\\circ|\\degree", pair.sources[1]):
        return abs(one - other) < _LARGEST and (one - other) % 360 == 0
    if not ("degrees" in calls or ex.Constant("π") in pair.parts):
        return False
    if one is None or pair.holds_as(readings.degrees):
        return one is not None
    return abs(one - other) < 200 * PI and _is_whole((one - other) / (2 * PI), Decimal("1e-9"))


def _may_be_of_another_quadrant(pair: Pair) -> bool:
    """Return whether another angle has the same sine or tangent: arctan(-1) = 135°."""
    one, other = pair.found.computed, pair.found.printed
    half = Decimal(180) if pair.found.meaning.turn == "degrees" else PI
    return one is not None and any(
        _is_whole(apart / half, Decimal("0.001")) for apart in (one - other, one + other)
    )


def _is_whole(number: Decimal, tolerance: Decimal) -> bool:
    return abs(number - round(number)) < tolerance
