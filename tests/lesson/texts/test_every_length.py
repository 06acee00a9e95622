"""A tutorial in three lengths before every judge, and what is false in the short one."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from tests.helpers import lengths
from tests.helpers.lengths import faults_of_lengths

TWO_TOWERS = """
title: Layers that repeat others, more tokens than the encoder has, ids beyond the table
tokens: [a, b, a]
token_ids: [7, 9, 7]
embeddings: {random: {seed: 1, columns: 2}}
vocabulary: [a, b, c]
unembedding: {W_U: [[1, 0, 2], [0, 1, 1]]}
encoder:
  tokens: [x, y]
  embeddings: [[1, 0.5], [0.25, 1]]
  layers:
    - attention: {heads: [HEAD, OTHER]}
layers:
  - attention: {heads: [ZERO], W_O: [[1, 0.5]]}
    cross_attention: {heads: [HEAD, OTHER], norm: {kind: rms_norm}}
    ffn: {W_1: [[1, 0.5], [0, 1]], W_2: [[1, 0], [0.5, 1]], activation: tanh}
  - attention: {heads: [HEAD], W_O: [[1, 0.5]]}
    cross_attention: {heads: [HEAD, OTHER], norm: {kind: rms_norm}}
    ffn: {W_1: [[1, 0.5], [0, 1]], W_2: [[1, 0], [0.5, 1]], activation: tanh}
rounding: {decimals: 3}
"""
HEADS = {
    "HEAD": "{W_Q: [[1], [0.5]], W_K: [[0.5], [1]], W_V: [[1], [0]]}",
    "OTHER": "{W_Q: [[0], [1]], W_K: [[1], [0]], W_V: [[0.25], [1]]}",
    "ZERO": "{W_Q: [[0], [0]], W_K: [[1], [0]], W_V: [[0.25], [1]]}",
}

SMALL = """
title: One layer
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.25, 1]}
layers:
  - attention: {heads: [HEAD], W_O: [[1, 0.5]], norm: {}}
    ffn: {W_1: [[1, 0.5], [0, 1]], W_2: [[1, 0], [0.5, 1]], activation: tanh}
rounding: {decimals: 3}
"""

SURE = """
title: A probability of 8.4×10⁻⁵⁰, minus 1
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1]}
layers: []
vocabulary: [a, b]
unembedding: {W_U: [[113, 0], [0, 113]]}
targets: [b, a]
rounding: {decimals: 5, carry: never}
arithmetic: float64
"""


def faults_of(source: str, token: int) -> list[str]:
    for name, head in HEADS.items():
        source = source.replace(name, head)
    spec = yaml.safe_load(source)
    return faults_of_lengths(spec, spec, token, ("short", "latex", 80), Counter())


@pytest.mark.parametrize(("source", "token"), [(TWO_TOWERS, 3), (SURE, 2)])
def test_every_judge_of_three_lengths(source: str, token: int) -> None:
    """The third token has no row in the encoder."""
    assert faults_of(source, token) == []


@pytest.mark.parametrize(
    ("true", "false", "fault"),
    [
        ("to 2 hidden units. tanh", "to 3 hidden units. tanh", "not the goals of its steps"),
        ("between -1 and 1, and 0 to 0. W₂ maps", "between 0 and 1. W₂ maps", "not the goals"),
        ("divided by the standard", "divided by 1.25, the standard", "1.25 is not printed"),
        ("  Attention output ", "  FFN: output       ", "FFN: output has other numbers"),
    ],
)
def test_what_is_false_in_a_short_text_is_found(
    true: str, false: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = []

    def falsified(text: str, document: object) -> str:
        before, rest, after = text.partition("The rest of the layer")
        changed.append(after.replace(true, false) != after)
        return before + rest + after.replace(true, false)

    monkeypatch.setattr(lengths, "without_author", falsified)
    assert any(fault in each for each in faults_of(SMALL, 2))
    assert changed == [False, False, True]
