"""A scenario as YAML: what is written says the same again, and computes the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.bundled import TYPED
from tests.helpers.every_part import every_part
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import Scenario as Spec, odd_tokens, scenarios, to_yaml
from tests.helpers.small_scenario import SMALL
from tracer.decoder.forward import PassOptions, trace
from tracer.errors import TracerError
from tracer.scenario.loading import load, parse
from tracer.scenario.model import Scenario
from tracer.scenario.writer import written

few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def again(scenario: Scenario) -> Scenario:
    """Written, and read from there."""
    return parse(written(scenario), "written.yaml", "another name")


def assert_the_same(scenario: Scenario) -> None:
    """What it says, and every number and label that it leads to."""
    found = again(scenario)
    assert found == scenario
    assert str(found) == str(scenario)  # with the digits typed: 0.90 is equal to 0.9
    assert values(found) == values(scenario)


def values(scenario: Scenario) -> Any:
    try:
        options = PassOptions(loss=scenario.vocabulary is not None)
        found = trace("f", scenario, options).values
    except TracerError as error:
        return str(error).partition(": ")[2]
    return {
        address: (value.numbers.tolist(), value.axes, value.form)
        for address, value in found.items()
    }


@few
@given(scenarios(names=odd_tokens(), alike=True, all_digits=True, speaks=True))
def test_random_scenarios_with_odd_names(spec: Spec) -> None:
    assert_the_same(parse(to_yaml(spec), "f.yaml"))


@few
@given(learning_scenarios("step"))
def test_random_scenarios_to_learn_from(spec: Spec) -> None:
    assert_the_same(parse(to_yaml(spec), "f.yaml"))


@pytest.mark.parametrize("name", TYPED)
def test_bundled_scenarios(name: str) -> None:
    scenario = load(name).scenario
    if scenario.has_numbers:
        assert_the_same(scenario)


@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_every_part(layout: str) -> None:
    assert_the_same(parse(every_part(layout), "f.yaml"))


WORDS = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0.5], [0, 1]]}\n"
SAID = {
    "title": "title: scenario\n",
    "a title that is a number": "title: '1.0'\n",
    "digits": "given: {layer1.ffn.hidden: [[1.50], [0.000000001]]}\n",
    "many digits": "given: {layer1.ffn.hidden: [[1.2345678901234567891], [1e-39]]}\n",
    "large and small": "given: {layer1.ffn.hidden: [[1e12], [-0.001]]}\n",
    "mask": "mask: [[0, -inf], [0, 0]]\n",
    "pinned mask": "given: {layer1.attention.head1.masked: [[1, -inf], [2, 3.0]]}\n",
    "window": "mask: {window: 2}\n",
    "one pinned number": "given: {layer1.attention.head1.scale: 2}\n",
    "no rotary start": "positions: {rotary: {base: 3.50}}\n",
    "sinusoidal": "positions: {sinusoidal: {}}\n",
    "final norm": "final_norm: {}\n",
    "embedding norm": "embedding_norm: {}\n",
    "batch": "batch: [[a, b], [b, b]]\n",
    "labels of columns": "features: ['1', 'no']\n",
    "ids": "token_ids: [7, 8]\n",
    "generation": f"{WORDS}generation: {{start: a, end: b, max_tokens: 3}}\n",
    "generation from tokens": f"{WORDS}generation: {{start: [a, b]}}\n",
    "targets": f"{WORDS}targets: [b, none]\n",
    "training": f"{WORDS}training:\n- {{tokens: [a], targets: [b], given: {{logits: [[1, 2]]}}}}\n",
    "tied": "vocabulary: [a]\nunembedding: tied\n",
    "optimizer": "optimizer: {kind: adamw, learning_rate: 0.050, clip: 1}\n",
    "momentum": "optimizer: {momentum: 0.5}\n",
    "rounding": "rounding: {decimals: 2, carry: line, working: 1, trailing_zeros: trim}\n",
    "digits of values": 'rounding: {digits: {"*.scores": 2, "*.exp": {significant: 4}}}\n',
    "floats": "rounding: {carry: never}\narithmetic: float64\n",
    "shifted": "softmax: shifted\n",
    "padding": "padding: b\n",
}


@pytest.mark.parametrize("name", SAID)
def test_what_a_scenario_can_say(name: str) -> None:
    text = SMALL
    if SAID[name].startswith("title"):
        text = text.replace("title: Two words\n", "")
    if "rotary" in SAID[name]:
        text = text.replace("W_Q: [[1], [2]]", "W_Q: identity")
        text = text.replace("W_K: [[3], [4]]", "W_K: identity")
    assert_the_same(parse(text + SAID[name], "f.yaml"))


@pytest.mark.parametrize(
    "of",
    [
        *("norm: none", "norm: {epsilon: 0.10, gain: [1.0, 2]}", "norm: {kind: rms_norm}"),
        *("residual: false", "activation: gelu\n      activates: output", "labels: ['null']"),
    ],
)
def test_what_a_sub_layer_can_say(of: str) -> None:
    """Also where its layer says something else of it."""
    layer = "    norm: {epsilon: 0.5, placement: pre}\n"
    assert_the_same(parse(f"{SMALL}      {of}\n{layer}", "f.yaml"))


def test_a_text_stays_a_text() -> None:
    text = SMALL.replace("tokens: [a, b]", 'text: "ab b"\nmerges: [[" ", b]]')
    scenario = parse(text.replace("  b: [3, 4]", '  b: [3, 4]\n  " b": [5, 6]'), "f.yaml")
    assert scenario.tokens == ("a", "b", " b")
    assert_the_same(scenario)
    assert "tokens:" not in written(scenario)


def test_numbers_of_a_file_keep_all_digits() -> None:
    numbers = np.array([[1 / 3], [1e-7]])
    scenario = parse(SMALL, "f.yaml").model_copy(update={"given": {"layer1.ffn.hidden": numbers}})
    found = again(scenario).given["layer1.ffn.hidden"]
    assert np.array(found, float).tolist() == numbers.tolist()


def test_rows_stand_in_one_line() -> None:
    text = written(parse(SMALL.replace("[1, 2]\n", "[1.50, 2]\n", 1), "f.yaml"))
    assert "  a: [1.50, 2]\n" in text
    assert "W_V:\n      - [1, 0]\n      - [0, 1]\n" in text


def test_what_is_not_said_is_not_written() -> None:
    keys = re.findall("^([a-z_]+):", written(parse(SMALL, "f.yaml")), re.MULTILINE)
    assert keys == ["title", "tokens", "embeddings", "layers"]
