"""What is said of a result is what its numbers say: edges, which the judge of sentences reads.

It computes each sentence again, fails where one is due and missing, and where one is not.
"""

from __future__ import annotations

import pytest
import yaml

from tests.helpers.sentences import attention, ffn, reading
from tests.lesson.test_every_claim import wrong

# Who is followed last, and the keys, which are the scores.
KEYS = {
    "alone": ("a", "0"),
    "itself most": ("a, b", "0 1.0986"),
    "another most": ("a, b", "1.0986 0"),
    "a tie of two": ("a, b", "0 0"),
    "a tie of all": ("a, b, c, d", "0 0 0 0"),
    "a tie of the largest": ("a, b, c", "0.6931 0.6931 0"),
    "a tie of the second": ("a, b, c", "0 0.6931 0"),
    "nearly all": ("a, b", "0 30"),
    "one word twice": ("a, a", "0 1.0986"),
    "one word twice and another": ("a, b, a", "1.0986 0 0.6931"),
    "negative scores": ("a, b", "-2 -1.5"),
    "a later key that fits best": ("a, b, c", "0 1.0986 99"),
    "a later key of three": ("a, b, c", "1 0.5 9"),
    "in order": ("a, b, c", "2 1 0"),
}
HIDDEN = {
    **{"none negative": "1, 2", "none negative, one 0": "1, 0", "one unit": "1", "zeros": "0, 0"},
    **{"none positive": "-1, -2", "none positive, one 0": "-1, 0", "both": "1, -1"},
    **{"both and 0": "1, -1, 0", "however small": "-1, 0.00001", "two and two": "1, -1, 2, -2"},
    **{"three": "-1, 1, 2, 3", "six": "1, 2, 3, 4, 5, -1", "seven": "1, 2, 3, 4, -1, -2, 0"},
    "a tie of seven": "1, 2, 4, 4, -1, -2, 0",
}
LABELS = """
title: labels read out
tokens: [a, b]
features: [size, age]
embeddings: EMBEDDINGS
layers:
  - attention:
      heads:
        - W_Q: [[1, 0], [0, 1]]
          W_K: [[1, 0], [0, 1]]
          W_V: [[2, 0], [0, 1]]
          labels:
            {query: ["what is big?", "what is old?"], key: [big, old], value: [size of, age of]}
      W_O: [[0, 1], [1, 0]]
rounding: {carry: line, decimals: 2}
"""
THREE_FEATURES = """
title: three features, one word
tokens: [a]
embeddings: [[EMBEDDING]]
layers:
  - ffn: {W_1: [[0], [0], [0]], W_2: [[0, 0, 0]], norm: {epsilon: 1}}
vocabulary: [x]
unembedding: {W_U: [[1], [0], [0]]}
"""
# Without their digits the two are alike; e^0.0001 is 1.00010…, which is rounded to 1.000.
NEARLY = """
title: two keys that are nearly alike
tokens: [a, b]
embeddings: [[1, 0.0001], [1, 0]]
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1, 0], [0, 1]]}]
vocabulary: [x, y]
unembedding: {W_U: [[0, 0], [0, 0]], b_U: [1.0001, 1.0002]}
rounding: {carry: CARRY, decimals: DECIMALS}
"""
EDGES = {
    **{name: attention(tokens, *keys.split()) for name, (tokens, keys) in KEYS.items()},
    **{f"hidden units: {name}": ffn(hidden) for name, hidden in HIDDEN.items()},
    "labels of units": ffn("1, -1", settings="labels: [cheap, cozy],"),
    "equal labels of units": ffn("1, -1", settings="labels: [u, u],"),
    "no activation": ffn("1, -1", settings="activation: none,"),
    **{f"added: {added}": ffn(added=added) for added in ("0.5, -0.25", "0.5, -0.75", "0.5, -0.5")},
    **{f"attention adds {key}": attention("a", key) for key in ("5", "1")},
    **{f"normalized: {added}": ffn(added=added) for added in ("0, 2", "1, -1", "1, 1")},
    **{
        f"logits: {logits}": ffn(logits=logits)
        for logits in ("1, -2, 2.5", "1, 1, 0", "0, 1.0986, 0", "0, 0, -99", "0, 99, 0")
    },
    "labels": LABELS.replace("EMBEDDINGS", "[[3, 1], [1, 2]]"),
    "labels of a score": LABELS.replace("EMBEDDINGS", "[[1, 2], [3, 1]]"),
    **{
        f"features: {row}": THREE_FEATURES.replace("EMBEDDING", row)
        for row in ("1, 2, 4", "1, 1, 4", "1, 4, 4")
    },
    **{
        f"nearly alike: {carry} {decimals}": NEARLY.replace("CARRY", carry).replace(
            "DECIMALS", str(decimals)
        )
        for carry, decimals in (("line", 3), ("step", 3), ("never", 3), ("never", 4), ("never", 5))
    },
}


LARGEST_IS_HIDDEN = """
tokens: [a, b, c]
embeddings: {a: [1], b: [4], c: [9]}
layers:
  - attention: {scale: none, heads: [{W_Q: [[0.25]], W_K: identity, W_V: identity}]}
"""


@pytest.mark.parametrize("edge", EDGES)
def test_the_judge_agrees(edge: str) -> None:
    source = EDGES[edge]
    tokens = str(source.partition("tokens: [")[2].partition("]")[0].count(",") + 1)
    for token in {tokens, "2" if int(tokens) > 2 else "1"}:
        assert wrong("run", yaml.safe_load(source), "--token", token, stdin=source) == []


@pytest.mark.parametrize(
    ("source", "step", "token", "sentence"),
    [
        # 1 : 2 : 1
        (
            *(attention("a, b, c", "0", "0.6931", "0"), "softmax", "3"),
            "“c” gives 50 % of its attention to “b”, more than to any other token.",
        ),
        (attention("a, b", "0", "0"), "softmax", "2", None),
        (attention("a, b, c, d", *"0000"), "mask", "2", "“b” cannot attend to “c” or “d”."),
        (ffn("1, -1"), "activation", "1", "ReLU keeps “h₁” and sets “h₂” to 0."),
        # Of (1, 3) the variance is 1, √(1 + 1) is 1.414…, and 1 / 1.414 is 0.707.
        (
            *(ffn(added="0, 2"), "norm", "1"),
            "The largest number is now “d₁” with 0.707, the smallest “d₀” with -0.707.",
        ),
        # (3×3 + 1×1) / 1.41 is 10 / 1.41, and (3×1 + 1×2) / 1.41 is 5 / 1.41.
        (
            *(EDGES["labels of a score"], "scores", "2"),
            "The largest score of “b” is that for the key of “b” with 7.09; “a” has 3.55. Most of "
            "the dot product comes from “what is big?”: 9.00 of 10.00.",
        ),
        # The query of b is 1. The mask hides c, whose key is 9.
        (
            *(LARGEST_IS_HIDDEN, "scores", "2"),
            "The largest score of “b” among the keys that it can attend to is that for the key of "
            "“b” with 4.000; “a” has 1.000.",
        ),
    ],
)
def test_by_pencil(source: str, step: str, token: str, sentence: str | None) -> None:
    assert reading(source, step, token) == sentence
