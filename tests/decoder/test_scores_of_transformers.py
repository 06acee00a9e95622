"""Parts that change scores have the weights that transformers computes of the same queries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.traces import traced
from tracer.decoder.forward import Trace

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

PLAIN = """\
tokens: [a, b, c, d]
embeddings: {random: {seed: 1, columns: 8, decimals: 3}}
POSITIONS
layers:
  - attention:
      SOFTCAP
      heads: [{W_Q: {random: {seed: 2, largest: 3}}, W_K: {random: {seed: 3}}, W_V: identity}]
rounding: {carry: never}
"""
HEAD = "layer1.attention.head1."
HIDDEN = torch.triu(torch.full((4, 4), -torch.inf, dtype=torch.float64), 1)


def numbers(found: Trace, name: str) -> Any:
    """A value of the head, with a batch of one and one head."""
    return torch.tensor(found[f"{HEAD}{name}"].numbers.astype(np.float64))[None, None]


def test_capped_scores_are_those_of_gemma_2() -> None:
    gemma = pytest.importorskip("transformers.models.gemma2.modeling_gemma2")
    found = traced(PLAIN.replace("SOFTCAP", "softcap: 2").replace("POSITIONS\n", ""))
    module = SimpleNamespace(num_key_value_groups=1, training=False, head_dim=8)
    q, k, v = (numbers(found, name) for name in ("query", "key", "value"))
    output, weights = gemma.eager_attention_forward(module, q, k, v, HIDDEN, softcap=2.0)
    assert np.ptp(weights[0, 0, -1].numpy()) > 0.01
    # It computes the softmax in float32.
    assert_allclose(numbers(found, "weights"), weights, atol=1e-7)
    assert_allclose(numbers(found, "output")[0, 0], output[0, :, 0], atol=1e-6)


def test_columns_are_rotated_as_those_of_neox() -> None:
    neox = pytest.importorskip("transformers.models.gpt_neox.modeling_gpt_neox")
    rope = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}
    config = neox.GPTNeoXConfig(hidden_size=8, num_attention_heads=1, rope_parameters=rope)
    share = "positions: {rotary: {share: 0.5, base: 100, layout: halves}}"
    found = traced(PLAIN.replace("SOFTCAP", "scale: sqrt").replace("POSITIONS", share))
    q, k = numbers(found, "query"), numbers(found, "key")
    cos, sin = neox.GPTNeoXRotaryEmbedding(config)(q, torch.arange(4)[None])
    turned = neox.apply_rotary_pos_emb(q, k, cos, sin)
    for name, expected in zip(("query", "key"), turned, strict=True):
        # It computes the angles in float32.
        assert_allclose(numbers(found, f"rotated_{name}"), expected, atol=1e-6)
    assert_allclose(turned[0][..., 4:], q[..., 4:])
