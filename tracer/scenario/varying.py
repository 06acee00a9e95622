"""Another scenario of the same form: other numbers, drawn by a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from random import Random
from typing import Any

from tracer.scenario.model import Scenario
from tracer.scenario.parts import changed, parameters, with_part
from tracer.scenario.replacing import tied

NOT_LEARNED = ("vectors", "given")
"""Keys whose numbers are drawn anew, beside those of parameters."""

MOST_DRAWS = 100
"""A matrix of many columns, each of a few small numbers, may have one of zeros however often."""


def varied(scenario: Scenario, seed: str) -> Scenario:
    """The scenario with other embeddings, weights, biases and given numbers.

    Each is drawn evenly between the smallest and the largest of its matrix, with as many decimals
    as the one in its place; not all of them alike, unless they were: those stay; and no row or
    column of zeros, unless there was one. The same seed gives the same.
    """
    other: Any = scenario
    for place, numbers in parameters(scenario, also=NOT_LEARNED):
        if "positions" not in place:
            address = "".join(f".{step}" for step in place)  # each has a sequence of its own
            other = with_part(other, place, _drawn(numbers, address, seed))
    assert isinstance(other, Scenario)
    return tied(other) if other.is_tied else other


def _drawn(numbers: Any, address: str, seed: str) -> Any:
    """Other numbers in place of rows, of rows by token, or of values by address."""
    if address == ".given":
        return {name: _drawn(each, f"given.{name}", seed) for name, each in numbers.items()}
    every = [number for number in _each(numbers) if number.is_finite()]
    if len(set(every)) < 2:
        return numbers
    # `random()` alone is promised to give the same numbers in every version of Python.
    between = _between(min(every), max(every), Random(f"{seed} {address}").random)
    other = numbers
    for _ in range(MOST_DRAWS):
        other = changed(numbers, between)
        if _is_as_rich(other, numbers):
            break
    return other


def _is_as_rich(other: Any, numbers: Any) -> bool:
    """Whether not all numbers are alike, and no row or column is 0, if none was."""
    has_zeros = _has_line_of_zeros(other) and not _has_line_of_zeros(numbers)
    return len(set(_each(other))) > 1 and not has_zeros


def _has_line_of_zeros(numbers: Any) -> bool:
    rows = tuple(numbers.values()) if isinstance(numbers, Mapping) else numbers
    if not isinstance(rows, tuple) or not all(isinstance(row, tuple) for row in rows):
        return False
    lines = (*rows, *zip(*rows, strict=True))
    return not all(any(line) for line in lines if len(line) > 1)


def _each(numbers: Any) -> Iterator[Decimal]:
    """The numbers of rows; an array, which another program has computed, has none to be drawn."""
    if isinstance(numbers, Decimal):
        yield numbers
    elif isinstance(numbers, Mapping | tuple):
        for each in numbers.values() if isinstance(numbers, Mapping) else numbers:
            yield from _each(each)


def _between(
    smallest: Decimal, largest: Decimal, drawn: Callable[[], float]
) -> Callable[[Decimal], Decimal]:
    """What draws a number with as many decimals as another has; where none fits it stays."""

    def other(number: Decimal) -> Decimal:
        if not number.is_finite():
            return number
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        step = Decimal(1).scaleb(exponent)
        first, last = math.ceil(smallest / step), math.floor(largest / step)
        return (first + int(drawn() * (last - first + 1))) * step if first <= last else number

    return other
