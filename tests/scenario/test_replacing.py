"""A scenario with other numbers: what is replaced, what stays, and how the numbers are written."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.helpers.small_scenario import END, SMALL
from tracer.decoder.forward import trace
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.model import Scenario
from tracer.scenario.parts import networks
from tracer.scenario.reader import YamlPath
from tracer.scenario.replacing import with_parameters

W_1: YamlPath = ("layers", 0, "ffn", "W_1")


def decimals(*rows: list[str]) -> Any:
    return tuple(tuple(map(Decimal, row)) for row in rows)


def small(ending: str = "") -> Scenario:
    return parse(SMALL + ending, "f.yaml")


def test_one_matrix_is_other_numbers_and_nothing_else_is() -> None:
    assert with_parameters(small(), {}) == small()
    changed = with_parameters(small(), {W_1: decimals(["5"], ["6.5"])})
    assert changed == parse(SMALL.replace("W_1: [[1], [2]]", "W_1: [[5], [6.5]]"), "f.yaml")


def test_a_scenario_is_not_changed_itself() -> None:
    scenario = small()
    with_parameters(scenario, {W_1: decimals(["5"], ["6"])})
    assert scenario == small()


@pytest.mark.parametrize(
    ("number", "as_typed"),
    [
        (Decimal("1.500"), "1.5"),
        (Decimal("-0.0"), "0"),
        (Decimal(2) / 3, "0.66666666666666666667"),
        (Decimal("123456.7890123456789012345"), "123456.78901234567890"),
        (0.1, "0.1"),
        (np.float64(1e-5), "0.00001"),
        (np.float64(0), "0"),
        (Decimal("1e-41"), "0"),
        (Decimal("-3e-40"), "-0." + "0" * 39 + "3"),
        (Decimal("1e12"), "1000000000000"),
    ],
)
def test_numbers_are_as_somebody_types_them(number: Any, as_typed: str) -> None:
    changed = with_parameters(small(), {W_1: ((number,), (1.0,))})
    found = _first(changed)
    assert format(found, "f") == format(Decimal(as_typed).normalize(), "f")
    again = parse(SMALL.replace("W_1: [[1]", f"W_1: [[{found:f}]"), "f.yaml")
    assert _first(again) == found


def _first(scenario: Scenario) -> Decimal:
    """The first number of W_1."""
    (network,) = networks(scenario.layers[0])
    assert isinstance(network.W_1, tuple)
    return network.W_1[0][0]


@pytest.mark.parametrize("number", [Decimal("1.1e12"), Decimal("-1e15"), 1e300, np.inf])
def test_a_number_that_nobody_can_type_is_refused(number: Any) -> None:
    with pytest.raises(TracerError) as caught:
        with_parameters(small(), {W_1: ((number,), (1.0,))})
    (problem,) = caught.value.problems
    assert str(problem).startswith("layer1.ffn.W_1: the new numbers are too large")


def test_a_norm_of_a_layer_becomes_one_of_each_sub_layer() -> None:
    scenario = small("    norm: {epsilon: 1, gain: [1, 1], placement: pre}\n")
    new: dict[YamlPath, Any] = {("layers", 0, "ffn", "norm", "gain"): (Decimal(2), Decimal(3))}
    changed = with_parameters(scenario, new)
    (layer,) = changed.layers
    assert layer.norm is None and layer.attention and layer.attention.norm and layer.ffn
    assert (
        layer.attention.norm.gain == decimals(["1", "1"])[0]
        and layer.attention.norm.placement == "pre"
    )
    assert layer.ffn.norm and layer.ffn.norm.gain == decimals(["2", "3"])[0]


def test_a_sub_layer_without_the_norm_of_its_layer_stays_without() -> None:
    text = SMALL.replace(END, f"{END}      norm: none\n    norm: {{epsilon: 1}}\n")
    scenario = parse(text, "f.yaml")
    changed = with_parameters(scenario, {W_1: decimals(["1"], ["2"])})
    before, after = trace("f", scenario), trace("f", changed)
    assert before.values.keys() == after.values.keys()
    assert "layer1.ffn.norm" not in after.values and "layer1.attention.norm" in after.values


def test_a_tied_matrix_follows_the_embeddings() -> None:
    scenario = small("vocabulary: [b, a]\nunembedding: tied\n")
    new = {"a": decimals(["5", "6"])[0], "b": decimals(["7", "8"])[0]}
    changed = with_parameters(scenario, {("embeddings",): new})
    assert changed.is_tied and changed.unembedding
    assert decimals(["7", "5"], ["8", "6"]) == changed.unembedding.W_U
