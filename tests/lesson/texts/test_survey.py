"""The matrices of a survey are those of a real pass: each has the shape that its numbers have."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any, TypeAlias

import pytest
import yaml
from hypothesis import given, settings

from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.small_scenario import SMALL
from tests.helpers.traces import bundled, traced_or_rejected
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts.survey import Survey, survey
from tracer.scenario.loading import parse

SHIFTED = re.compile(r".*\.(max|shifted)")
"""Where numbers turn out to be too large for e to their power, two more are recorded."""

Shapes: TypeAlias = dict[str, tuple[int, ...]]


def surveyed(found: Survey) -> Shapes:
    """The shape of each matrix, of every layer, head and expert, by its address."""
    shapes: Shapes = {}
    for matrix in found.matrices:
        for layer in matrix.layers or [None]:
            for head, network in product(
                matrix.heads or [None], matrix.networks or [matrix.place.network]
            ):
                place = replace(matrix.place, layer=layer, head=head, network=network)
                address = place.address(matrix.role)
                assert address not in shapes
                shapes[address] = matrix.value.shape
    return without_rows(shapes)


def computed(found: Trace) -> Shapes:
    """The shape that the numbers of each value have, as NumPy says."""
    return without_rows({address: value.numbers.shape for address, value in found.values.items()})


def without_rows(shapes: Shapes) -> Shapes:
    """The shapes without those of a shifted softmax.

    How many rows an expert computes only the numbers say.
    """
    of_expert = re.compile(r".*\.expert\d+\.(input|hidden|activation|up|gated|projected|output)")
    return {
        address: shape[1:] if of_expert.fullmatch(address) else shape
        for address, shape in shapes.items()
        if not SHIFTED.fullmatch(address)
    }


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics", "picture"])
def test_bundled_scenarios(name: str) -> None:
    found = bundled(name)
    assert surveyed(survey(name, found.scenario)) == computed(found)


@settings(max_examples=9, deadline=None, derandomize=True, database=None)
@given(scenarios())
def test_random_scenarios(spec: dict[str, Any]) -> None:
    found = traced_or_rejected(spec)
    shapes = surveyed(survey("random", parse(to_yaml(spec), "f.yaml")))
    assert shapes == computed(found)


ONE = Decimal(1)
EACH = ((1,), (2,), (3,))
OTHER = "      W_2", "      b_1: [0]\n      W_2"
LAYER = SMALL[SMALL.index("  - attention") :]


@pytest.mark.parametrize(("second", "expected"), [
    (LAYER.replace("[[1], [2]]", "[[5], [6]]"), ((1, 2, 3),)),
    (LAYER.replace(*OTHER), EACH),
    (f"{LAYER}      activation: none\n", EACH),
    (LAYER.replace(*OTHER) + LAYER + LAYER.replace(*OTHER), ((1, 3), (2, 4), (5,))),
    (LAYER + LAYER.replace(*OTHER) + LAYER * 2 + LAYER.replace(*OTHER),
     ((1, 2, 4, 5), (3, 6), (7,))),
])  # fmt: skip
def test_layers_that_are_alike_are_looked_at_once(
    second: str, expected: tuple[tuple[int, ...], ...]
) -> None:
    scenario = parse(f"{SMALL}{second}{LAYER}", "f.yaml")
    found = survey("layers", scenario)
    assert found.outline.layers == expected
    assert surveyed(found) == computed(trace("layers", scenario, PassOptions(arithmetic=SHAPES)))
    pinned = scenario.model_copy(update={"given": {"layer2.ffn.hidden": ((ONE,), (ONE,))}})
    assert survey("pinned", pinned).outline.layers == tuple(
        (number,) for number in range(1, len(scenario.layers) + 1)
    )


def test_with_weights_from_a_seed_too() -> None:
    dimensions = {"layers": 2, "width": 12, "heads": 4, "key_heads": 2, "words": 9}
    spec = {
        "tokens": "a b c",
        "encoder": {"tokens": "x y", "width": 5},
        "dimensions": {**dimensions, "positions": "rotary", "d_k": 2, "gated": True},
        "random": {"seed": 3},
    }
    scenario = parse(yaml.safe_dump(spec), "f.yaml")
    assert surveyed(survey("s", scenario)) == computed(trace("s", scenario))


def test_what_is_tied_is_counted_once() -> None:
    words = "vocabulary: [a, b]\nunembedding: "
    tied = survey("s", parse(f"{SMALL}{words}tied\n", "f.yaml"))
    own = survey("s", parse(f"{SMALL}{words}{{W_U: [[9, 9], [9, 9]]}}\n", "f.yaml"))
    assert own.parameters - tied.parameters == 4
    assert tied.multiply_adds == own.multiply_adds
