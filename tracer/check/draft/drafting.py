"""Draft the figures file of a text."""

from __future__ import annotations

from pathlib import Path

from tracer.check.draft.candidates import Candidates
from tracer.check.draft.matching import matched
from tracer.check.draft.reading import groups
from tracer.check.draft.writing import figures_text
from tracer.check.figures import Passes
from tracer.check.listed import Listed
from tracer.decoder.roles import LOSS
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.scenario.loading import Loaded


def draft(loaded: Loaded, path: Path) -> str:
    """Return a figures file of the text at a path: its numbers that a pass computes.

    Raises:
        TracerError: the text cannot be read, or none of its numbers is found.
    """
    every = groups(path.name, read_file(path))
    scenario = loaded.scenario
    has_loss = bool(scenario.training or scenario.targets)
    passes = Passes([LOSS.name] if has_loss else [], loaded)
    within = passes.of(Listed(address=LOSS.name if has_loss else "input", printed="0"))
    found = matched(every, Candidates(within)) if scenario.has_numbers else []
    if not found:
        numbers = "the scenario has shapes but no numbers"
        if scenario.has_numbers:
            numbers = "no number of this text is found among the scenario's values"
        raise TracerError(Problem(numbers, str(path)))
    return figures_text(path.name, found, every)
