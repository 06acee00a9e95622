"""A scenario with other parameters, as after training."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.formula.numbers import as_decimal, trimmed
from tracer.scenario.fields import LARGEST, MOST_DIGITS, SMALLEST
from tracer.scenario.model import Scenario
from tracer.scenario.parts import address, map_numbers, with_numbers, with_own_norms
from tracer.scenario.reader import YamlPath


def with_parameters(scenario: Scenario, new: Mapping[YamlPath, Any]) -> Scenario:
    """Return the scenario with other numbers, arrays or nested rows, at some places.

    Numbers keep at most the digits that can be typed; too small ones become 0. The norm of a
    layer is copied to its sub-layers.

    Raises:
        TracerError: a number is larger than a scenario allows.
    """
    typed = dict[YamlPath, Any]()
    for place, numbers in new.items():
        try:
            typed[place] = map_numbers(numbers, _typed)
        except OverflowError:
            message = "the new numbers are too large; a lower learning rate may help"
            raise TracerError(Problem(message, address=address(place), yaml_path=place)) from None
    found = with_numbers(with_own_norms(scenario), lambda each: typed.get(each.place, each.value))
    return tied(found) if found.is_tied else found


def _typed(number: Any) -> Decimal:
    """Return a number as it would be typed; an OverflowError if it is out of range."""
    exact = as_decimal(number)
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
    assert scenario.unembedding is not None
    w_u = tuple(zip(*columns, strict=True))
    unembedding = scenario.unembedding.model_copy(update={"W_U": w_u})
    return scenario.model_copy(update={"unembedding": unembedding})
