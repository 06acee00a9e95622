"""Limits for the marks of one file, so that untrusted Markdown cannot exhaust time or memory.

They are generous: a chapter needs far less.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from tracer.decoder.cost import degree, multiply_adds
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.variant import TRIES
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.requests.resolve import Computed, Engine, Subject
from tracer.scenario.loading import STANDARD_INPUT, Loaded
from tracer.scenario.model import Scenario
from tracer.scenario.shape_only import outline

if TYPE_CHECKING:
    from tracer.decoder.training import Training
    from tracer.scenario.optimizer import Optimizer

MOST_MARKS = 2_000
LONGEST_MARK = 10_000
"""Characters of one mark, its pinned values included."""
MOST_BYTES = 20_000_000
"""Bytes of scenarios; a scenario counts each time it is read."""
MOST_PRODUCTS = 20_000_000
"""Products of two numbers, in all passes and in all texts about a pass."""
FLOATS = 500
"""This many products of floats cost less than one product of Decimals."""
PRODUCTS_OF_A_RECORD = 50
"""The cost of recording a value besides its products, in products."""
LOADED = 5
"""The cost of a value when its scenario is loaded, in products."""
MOST_NUMBERS = 100_000_000
"""Floats kept from all passes, which later marks may use."""
DECIMAL = 10
"""A Decimal needs the memory of this many floats."""
STEP_OF_TRAINING = 6
"""A training step costs as much as this many passes."""
MOST_CHARACTERS = 10_000_000
"""Characters of output."""


class LimitError(TracerError):
    """The marks of a file exceed a limit; the marks after it are not rendered."""


@dataclass(frozen=True)
class Cost:
    """The cost of a pass over `length` tokens, computed from shapes alone.

    `products` and `numbers` list the parts that grow with the power 0, 1 and 2 of the tokens.
    """

    length: int
    records: int
    products: list[int]
    numbers: list[int]

    def at(self, length: int) -> tuple[int, int]:
        """Return products and numbers of a pass over `length` tokens; 0 for shapes alone."""
        own = max(self.length, 1)
        products, numbers = (
            sum(found * length**power // own**power for power, found in enumerate(each))
            for each in (self.products, self.numbers)
        )
        return (products, numbers) if length else (0, 0)


def cost(scenario: Scenario, *, lens: bool = False) -> Cost:
    """Return the cost of a pass; of several layers with equal shapes, only one is computed.

    Raises:
        TracerError: a pinned value has the wrong shape.
    """
    outlined, floats = outline(scenario), scenario.arithmetic == "float64"
    found = trace("cost", outlined.scenario, PassOptions(arithmetic=SHAPES, lens=lens))
    records, products, numbers = 0, [0, 0, 0], [0, 0, 0]
    for record in found.records:
        value, place = record.output, record.output.place
        towers = outlined.encoder_layers if place.encoder else outlined.layers
        times = len(towers[place.layer - 1]) if place.layer else 1
        records += times
        products[degree(record)] += times * multiply_adds(record)
        if not value.role.parameter:
            power = 0 if place.encoder else sum(x.name in ("token", "key") for x in value.axes)
            numbers[power] += times * prod(value.shape) * (1 if floats else DECIMAL)
    if floats:
        products = [each // FLOATS for each in products]
    return Cost(len(scenario.tokens), records, products, numbers)


class LimitedEngine(Engine):
    """Computes what the marks of a file request, within the limits of the file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.costs: dict[Subject, Cost] = {}
        self.used = Counter[str]()

    def charge(self, subject: Subject, passes: int, length: int) -> None:
        """Allow for so many passes over so many tokens.

        Raises:
            LimitError: too much is computed, or kept.
        """
        cost = self.costs[replace(subject, vary=None)]
        products, numbers = cost.at(length)
        products += cost.records * PRODUCTS_OF_A_RECORD
        self._use("products", products * passes, MOST_PRODUCTS)
        self._use("numbers", numbers, MOST_NUMBERS)

    def write(self, output: str) -> None:
        """Allow for an output.

        Raises:
            LimitError: too much is written.
        """
        self._use("characters", len(output), MOST_CHARACTERS, "an output of")

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

    def train(
        self, subject: Subject, steps: int | None = None, optimizer: Optimizer | None = None
    ) -> Training:
        """Train a scenario: steps with backward pass and update, then a final loss."""
        scenario = self.load(subject).scenario
        for tokens in [each.tokens for each in scenario.training] or [scenario.tokens]:
            self.charge(subject, STEP_OF_TRAINING * ((steps or 1) + 1), len(tokens))
        return super().train(subject, steps, optimizer)

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
        with loaded.locating_problems():
            found = cost(loaded.scenario, lens=subject.options.lens)
        self.costs[subject] = found
        self._use("products", found.records * LOADED, MOST_PRODUCTS)
        return loaded

    def _compute(self, subject: Subject) -> Computed:
        loaded = self.load(subject)
        if not subject.options.gradients:  # a training is charged by itself
            # What --given changes is shown, too.
            self.charge(subject, 2 if loaded.overrides else 1, len(loaded.scenario.tokens))
        return super()._compute(subject)
