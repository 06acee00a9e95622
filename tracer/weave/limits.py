"""Limits for the marks of one file, so that untrusted Markdown cannot exhaust time or memory.

They are generous: a chapter needs far less.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tracer.decoder.variant import TRIES
from tracer.errors import Problem, TracerError
from tracer.requests.cost import LimitError
from tracer.requests.resolve import Engine, Subject
from tracer.scenario.loading import STANDARD_INPUT, Loaded
from tracer.tokenization.learning import symbols_to_read

MOST_MARKS = 2_000
LONGEST_MARK = 10_000
"""Characters of one mark, its pinned values included."""
MOST_BYTES = 20_000_000
"""Bytes of scenarios; a scenario counts each time it is read."""
MOST_PRODUCTS = 20_000_000
"""Products of two numbers, in all passes and in all texts about a pass."""
LOADED = 5
"""The cost of a value when its scenario is loaded, in products."""
MOST_NUMBERS = 100_000_000
"""Floats kept from all passes, which later marks may use."""
MOST_CHARACTERS = 10_000_000
"""Characters of output."""


class LimitedEngine(Engine):
    """Computes what the marks of a file request, within the limits of the file."""

    text = 1

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.used = Counter[str]()

    def write(self, output: str) -> None:
        """Allow for an output.

        Raises:
            LimitError: too much is written.
        """
        self._use("characters", len(output), MOST_CHARACTERS, "an output of")

    def _spend(self, subject: Subject, products: int, numbers: int) -> None:
        self._use("products", products, MOST_PRODUCTS)
        self._use("numbers", numbers, MOST_NUMBERS)

    def _use(self, unit: str, asked: int, most: int, what: str = "to compute about") -> None:
        before = self.used[unit]
        if before + asked > most:
            behind = f" after {before:,} for earlier marks" if before else ""
            message = (
                f"{what} {asked:,} {unit}{behind}, expected at most {most:,} in a file; "
                "the command can be run by hand"
            )
            raise LimitError(Problem(message))
        self.used[unit] += asked

    def _read(self, scenario: str, folder: Path) -> Loaded:
        path = self.folder / scenario
        if scenario == STANDARD_INPUT:
            raise TracerError(Problem("a mark reads files, not standard input"))
        # Else it is a scenario of the program itself, or a mistake that loading reports.
        if os.path.isfile(path):  # noqa: PTH113  # Path.is_file() raises for too long a name
            self._use("bytes", path.stat().st_size, MOST_BYTES, "scenarios of")
        return super()._read(scenario, folder)

    def _load(self, subject: Subject) -> Loaded:
        if subject.vary is not None:  # each attempt to find a variant computes all texts
            plain = self.load(replace(subject, vary=None)).scenario
            for tokens in (plain.tokens, *(each.tokens for each in plain.training)):
                self.charge(subject, TRIES, len(tokens))
            return super()._load(subject)
        loaded = super()._load(subject)
        scenario, found = loaded.scenario, self._cost(subject, loaded)
        learned = symbols_to_read(scenario.corpus or {}, len(scenario.merges or ()))
        self._use("products", found.records * LOADED + learned, MOST_PRODUCTS)
        return loaded
