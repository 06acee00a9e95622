"""Gradients through an operation that puts the rows of more than four tokens below each other."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.loading import parse

WEIGHTS = "[[0.5, -0.2], [0.3, 1]]"
STATE = """\
tokens: [a, b, a, b, b, a]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
  - attention:
      kind: KIND
      heads: [{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[1, 0.4], [0.5, 1]], W_V: WEIGHTS}]
vocabulary: [a, b]
unembedding: tied
rounding: {carry: never}
arithmetic: float64
"""


@pytest.mark.parametrize("kind", ["linear", "delta\n      beta: 0.5"])
def test_a_state_of_six_tokens(kind: str) -> None:
    text, step = STATE.replace("KIND", kind), 1e-6
    scenario = parse(text.replace("WEIGHTS", WEIGHTS), "f.yaml")
    found = trace("f", scenario, PassOptions(gradients=True))
    gradient = found["gradient.layer1.attention.head1.W_V"].array

    def loss(by: float) -> float:
        other = text.replace("WEIGHTS", WEIGHTS.replace("-0.2", f"{-0.2 + by:.7f}"))
        return float(trace("f", parse(other, "f.yaml"), PassOptions(loss=True))["loss"].array)

    assert_allclose(gradient[0, 1], (loss(step) - loss(-step)) / (2 * step), rtol=1e-5)
