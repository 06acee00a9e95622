"""The cost of a pass, computed from shapes alone before anything else is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import prod

from tracer.decoder.cost import degree, multiply_adds
from tracer.decoder.forward import PassOptions, trace
from tracer.errors import TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.names import count
from tracer.scenario.loading import Loaded
from tracer.scenario.model import Scenario
from tracer.scenario.shape_only import outline

FLOATS = 500
"""This many products of floats cost less than one product of Decimals."""
PRODUCTS_OF_A_RECORD = 50
"""The cost of recording a value besides its products, in products."""
SHOWN = 10
"""A number that can be shown needs the memory of this many floats."""
STEP_OF_TRAINING = 6
"""A training step costs as much as this many passes."""
TEXT = 10
"""A text about a pass costs as much as this many passes."""
PAGE = 40
"""A page keeps the numbers of a pass this many times: each in a worked line for each token."""
MOST_PRODUCTS = 20_000_000
"""Products of two numbers in the passes of a command, and in its text: about ten seconds."""
MOST_NUMBERS = 15_000_000
"""Numbers that a command keeps, in floats; they take about ten seconds, too."""
MOST_FLOATS = 375_000_000
"""The same of a trained model, which computes only what is looked at: at most 3 GB."""
SECONDS_OF_A_PRODUCT, SECONDS_OF_A_BYTE, BYTES_OF_A_NUMBER = 5e-7, 2e-8, 40
"""What they need on a usual computer, a shown number with its text."""
UNLIMITED = ("DECODER_TRACE_LIMITS", "none")
"""An environment variable, and its value without limits for commands."""


class LimitError(TracerError):
    """What is asked for exceeds a limit; nothing after it is computed."""


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
    outlined, memory = outline(scenario), 1 if scenario.on_demand else SHOWN
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
            numbers[power] += times * prod(value.shape) * memory
    if scenario.arithmetic == "float64":
        products = [each // FLOATS for each in products]
    return Cost(len(scenario.tokens), records, products, numbers)


def check_limits(loaded: Loaded, products: int, numbers: int) -> None:
    """Refuse what would take long, or much memory, and name the variable that allows it.

    Of a trained model, only the memory counts: progress is reported while it is computed.

    Raises:
        LimitError: a command computes, or keeps, too much.
    """
    scenario = loaded.scenario
    if not scenario.has_numbers:
        return  # nothing can be computed
    lazily, (name, none) = scenario.on_demand, UNLIMITED
    most, size = (MOST_FLOATS, 8) if lazily else (MOST_NUMBERS, BYTES_OF_A_NUMBER)
    is_fast = lazily or products <= MOST_PRODUCTS
    if (is_fast and numbers <= most) or os.environ.get(name) == none:
        return
    seconds = products * SECONDS_OF_A_PRODUCT + numbers * size * SECONDS_OF_A_BYTE
    tokens, layers = len(scenario.tokens), len(scenario.layers)
    message = (
        f"{count(tokens, 'token')} in {count(layers, 'layer')} would take about {seconds:,.0f} s "
        f"and {numbers * size / 1e9:,.1f} GB, expected less; {name}={none} computes it"
    )
    place = "layers" if layers > tokens else "tokens"
    raise LimitError(loaded.source.problem((place,), message))
