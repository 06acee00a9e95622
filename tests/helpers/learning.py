"""Training passes of scenarios, in a form that tests can read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import reject
from numpy.typing import NDArray

from tests.helpers.random_scenarios import to_yaml
from tracer.decoder.elementwise import Activate
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.operations import Keep
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.formula.arithmetic import PRECISION
from tracer.scenario.loading import parse
from tracer.scenario.model import Scenario

STEP = Decimal("1e-14")
"""Of a central difference: what its square leaves out is beyond what is compared."""

WITHOUT_A_SLOPE = (
    *("no position has a next token", "nothing is learned", "passes on no gradient"),
    *("the root of 0 has no slope", "to compute with"),
)


def batch_of(spec: dict[str, Any]) -> list[Scenario]:
    """What one step of training reads, as scenarios."""
    scenario = parse(to_yaml(spec), "f.yaml")
    return [scenario.reading_example(each) for each in scenario.training] or [scenario]


def way_back(batch: Sequence[Scenario]) -> Trace:
    """The pass of the first with the losses of all, and the way back."""
    first, *others = batch
    return trace("f", first, PassOptions(gradients=True), others=dict(enumerate(others, 2)))


def way_back_or_rejected(batch: Sequence[Scenario]) -> Trace:
    """The same of a random scenario; none where something is without a slope."""
    try:
        found = way_back(batch)
    except TracerError as error:
        assert any(said in str(error) for said in WITHOUT_A_SLOPE)
        reject()
    if any(is_tied(record) for record in found.records):
        reject()
    corners = [r.inputs[0] for r in found.records if r.operation == Activate("relu")]
    if any((value.numbers == 0).any() for value in corners):
        reject()
    return found


def is_tied(record: Record) -> bool:
    """Whether a little more of a logit would choose other experts."""
    if not isinstance(record.operation, Keep):
        return False
    value = next(v for v in record.inputs)
    chosen = np.zeros(value.shape, bool)
    for row, columns in enumerate(record.operation.columns):
        chosen[row, list(columns)] = True
    rows = zip(value.computed, chosen, strict=True)
    return any(not own.all() and min(x[own]) - max(x[~own]) < Decimal("1e-9") for x, own in rows)


def loss_of(batch: Sequence[Scenario]) -> Decimal:
    """The mean loss of all examples."""
    first, *others = batch
    with_loss = trace("f", first, PassOptions(loss=True), others=dict(enumerate(others, 2)))
    return Decimal(with_loss["loss"].numbers.item())


def gradients_of(found: Trace) -> dict[str, Value]:
    """The gradients, by the address of what each is of, in the example that is worked."""
    return {
        address.removeprefix("gradient."): value
        for address, value in found.values.items()
        if value.role.derivation == "gradient" and not value.place.example and value.numbers.size
    }


def pinned(batch: Sequence[Scenario], value: Value, numbers: NDArray[Any]) -> list[Scenario]:
    """The batch with other numbers at an address: of all examples, if it is a parameter's.

    So is what LoRA computes of parameters.
    """
    if not (numbers := np.asarray(numbers)).ndim:
        rows: Any = numbers.item()
    else:
        rows = tuple(map(tuple, numbers)) if numbers.ndim == 2 else tuple(numbers)
    shared = value.role.parameter or value.role.of_parameters
    first = len(batch) if shared else 1
    return [
        each.model_copy(update={"given": {**each.given, value.address: rows}})
        if i < first
        else each
        for i, each in enumerate(batch)
    ]


def direction(value: Value, seed: int = 1) -> NDArray[Any]:
    """Decimals between -1 and 1 for each number.

    0 where nothing can be raised: at -∞, and at the weight 0 of an expert that is not chosen.
    """
    rng = random.Random(f"{seed} {value.address}")
    drawn = [
        Decimal(rng.randint(-100, 100)) / 100
        if number.is_finite() and (number or not value.address.endswith(".router.weights"))
        else Decimal(0)
        for number in value.numbers.flat
    ]
    return np.array(drawn, object).reshape(value.shape)


def slope_along(batch: Sequence[Scenario], value: Value, along: NDArray[Any]) -> Decimal:
    """How the loss changes with an address's numbers in a direction: a central difference."""
    up, down = (
        loss_of(pinned(batch, value, value.numbers + sign * STEP * along)) for sign in (1, -1)
    )
    return (up - down) / (2 * STEP)


def agree(found: Decimal, expected: Decimal, size: Decimal) -> bool:
    """To 8 digits, and as far as the loss, and what was added up, have digits."""
    last = Decimal(10) ** -PRECISION
    noise = max(size * 10**30, 100 / STEP) * last
    return abs(found - expected) <= Decimal("1e-8") * abs(expected) + noise
