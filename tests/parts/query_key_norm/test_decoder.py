"""The norms of queries and keys: γ and β of all heads, before rotary positions."""

from __future__ import annotations

import pytest

from tests.helpers.small_scenario import problems
from tests.helpers.traces import traced
from tracer.errors import TracerError

TWO_HEADS = """
title: norms
tokens: [a]
embeddings: [[3, 1]]
positions: {rotary: {start: 0}}
layers:
  - attention:
      heads:
        - {W_Q: [[1, 0], [0, 1]], W_K: [[1, 0], [0, 3]], W_V: [[1], [0]]}
        - {W_Q: [[0, 1], [2, 1]], shares: 1}
      query_norm: {gain: [2, 1]}
      key_norm: {kind: rms_norm, epsilon: 7, shift: [0.5, 0]}
      residual: false
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("query_norm: {gain: [1, 2]}", "query_norm.gain: 2 numbers, expected 1 (one per column of"),
        ("key_norm: {shift: [1, 2]}", "key_norm.shift: 2 numbers, expected 1 (one per column of"),
        ("key_norm: {deviation: sample}", "key_norm.deviation: the deviation of a sample needs"),
        ("query_norm: {over: all}", "query_norm.over: expected head or heads"),
        ("query_norm: {gain: [1, 2], over: heads}", "query_norm.gain: 2 numbers, expected 1 (one"),
        ("query_norm: {placement: pre}", "query_norm.placement: expected before_rotary or"),
        ("query_norm: {unit_offset: true}", "query_norm.unit_offset: adds 1 to γ, which is"),
    ],
)
def test_what_does_not_fit_is_refused(more: str, told: str) -> None:
    line = "          W_V: [[1, 0], [0, 1]]\n"
    [problem] = problems((line, f"{line}      {more}\n"))
    assert f": layer1.attention.{told}" in problem


def test_heads_of_different_widths_have_no_common_gain() -> None:
    line = "          W_V: [[1, 0], [0, 1]]\n"
    head = "        - {W_Q: [[1, 1], [1, 1]], W_K: [[1, 1], [1, 1]], W_V: [[1], [1]]}\n"
    more = "      residual: false\n      query_norm: {gain: [1]}\n"
    found = problems((line, f"{line}{head}{more}"))
    told = "layer1.attention.query_norm.gain: heads of 1 and 2 columns, expected equal widths"
    assert any(told in problem for problem in found)


@pytest.mark.parametrize(
    ("norm", "told"),
    [("query_norm: {kind: rms_norm}", "RMS is 0"), ("key_norm: {kind: layer_norm}", "σ is 0")],
)
def test_zeros_are_refused_without_epsilon(norm: str, told: str) -> None:
    yaml = TWO_HEADS.replace("query_norm: {gain: [2, 1]}\n", f"{norm}\n")
    if norm.startswith("key"):
        yaml = yaml.replace("      key_norm: {kind: rms_norm, epsilon: 7, shift: [0.5, 0]}\n", "")
    with pytest.raises(TracerError, match=f"a division by zero: {told}.*set epsilon"):
        traced(yaml.replace("[[3, 1]]", "[[0, 0]]"))
