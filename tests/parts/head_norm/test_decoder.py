"""Norms of head outputs: values by NumPy, gradients, a cache, PyTorch, errors."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.decoder.test_gradients import assert_slope
from tests.helpers import learning
from tests.helpers.part_tests import cached_generations, refusals
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.parts.convolution.test_decoder import floats, matrix

AT = "layer1.attention."
WIDTH = 3


def drawn(seed: int) -> dict[str, Any]:
    """A random layer of two heads that share γ; seed 1 has LayerNorm and gates behind it."""
    rng = random.Random(seed)
    words = ["a", "b", "c", "a"]
    heads = [{name: matrix(WIDTH, 2, rng) for name in ("W_Q", "W_K", "W_V")} for _ in range(2)]
    norm: dict[str, Any] = {"kind": "rms_norm", "epsilon": Decimal("0.000001")}
    part: dict[str, Any] = {"heads": heads, "W_O": matrix(4, WIDTH, rng)}
    if seed:
        norm = {"epsilon": Decimal("0.01"), "shift": matrix(1, 2, rng)[0]}
        heads[0]["W_G"] = matrix(WIDTH, 2, rng)
        part |= {"kind": "delta", "beta": Decimal("0.5"), "output_gate": "silu"}
    part["output_norm"] = norm | {"gain": matrix(1, 2, rng)[0]}
    table = {word: matrix(1, WIDTH, rng)[0] for word in dict.fromkeys(words)}
    return {
        "title": "normalized",
        "tokens": words,
        "embeddings": table,
        "layers": [{"attention": part}],
        "vocabulary": list(table),
        "unembedding": {"W_U": matrix(WIDTH, len(table), rng)},
        "targets": [*words[1:], words[0]],
        "rounding": {"carry": "never"},
    }


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_row_of_an_output_is_normalized(seed: int, arithmetic: str) -> None:
    spec = drawn(seed)
    ran = traced(to_yaml({**spec, "arithmetic": arithmetic}))
    part = spec["layers"][0]["attention"]
    gain, shift = floats(part["output_norm"]["gain"]), floats(part["output_norm"].get("shift", 0))
    behind = []
    for h, head in enumerate(part["heads"], start=1):
        rows = ran[f"{AT}head{h}.output"].array
        rows = rows - rows.mean(axis=1, keepdims=True) * seed
        epsilon = 0.01 if seed else 1e-6
        expected = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + epsilon) * gain + shift
        assert_allclose(ran[f"{AT}head{h}.output_norm"].array, expected, rtol=1e-12, atol=1e-12)
        if "W_G" in head:
            x = floats([spec["embeddings"][token] for token in spec["tokens"]])
            logits = x @ floats(head["W_G"])
            expected = expected * logits / (1 + np.exp(-logits))
        behind.append(expected)
    expected = np.hstack(behind) @ floats(part["W_O"])
    assert_allclose(ran[f"{AT}output"].array, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_are_slopes_of_the_loss(seed: int) -> None:
    batch = learning.batch_of(drawn(seed))
    found = learning.way_back(batch)
    gradients = learning.gradients_of(found)
    own = [f"{AT}output_norm.gain", f"{AT}head1.W_V"] + [f"{AT}output_norm.shift"] * seed
    for address in own:
        assert_slope(batch, found[address], gradients[address])


test_a_cache_changes_no_number = cached_generations(
    {f"{seed}": to_yaml(drawn(seed)) for seed in (0, 1)}, addresses=(f"{AT}output", "logits")
)


def test_it_is_the_gated_norm_of_qwen3_next() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    qwen3_next: Any = pytest.importorskip(
        "transformers.models.qwen3_next.modeling_qwen3_next", exc_type=ImportError
    )
    spec = drawn(0)
    part = spec["layers"][0]["attention"]
    part |= {"output_gate": "silu"}
    part["heads"][0]["W_G"] = matrix(WIDTH, 2, random.Random(2))
    ran = traced(to_yaml(spec))
    module = qwen3_next.Qwen3NextRMSNormGated(2, eps=1e-6).double()
    rows, gate = (
        torch.tensor(ran[f"{AT}head1.{name}"].array) for name in ("output", "output_gate.logits")
    )
    with torch.no_grad():
        module.weight.copy_(torch.tensor(floats(part["output_norm"]["gain"])))
        found = module(rows, gate).numpy()
    # Its norm and SiLU compute in float32.
    assert_allclose(ran[f"{AT}head1.gated_output"].array, found, rtol=1e-5, atol=1e-6)


SMALL = """\
title: a norm
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    output_norm: {kind: rms_norm, gain: [1, 2]}
    heads:
    - {W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1, 0], [0, 1]]}
    W_O: [[1, 0], [0, 1]]
"""


# fmt: off
test_what_does_not_fit = refusals(
    SMALL,
    ("[1, 2]}", "[1]}", 6, "output_norm.gain: 1 number, expected 2 (one per column of W_V)"),
    ("gain: [1, 2]", "epsilon: -1", 6, "layer1.attention.output_norm.epsilon: expected"),
    ("rms_norm", "batch_norm", 6, "layer1.attention.output_norm.kind: expected"),
    ("    W_O: [[1, 0], [0, 1]]", "    - {W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]]}", 6,
     "output_norm.gain: heads with values of 1 and 2 columns, expected equal widths"),
)
# fmt: on
