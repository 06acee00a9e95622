"""Draft the figures file of a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracer.check.draft.candidates import Candidates
from tracer.check.draft.matching import Match, matched
from tracer.check.draft.reading import groups
from tracer.check.draft.writing import figures_text
from tracer.check.figures import Passes
from tracer.decoder.roles import LOSS
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.scenario.loading import Loaded
from tracer.scenario.model import GRADIENT, UPDATE

TRAINED = (GRADIENT, UPDATE)
"""The addresses of what training computes begin so."""
MOST_EXAMPLES = 4
"""So many training examples are searched."""


def draft(loaded: Loaded, path: Path) -> str:
    """Return a figures file of the text at a path: its numbers that a pass computes.

    Raises:
        TracerError: the text cannot be read, or none of its numbers is found.
    """
    every = groups(path.name, read_file(path))
    found, left = list[Match](), every
    for candidates in all_candidates(loaded) if loaded.scenario.has_numbers else ():
        found += matched(left, candidates)
        placed = {id(match.group) for match in found}
        left = [group for group in left if id(group) not in placed]
    if not found:
        reason = "the scenario has shapes but no numbers"
        if loaded.scenario.has_numbers:
            reason = "no number of this text is found among the scenario's values"
        raise TracerError(Problem(reason, str(path)))
    return figures_text(path.name, sorted(found, key=lambda match: match.line), every)


def all_candidates(loaded: Loaded) -> Iterator[Candidates]:
    """Yield the values that a text may print: of the pass, of training examples, of training."""
    scenario = loaded.scenario
    has_loss = bool(scenario.training or scenario.targets)
    passes = Passes([LOSS.name, *TRAINED] if has_loss else [], loaded)
    yield Candidates(passes.plain)
    for example in range(1, min(len(scenario.training), MOST_EXAMPLES) + 1):
        yield Candidates(passes.of(LOSS.name, example), example)
    if has_loss:
        yield Candidates(passes.of(TRAINED[0]), prefixes=TRAINED)
