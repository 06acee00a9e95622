"""A scenario with other parameters: what training makes of one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.scenario.fields import LARGEST, MOST_DIGITS, SMALLEST
from tracer.scenario.model import Scenario
from tracer.scenario.parts import address, with_own_norms
from tracer.scenario.rounding import trimmed

Way = tuple[int | str, ...]
"""Where in a scenario a parameter stands: ("layers", 0, "ffn", "W_1")."""


def with_parameters(scenario: Scenario, new: Mapping[Way, Any]) -> Scenario:
    """The scenario with other numbers at some places: arrays or nested rows.

    They keep no more digits than typed ones have, and are 0 where those would be too small. A norm
    that a layer says for all its sub-layers becomes one of each.

    Raises:
        TracerError: a number is larger than a scenario can say.
    """
    changed: Any = with_own_norms(scenario)
    for way, numbers in new.items():
        try:
            changed = _replaced(changed, way, _typed(numbers))
        except OverflowError:
            message = "the new numbers are too large; a lower learning rate may help"
            raise TracerError(Problem(message, address=address(way), way=way)) from None
    assert isinstance(changed, Scenario)
    return tied(changed) if changed.is_tied else changed


def _replaced(whole: Any, way: Way, new: Any) -> Any:
    """The whole with another part at a place."""
    if not way:
        return new
    step, rest = way[0], way[1:]
    match whole:
        case Mapping():
            return {**whole, step: _replaced(whole[step], rest, new)}
        case tuple():
            assert isinstance(step, int)
            return (*whole[:step], _replaced(whole[step], rest, new), *whole[step + 1 :])
        case _:
            part = _replaced(getattr(whole, str(step)), rest, new)
            return whole.model_copy(update={step: part})


def _typed(numbers: Any) -> Any:
    """Rows of Decimals, as if somebody had typed them; an OverflowError where nobody could."""
    if isinstance(numbers, Mapping):
        return {word: _typed(row) for word, row in numbers.items()}
    if isinstance(numbers, Decimal | float):
        exact = numbers if isinstance(numbers, Decimal) else Decimal(repr(float(numbers)))
        if abs(exact) > LARGEST:
            raise OverflowError
        if abs(exact) < SMALLEST:
            return Decimal(0)
        digits = len(exact.as_tuple().digits)
        if digits > MOST_DIGITS:
            exact = round(exact, MOST_DIGITS - 1 - exact.adjusted())
        return trimmed(exact)
    return tuple(map(_typed, numbers))


def tied(scenario: Scenario) -> Scenario:
    """The unembedding as the embeddings say it now."""
    table: Any = scenario.embeddings
    columns = [table[word] for word in scenario.vocabulary or ()]
    changed = _replaced(scenario, ("unembedding", "W_U"), tuple(zip(*columns, strict=True)))
    assert isinstance(changed, Scenario)
    return changed
