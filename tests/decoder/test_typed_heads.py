"""Typed queries, keys and values: the pass starts at them, and training does not change them."""

from __future__ import annotations

import importlib
import random
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.decoder.test_forward import assert_is_the_references
from tests.decoder.test_gradients import NEVER, assert_slope
from tests.helpers import learning
from tests.helpers.command import printed, run_json
from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.traces import traced_or_rejected, values
from tests.helpers.typed_heads import is_typed, start_with_typed_heads
from tracer.decoder.forward import trace
from tracer.decoder.training import TrainingOptions, train
from tracer.scenario.loading import parse

WORDS = """\
vocabulary: [a, b, c]
unembedding: {W_U: [[1, 0, 0.5], [0.2, 1, -0.5]]}
targets: [b, c, a]
"""
SELF = f"""\
tokens: [a, b, c]
positions: {{rotary: {{base: 100}}}}
layers:
  - norm: {{epsilon: 0.1, gain: [1, 2]}}
    attention:
      heads:
        - {{Q: [[1, 0.5], [0.2, 1], [1, 1]], K: [[1, 0], [0, 1], [0.3, -1]], V: [[1], [3], [-5]]}}
        - {{Q: [[0.1, 1], [0, 1], [2, 1]], shares: 1}}
      W_O: [[1, 0.4], [-0.5, 1]]
    ffn: {{W_1: [[1, 0.5], [-1, 2]], W_2: [[1, 0], [0, 1]], activation: gelu}}
{WORDS}"""
CROSS = f"""\
tokens: [a, b, c]
encoder: {{tokens: [x, y]}}
layers:
  - cross_attention:
      heads: [{{Q: [[1, 0.5], [0.2, 1], [1, 1]], K: [[1, 0], [0, 1]], V: [[1, 2], [3, -4]]}}]
  - attention: {{heads: [{{W_Q: [[1], [2]], W_K: [[1], [0.5]], W_V: [[1, 0.1], [0, 1]]}}]}}
{WORDS}"""
BESIDE = f"""\
tokens: [a, b, c]
mask: none
encoder: {{tokens: [x, y], vectors: [[1, 2, 3], [0.5, -1, 1]]}}
layers:
  - attention:
      scale: none
      heads: [{{Q: [[1], [0.2], [-1]], K: [[1], [0.5], [2]], V: [[1, 2], [3, -4], [0, 1]]}}]
    cross_attention:
      heads:
        - {{W_Q: [[1], [2]], W_K: [[1], [0.5], [0.1]], W_V: [[1, 0.1], [0, 1], [1, 1]]}}
{WORDS}"""
CASES = {"self": SELF, "cross": CROSS, "beside an encoder": BESIDE}


@settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(carry="never", max_layers=2, max_tokens=4), st.integers(0, 99))
def test_every_value_is_the_one_of_the_reference(spec: Scenario, seed: int) -> None:
    start_with_typed_heads(spec, random.Random(seed))
    assume(is_typed(spec))
    ran = traced_or_rejected(spec)
    assert_is_the_references(ran, spec, 1e-12)
    assert not {"tokens", "embedding", "input"} & values(ran).keys()


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_slopes_of_the_loss(name: str) -> None:
    batch = [parse(CASES[name] + NEVER, "f.yaml")]
    found = learning.way_back(batch)
    gradients = learning.gradients_of(found)
    typed = {f"layer1.{'cross_' * (name == 'cross')}attention.head1.{x}" for x in ("query", "key")}
    assert typed <= gradients.keys()
    for address, gradient in gradients.items():
        assert_slope(batch, found[address], gradient)


@pytest.mark.parametrize("name", CASES)
def test_nothing_before_them_is_mentioned(name: str) -> None:
    for command in ("run", "tutorial", "train", "shapes", "loss"):
        text = printed(command, "-", stdin=CASES[name])
        assert "mbedding" not in text.replace("unembedding", ""), command
    for name_of in ("input", "embedding"):
        assert name_of not in {v["address"] for v in run_json("-", stdin=CASES[name])["values"]}


@pytest.mark.parametrize("name", CASES)
def test_training_does_not_change_them(name: str) -> None:
    scenario = parse(CASES[name], "f.yaml")
    trained = train("f", scenario, TrainingOptions(scenario.optimizer)).trained
    old, new = ([layer.model_dump() for layer in each.layers] for each in (scenario, trained))
    part = "attention" if scenario.layers[0].attention else "cross_attention"
    assert new[0][part]["heads"] == old[0][part]["heads"]
    assert trained.unembedding != scenario.unembedding


def test_queries_without_names_are_numbered() -> None:
    scenario = parse(SELF.replace("tokens: [a, b, c]\n", ""), "f.yaml")
    assert scenario.tokens == ("1", "2", "3")
    assert trace("f", scenario)["output"].axes[0].labels == scenario.tokens


@pytest.mark.skipif(not find_spec("torch"), reason="needs PyTorch")
def test_it_is_pytorchs_attention() -> None:
    torch: Any = importlib.import_module("torch")
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(4, width)).round(3) for width in (3, 3, 2))
    rows = {name: matrix.tolist() for name, matrix in (("Q", q), ("K", k), ("V", v))}
    layers = f"layers: [{{attention: {{heads: [{rows}]}}}}]\n".replace("'", "")
    text = f"tokens: [a, b, c, d]\narithmetic: float64\n{NEVER}{layers}"
    found = trace("f", parse(text, "f.yaml"))["output"].array
    attention = torch.nn.functional.scaled_dot_product_attention
    expected = attention(*map(torch.tensor, (q, k, v)), is_causal=True)
    assert np.allclose(found, expected.numpy(), rtol=1e-12, atol=1e-12)
