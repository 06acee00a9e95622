"""A scenario with other parameters, as after training."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.formula.numbers import trimmed
from tracer.scenario.fields import LARGEST, MOST_DIGITS, SMALLEST
from tracer.scenario.model import Scenario
from tracer.scenario.parts import address, map_numbers, with_own_norms, with_part
from tracer.scenario.reader import YamlPath


def with_parameters(scenario: Scenario, new: Mapping[YamlPath, Any]) -> Scenario:
    """Return the scenario with other numbers, arrays or nested rows, at some places.

    Numbers keep at most the digits that can be typed; too small ones become 0. The norm of a
    layer is copied to its sub-layers.

    Raises:
        TracerError: a number is larger than a scenario allows.
    """
    found: Any = with_own_norms(scenario)
    for way, numbers in new.items():
        try:
            found = with_part(found, way, map_numbers(numbers, _typed))
        except OverflowError:
            message = "the new numbers are too large; a lower learning rate may help"
            raise TracerError(Problem(message, address=address(way), yaml_path=way)) from None
    assert isinstance(found, Scenario)
    return tied(found) if found.is_tied else found


def _typed(number: Any) -> Decimal:
    """Return a number as it would be typed; an OverflowError if it is out of range."""
    exact = number if isinstance(number, Decimal) else Decimal(repr(float(number)))
    if abs(exact) > LARGEST:
        raise OverflowError
    if abs(exact) < SMALLEST:
        return Decimal(0)
    digits = len(exact.as_tuple().digits)
    if digits > MOST_DIGITS:
        exact = round(exact, MOST_DIGITS - 1 - exact.adjusted())
    return trimmed(exact)


def tied(scenario: Scenario) -> Scenario:
    """Return the tied unembedding for the current embeddings."""
    table: Any = scenario.embeddings
    columns = [table[word] for word in scenario.vocabulary or ()]
    found = with_part(scenario, ("unembedding", "W_U"), tuple(zip(*columns, strict=True)))
    assert isinstance(found, Scenario)
    return found
