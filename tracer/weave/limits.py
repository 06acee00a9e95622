"""Limits for the marks of one file, so that untrusted Markdown cannot exhaust time or memory.

They are generous: a chapter needs far less.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from tracer.decoder.cost import degree, multiply_adds
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.variant import TRIES
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts.tutorial import MOST_TURNS
from tracer.requests.request import Request, Sweep
from tracer.scenario.loading import STANDARD_INPUT
from tracer.scenario.model import Scenario
from tracer.scenario.shape_only import outline

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


def passes(request: Request, scenario: Scenario) -> Iterator[tuple[int, int]]:
    """Yield the passes of a request besides the pass that it shares: their number and tokens.

    A text about a pass costs as much as the pass; a command that needs only shapes is a pass over
    0 tokens.
    """
    length = len(scenario.tokens)
    match request.command:
        case "steps" | "shapes":
            yield 1, 0
        case "generate":
            turns = request.max_tokens or scenario.generation.max_tokens
            yield turns, len(request.start or scenario.beginning) + turns
        case "tutorial":  # also a pass without the mask, the loss and a generated text
            yield MOST_TURNS + 3, length + MOST_TURNS + 3
        case "value" | "train":
            pass
        case _:
            yield 1, length
    if request.train or request.command == "train":
        yield from passes_of_training(request.steps or 1, scenario)


def passes_of_comparison(
    request: Request, first: Scenario, second: Scenario
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the passes of a comparison over the first text, and over the second.

    Raises:
        TracerError: the second text cannot be split into tokens.
    """
    length = len(first.tokens if request.text is None else first.tokens_of(request.text))
    if request.other is not None:
        length = len(second.tokens)
    each = 2 + bool(request.given)  # the pass, its text, and the pass without given values
    patched = bool(request.patch) + _sites(request.sweep, first)
    trained = passes_of_training(request.steps or 1, first) if request.train else ()
    return [(each + patched, len(first.tokens)), *trained], [(each, length)]


def _sites(sweep: Sweep | None, scenario: Scenario) -> int:
    """The number of passes of a sweep: one for each head, layer or token."""
    match sweep:
        case None:
            return 0
        case Sweep.TOKENS:
            return len(scenario.tokens)
        case Sweep.LAYERS:
            return len(scenario.layers)
        case Sweep.HEADS:
            encoded = scenario.encoder.layers if scenario.encoder else ()
            layers = (*scenario.layers, *encoded)
            parts = (part for each in layers for part in (each.attention, each.cross_attention))
            return sum(len(part.heads) for part in parts if part)


def passes_of_training(steps: int, scenario: Scenario) -> Iterator[tuple[int, int]]:
    """Yield the passes of a training: steps with backward pass and update, then a final loss."""
    read = [len(each.tokens) for each in scenario.training] or [len(scenario.tokens)]
    yield from ((STEP_OF_TRAINING * (steps + 1), each) for each in read)


def passes_of_variant(scenario: Scenario) -> Iterator[tuple[int, int]]:
    """Yield the passes of finding a variant: at most `TRIES` over each text that is read."""
    yield TRIES, len(scenario.tokens)
    yield from ((TRIES, len(each.tokens)) for each in scenario.training)


@dataclass
class Allowance:
    """The limits of a file, and what its marks have used so far."""

    bytes: int = 0
    products: int = 0
    numbers: int = 0
    characters: int = 0

    def read(self, folder: Path, scenario: str) -> None:
        """Allow for reading a scenario.

        Raises:
            TracerError: it is standard input, or too much is read.
        """
        path = folder / scenario
        if scenario == STANDARD_INPUT:
            raise TracerError(Problem("a mark reads files, not standard input"))
        if not os.path.isfile(path):  # noqa: PTH113  # Path.is_file() raises for too long a name
            return  # a scenario of the program itself, or a mistake that loading reports
        self.bytes = _sum("scenarios of", self.bytes, path.stat().st_size, MOST_BYTES, "bytes")

    def load(self, cost: Cost) -> None:
        """Allow for loading a scenario; `cost` is the cost of one of its passes.

        Raises:
            LimitError: too much is computed.
        """
        self._work(cost.records * LOADED, 0)

    def compute(self, cost: Cost, passes: int, length: int) -> None:
        """Allow for some passes over `length` tokens each.

        Raises:
            LimitError: too much is computed, or kept.
        """
        products, numbers = cost.at(length)
        self._work((products + cost.records * PRODUCTS_OF_A_RECORD) * passes, numbers)

    def _work(self, products: int, numbers: int) -> None:
        what = "to compute about"
        self.products = _sum(what, self.products, products, MOST_PRODUCTS, "products")
        self.numbers = _sum(what, self.numbers, numbers, MOST_NUMBERS, "numbers")

    def write(self, output: str) -> None:
        """Allow for an output.

        Raises:
            LimitError: too much is written.
        """
        self.characters = _sum(
            "an output of", self.characters, len(output), MOST_CHARACTERS, "characters"
        )


def _sum(what: str, before: int, asked: int, most: int, unit: str) -> int:
    if before + asked <= most:
        return before + asked
    behind = f" after {before:,} for earlier marks" if before else ""
    message = (
        f"{what} {asked:,} {unit}{behind}, expected at most {most:,} in a file; "
        "the command can be run by hand"
    )
    raise LimitError(Problem(message))
