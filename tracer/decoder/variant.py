"""A scenario of the same form with other numbers."""

from __future__ import annotations

from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.loss import has_loss
from tracer.errors import Problem, TracerError
from tracer.scenario.model import Scenario
from tracer.scenario.varying import varied

TRIES = 20
"""The most attempts for one seed."""


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


def _can_be_worked_out(name: str, scenario: Scenario) -> bool:
    examples = [scenario.reading_example(example) for example in scenario.training]
    try:
        for read in (scenario, *examples):
            trace(name, read, PassOptions(loss=has_loss(read)))
    except TracerError:
        return False
    return True
