"""A scenario that is easy to calculate: small whole numbers, one head, no computed positions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tracer.scenario.carry import Carry
from tracer.scenario.layers import Attention
from tracer.scenario.model import Scenario, Tower
from tracer.scenario.norms import Normalization
from tracer.scenario.parts import map_numbers, parts_of, with_numbers, with_parts
from tracer.scenario.reader import YamlPath
from tracer.scenario.rounding import Rounding, Zeros
from tracer.scenario.varying import redrawn

SMALL = tuple(map(Decimal, (-1, 0, 0, 1, 0, 1)))
"""What numbers are drawn from."""
DECIMALS = 2


def easy(scenario: Scenario, seed: str) -> Scenario:
    """Return the scenario with small whole numbers, and rounded to few decimals.

    Numbers that are all the same become the next whole number. Positions that are computed are
    left out. The same seed gives the same scenario.
    """
    rounding = Rounding(decimals=DECIMALS, carry=Carry.LINE, trailing_zeros=Zeros.TRIM)
    settings = {"rounding": rounding, "arithmetic": "decimal"}
    drawn = redrawn(with_parts(scenario, _without_positions), seed, _small)
    whole = with_numbers(
        drawn, lambda each: map_numbers(each.value, _whole) if each.value else each.value
    )
    return whole.model_copy(update=settings)


def with_one_head(scenario: Scenario) -> Scenario:
    """Return the scenario with the first head of each attention, where its rows of W_O are known.

    An attention with a norm inside keeps its heads: the norm can span them.
    """
    return with_parts(scenario, _with_first_head)


def _with_first_head(place: YamlPath, part: Any) -> Any:
    if not isinstance(part, Attention) or len(part.heads) == 1 or not isinstance(part.W_O, tuple):
        return part
    around = ("norm", "norm_after")
    inside = [way[-1] for way, inner in parts_of(part) if isinstance(inner, Normalization) and way]
    first = part.heads[0]
    values = first.W_V if first.V is None else first.V
    if any(name not in around for name in inside) or not isinstance(values, tuple):
        return part
    return part.model_copy(update={"heads": (first,), "W_O": part.W_O[: len(values[0])]})


def _without_positions(place: YamlPath, part: Any) -> Any:
    computed = isinstance(part, Tower) and part.positions and part.positions.table is None
    return part.model_copy(update={"positions": None}) if computed else part


def _small(
    smallest: Decimal, largest: Decimal, drawn: Callable[[], float]
) -> Callable[[Decimal], Decimal]:
    """Return a function that draws a small whole number; what is infinite stays."""
    return lambda old: SMALL[int(drawn() * len(SMALL))] if old.is_finite() else old


def _whole(number: Decimal) -> Decimal:
    return number.to_integral_value() if number.is_finite() else number
