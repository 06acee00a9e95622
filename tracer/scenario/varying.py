"""A variant of a scenario: the same structure with other random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

from tracer.scenario.model import Scenario
from tracer.scenario.parts import Numbers, map_numbers, with_numbers
from tracer.scenario.replacing import tied

Draws: TypeAlias = Callable[[Decimal, Decimal, Callable[[], float]], Callable[[Decimal], Decimal]]
"""Returns what draws a number for another, of the smallest and the largest of its matrix."""

MOST_DRAWS = 100
"""The most draws for one matrix; one with few small numbers may always have a zero column."""


def varied(scenario: Scenario, seed: str) -> Scenario:
    """Return the scenario with other embeddings, weights, biases and given numbers.

    Each is drawn evenly between the smallest and the largest number of its matrix, with as many
    decimals as the old number. Equal numbers stay as they are; other matrices do not become
    constant and get no row or column of zeros. The same seed gives the same scenario.
    """
    return redrawn(scenario, seed, _between)


def redrawn(scenario: Scenario, seed: str, draws: Draws) -> Scenario:
    """Return the scenario with numbers that are drawn, except for a table of positions."""

    def other(each: Numbers) -> Any:
        if not each.value or "positions" in each.place:
            return each.value
        if each.place == ("given",):
            return {name: drawn(f"given.{name}", rows) for name, rows in each.value.items()}
        return drawn("".join(f".{step}" for step in each.place), each.value)

    def drawn(address: str, numbers: Any) -> Any:
        # Python guarantees the same numbers in every version only for `random()`.
        return _other_numbers(numbers, draws, Random(f"{seed} {address}").random)

    found = with_numbers(scenario, other)
    return tied(found) if found.is_tied else found


def _other_numbers(numbers: Any, draws: Draws, drawn: Callable[[], float]) -> Any:
    """Return other numbers for rows, or rows by token."""
    every = [number for number in _each(numbers) if number.is_finite()]
    if len(set(every)) < 2:
        return numbers
    draw = draws(min(every), max(every), drawn)
    other = numbers
    for _ in range(MOST_DRAWS):
        other = map_numbers(numbers, draw)
        if _is_as_rich(other, numbers):
            break
    return other


def _is_as_rich(other: Any, numbers: Any) -> bool:
    """Return whether new rows are not constant and have no more zero rows or columns."""
    has_zeros = _has_line_of_zeros(other) and not _has_line_of_zeros(numbers)
    return len(set(_each(other))) > 1 and not has_zeros


def _has_line_of_zeros(numbers: Any) -> bool:
    rows = tuple(numbers.values()) if isinstance(numbers, Mapping) else numbers
    if not isinstance(rows, tuple) or not all(isinstance(row, tuple) for row in rows):
        return False
    lines = (*rows, *zip(*rows, strict=True))
    return not all(any(line) for line in lines if len(line) > 1)


def _each(numbers: Any) -> Iterator[Decimal]:
    """Yield the numbers of rows; none for an array of another program."""
    if isinstance(numbers, Decimal):
        yield numbers
    elif isinstance(numbers, Mapping | tuple):
        for each in numbers.values() if isinstance(numbers, Mapping) else numbers:
            yield from _each(each)


def _between(
    smallest: Decimal, largest: Decimal, drawn: Callable[[], float]
) -> Callable[[Decimal], Decimal]:
    """Return a function that draws a number with the decimals of another, if any fits."""

    def other(number: Decimal) -> Decimal:
        if not number.is_finite():
            return number
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        step = Decimal(1).scaleb(exponent)
        first, last = math.ceil(smallest / step), math.floor(largest / step)
        return (first + int(drawn() * (last - first + 1))) * step if first <= last else number

    return other
