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
