"""A scenario of the same form with other numbers."""

from __future__ import annotations

from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.loss import has_loss
from tracer.decoder.roles import LOGITS, SCORES
from tracer.errors import Problem, TracerError
from tracer.scenario.easy import easy, with_one_head
from tracer.scenario.model import Scenario
from tracer.scenario.varying import varied

TRIES = 20
"""The most attempts for one seed."""
LARGE_SCORE = 3.5
"""Up to this size of its scores, a softmax has no tiny weights."""


def variant(name: str, scenario: Scenario, seed: int) -> Scenario:
    """Return the first variant of a seed that can be computed; its title contains the seed.

    Raises:
        TracerError: there is none, or the numbers are not typed.
    """
    if scenario.on_demand or not scenario.has_numbers:
        message = "only numbers typed in the scenario can be varied, and it has none"
        raise TracerError(Problem(message, address="--vary"))
    title = f"{scenario.title} (variant {seed})"
    titled = scenario.without_words().model_copy(update={"title": title})
    for attempt in range(TRIES):
        other = varied(titled, f"{seed} {attempt}")
        if _can_be_worked_out(name, other):
            return other
    message = f"no variant of seed {seed} gives a result, expected another seed"
    raise TracerError(Problem(message, address="--vary"))


def easy_variant(name: str, scenario: Scenario, seed: str) -> Scenario:
    """Return an easy variant of a scenario: whole numbers, with scores that are not too large.

    It has one head, unless only all heads together give a result.

    Raises:
        TracerError: there is none, or the numbers are not typed.
    """
    if scenario.on_demand or not scenario.has_numbers:
        message = "level 1 draws numbers typed in the scenario, and it has none"
        raise TracerError(Problem(message, address="--level"))
    title = f"{scenario.title}, with whole numbers"
    plain = scenario.without_words().model_copy(update={"title": title})
    for base in (with_one_head(plain), plain):
        best: tuple[float, Scenario] | None = None
        for attempt in range(TRIES):
            drawn = easy(base, f"{seed} {attempt}")
            largest = _largest_score(name, drawn)
            if largest is not None and (best is None or largest < best[0]):
                best = (largest, drawn)
            if best and best[0] <= LARGE_SCORE:
                break
        if best:
            return best[1]
    raise TracerError(Problem("no easy variant gives a result", address="--level"))


def _largest_score(name: str, scenario: Scenario) -> float | None:
    """Return the largest attention score or logit; None if the scenario has no result."""
    try:
        found = trace(name, scenario)
    except TracerError:
        return None
    shown = (value for value in found.values.values() if value.role in (SCORES, LOGITS))
    return max((float(abs(value.array).max(initial=0)) for value in shown), default=0.0)


def _can_be_worked_out(name: str, scenario: Scenario) -> bool:
    examples = [scenario.reading_example(example) for example in scenario.training]
    try:
        for read in (scenario, *examples):
            trace(name, read, PassOptions(loss=has_loss(read)))
    except TracerError:
        return False
    return True
