"""A scenario with other parameters: what training makes of one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.formula.numbers import trimmed
from tracer.scenario.fields import LARGEST, MOST_DIGITS, SMALLEST
from tracer.scenario.model import Scenario
from tracer.scenario.parts import address, changed, with_own_norms, with_part
from tracer.scenario.reader import YamlPath


def with_parameters(scenario: Scenario, new: Mapping[YamlPath, Any]) -> Scenario:
    """The scenario with other numbers at some places: arrays or nested rows.

    They keep no more digits than typed ones have, and are 0 where those would be too small. A norm
    that a layer says for all its sub-layers becomes one of each.

    Raises:
        TracerError: a number is larger than a scenario can say.
    """
    found: Any = with_own_norms(scenario)
    for way, numbers in new.items():
        try:
            found = with_part(found, way, changed(numbers, _typed))
        except OverflowError:
            message = "the new numbers are too large; a lower learning rate may help"
            raise TracerError(Problem(message, address=address(way), yaml_path=way)) from None
    assert isinstance(found, Scenario)
    return tied(found) if found.is_tied else found


def _typed(number: Any) -> Decimal:
    """As if somebody had typed it; an OverflowError where nobody could."""
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
    """The unembedding as the embeddings say it now."""
    table: Any = scenario.embeddings
    columns = [table[word] for word in scenario.vocabulary or ()]
    found = with_part(scenario, ("unembedding", "W_U"), tuple(zip(*columns, strict=True)))
    assert isinstance(found, Scenario)
    return found
