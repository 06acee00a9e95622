"""What a step of a norm of queries or keys says."""

from __future__ import annotations

from tests.helpers.command import printed
from tests.parts.query_key_norm.test_decoder import TWO_HEADS


def test_a_new_key_beside_earlier_ones_is_told_with_its_shift() -> None:
    text = TWO_HEADS.replace("positions: {rotary: {start: 0}}\n", "")
    text = text.replace("embeddings: [[3, 1]]", "embeddings: {a: [3, 1], b: [1, 2]}")
    words = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0], [0.5, 1]]}\n"
    asked = ("--worked", "--max-tokens", "2", "--kv-cache")
    told = printed("generate", "-", *asked, width=200, stdin=text + words)
    shifted = "Each key's numbers are divided by their root mean square, with ε, and β is added."
    assert told.count(shifted) == 2


TOGETHER = """
title: Keys are normalized together
tokens: [a]
layers:
  - attention:
      key_norm: {kind: rms_norm, over: heads}
      heads:
        - {Q: [[1, 2]], K: [[-0.75, 0.5]], V: [[1, 0]]}
        - {Q: [[1, 2]], K: [[0.25, 1]], V: [[1, 0]]}
rounding: {decimals: 4, trailing_zeros: keep, digits: {"*": 4}}
"""


def test_joined_keys_keep_the_digits_that_were_printed() -> None:
    """No matrix shows them joined, so digits for all addresses do not change them."""
    told = printed("tutorial", "-", "--detail", "full", stdin=TOGETHER)
    assert "(-0.75)² = 0.5625" in told and "(-0.7500)²" not in told
