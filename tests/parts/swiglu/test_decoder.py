"""SwiGLU against the formula of its authors and transformers: gates, limits, gradients, errors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.every_part import WITH_SWIGLU
from tests.helpers.part_tests import programs, refusals
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.loading import parse

LIMITED = WITH_SWIGLU.replace("gate_limit: 1.5", "gate_limit: 1.6")
EXACT = f"{LIMITED}rounding: {{carry: never}}\n"
"""Its limit holds g = 1.75 of b, u = 2.35 of a and 2.5 of b, and no other number."""
X = np.array([[1, 0.5], [-0.5, 2]])
W_1 = np.array([[1, 0.5, -2], [0.5, 1, 0.25]])
W_3 = np.array([[2, -1, 0.5], [0.5, 1, -0.25]])
B_3 = np.array([0.1, 0, -0.2])
W_2 = np.array([[1, 0.5], [0.25, -1], [0.5, 1]])
KEYS = "gate_scale: 1.702\n      gate_limit: 1.6"


def network(scale: float, limit: float, offset: float) -> Any:
    """FFN(X), clamped as in gpt-oss: the gate from above, the other numbers on both sides."""
    g = np.minimum(X @ W_1, limit)
    u = np.clip(X @ W_3 + B_3, -limit, limit)
    return (g / (1 + np.exp(-scale * g)) * (u + offset)) @ W_2


@pytest.mark.parametrize(("keys", "computed"), [
    (KEYS, (1.702, 1.6, 1)),
    (f"{KEYS}\n      gate_offset: 0", (1.702, 1.6, 0)),
    ("gate_limit: 0.25\n      gate_offset: -2.5", (1, 0.25, -2.5)),
    ("gate_scale: 0.5", (0.5, np.inf, 0)),
    ("gate_offset: 1", (1, np.inf, 1)),
])  # fmt: skip
def test_the_gate_is_that_of_the_paper(keys: str, computed: tuple[float, float, float]) -> None:
    found = traced(EXACT.replace(KEYS, keys))
    assert_allclose(found["layer1.ffn.output"].array, network(*computed), atol=1e-12)


def test_the_gate_is_that_of_transformers() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    oss = pytest.importorskip("transformers.models.gpt_oss.modeling_gpt_oss")
    experts = oss.GptOssExperts.__new__(oss.GptOssExperts)
    torch.nn.Module.__init__(experts)
    experts.alpha, experts.limit = 1.702, 1.6
    both = np.stack([X @ W_1, X @ W_3 + B_3], axis=2).reshape(2, -1)  # interleaved
    theirs = experts._apply_gate(torch.tensor(both)).numpy()
    assert_allclose(traced(EXACT)["layer1.ffn.gated"].array, theirs, atol=1e-12)


def loss_with(key: str, numbers: Any) -> float:
    spec = yaml.safe_load(EXACT)
    spec["layers"][0]["ffn"][key] = numbers.tolist()
    scenario = parse(yaml.safe_dump(spec), "f.yaml")
    return float(trace("f", scenario, PassOptions(loss=True))["loss"].numbers)


@pytest.mark.parametrize(("key", "numbers"), [("W_1", W_1), ("W_3", W_3), ("b_3", B_3)])
def test_gradients_are_central_differences(key: str, numbers: Any) -> None:
    """Where a limit holds a number, its slope is 0: moving it by 0.00001 changes nothing."""
    found = trace("f", parse(EXACT, "f.yaml"), PassOptions(gradients=True))
    step, slopes = 1e-5, np.zeros_like(numbers)
    for at in np.ndindex(numbers.shape):
        moved = np.zeros_like(numbers)
        moved[at] = step
        slopes[at] = (loss_with(key, numbers + moved) - loss_with(key, numbers - moved)) / step / 2
    assert_allclose(found[f"gradient.layer1.ffn.{key}"].array, slopes, atol=1e-8)


@pytest.mark.parametrize(("address", "held"), [("hidden", (1, 1)), ("up", (0, 0))])
def test_a_limit_stops_a_gradient(address: str, held: tuple[int, int]) -> None:
    found = trace("f", parse(EXACT, "f.yaml"), PassOptions(gradients=True))
    assert abs(found[f"layer1.ffn.{address}"].array[held]) > 1.6
    assert found[f"gradient.layer1.ffn.{address}"].array[held] == 0


test_programs_compute_the_numbers = programs({"limits": LIMITED})


def test_the_parts_of_a_logit_add_up() -> None:
    """“a” reads d₀ + 0.5 d₁ of its vector: of X, and of each unit's row of W₂ times its number."""
    given = ("logits[b,a]", "-s", "-", "--format", "json")
    found = json.loads(printed("attribute", *given, stdin=EXACT))
    parts = sorted(part["value"] for part in found["parts"])
    of_logit = np.array([1, 0.5])
    network_of_b = network(1.702, 1.6, 1)[1] @ of_logit
    assert_allclose(parts, sorted([X[1] @ of_logit, network_of_b]), atol=1e-12)


# fmt: off
test_what_does_not_fit = refusals(
    WITH_SWIGLU,
    ("gate_limit: 1.5", "gate_limit: 0", "gate_limit: expected more than 0, got '0'"),
    ("gate_limit: 1.5", "gate_limit: high", "gate_limit: expected a number"),
    ("gate_scale: 1.702", "gate_scale: -1", "gate_scale: expected more than 0, got '-1'"),
    ("swiglu", "silu", "a key of swiglu, expected activation: swiglu"),
    ("      W_3: [[2, -1, 0.5], [0.5, 1, -0.25]]\n      b_3: [0.1, 0, -0.2]\n", "",
     "swiglu multiplies two projections, expected W_3 beside W_1"),
    ("swiglu", "swiglu\n      activates: output", "expected activates: hidden"),
)
# fmt: on
