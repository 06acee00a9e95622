"""What is said of a result is what its numbers say."""

from __future__ import annotations

import pytest

from tests.helpers.sentences import attention, ffn, reading

# --- attention -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "keys", "sentence"),
    [
        ("a", "0", "All of the attention of a goes to itself."),
        ("a, b", "0 1.0986", "b gives 75 % of its attention to itself, then 25 % to a."),
        ("a, b", "1.0986 0", "b gives 75 % of its attention to a, then 25 % to itself."),
        ("a, b", "0 0", "The largest shares of b go to a and b: 50 % each."),
        ("a, b, c, d", "0 0 0 0", "The largest shares of d go to a, b, c and d: 25 % each."),
        # 2 : 2 : 1
        ("a, b, c", "0.6931 0.6931 0", "The largest shares of c go to a and b: 40 % each."),
        # 1 : 2 : 1, where the first of two alike is named
        ("a, b, c", "0 0.6931 0", "c gives 50 % of its attention to b, then 25 % to a."),
        # e^-30 is 9.36×10⁻¹⁴
        ("a, b", "0 30", "b gives 100 % of its attention to itself, then 9.4×10⁻¹² % to a."),
        ("a, a", "0 1.0986", "a (2) gives 75 % of its attention to itself, then 25 % to a (1)."),
        ("a, b, a", "1.0986 0 0", "a (3) gives 60 % of its attention to a (1), then 20 % to b."),
    ],
)
def test_shares(tokens: str, keys: str, sentence: str) -> None:
    keys_of_all = keys.split()
    yaml = attention(tokens, *keys_of_all)
    assert reading(yaml, "softmax", str(len(keys_of_all))) == sentence


def test_shares_go_to_no_later_token_however_well_its_key_fits() -> None:
    yaml = attention("a, b, c", "0", "1.0986", "99")
    sentences = [reading(yaml, "softmax", token) for token in ("1", "2")]
    assert sentences == [
        "All of the attention of a goes to itself.",
        "b gives 75 % of its attention to itself, then 25 % to a.",
    ]


@pytest.mark.parametrize(
    ("tokens", "keys", "token", "sentence"),
    [
        ("a, b", ["2", "1"], "2", "The query of b fits the key of a best: 2.0000."),
        ("a, b", ["2", "1"], "1", "The query of a fits the key of a best: 2.0000."),
        ("a, b", ["-2", "-1.5"], "1", "The query of a fits the key of b best: -1.5000."),
        ("a, b", ["1", "1"], "2", None),
        ("a, b, c", ["1", "0", "1"], "2", None),
        ("a", ["1"], "1", None),
    ],
)
def test_best_score(tokens: str, keys: list[str], token: str, sentence: str | None) -> None:
    assert reading(attention(tokens, *keys), "scores", token) == sentence


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("4", "From d nothing is hidden."),
        ("3", "c does not see d."),
        ("2", "b does not see c and d."),
        ("1", "a does not see b, c and d."),
    ],
)
def test_mask(token: str, sentence: str) -> None:
    assert reading(attention("a, b, c, d", *"0000"), "mask", token) == sentence


# --- the FFN and what follows --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hidden", "settings", "sentence"),
    [
        ("1, 2", "", "ReLU keeps them all: none is negative."),
        ("1", "", "ReLU keeps them all: none is negative."),
        ("-1, -2", "", "ReLU keeps none: all are 0 from here on."),
        ("1, -1", "", "ReLU keeps h₁ and zeroes h₂."),
        ("-1, 0.00001", "", "ReLU keeps h₂ and zeroes h₁."),  # however small
        ("1, -1, 2, -2", "", "ReLU keeps h₁ and h₃ and zeroes h₂ and h₄."),
        ("-1, 1, 2, 3", "", "ReLU keeps h₂, h₃ and h₄ and zeroes h₁."),
        ("1, -1", "labels: [cheap, cozy],", "ReLU keeps cheap and zeroes cozy."),
        ("1, -1", "activation: none,", None),
    ],
)
def test_relu(hidden: str, settings: str, sentence: str | None) -> None:
    assert reading(ffn(hidden, settings=settings), "activation", "1") == sentence


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        ("0.5, -0.25", "The FFN changes d₀ most."),
        ("0.5, -0.75", "The FFN changes d₁ most."),
        ("0.5, -0.5", None),
    ],
)
def test_residual(added: str, sentence: str | None) -> None:
    assert reading(ffn(added=added), "residual", "1") == sentence


def test_residual_after_attention() -> None:
    assert reading(attention("a", "5"), "residual", "1") == "Attention changes d₁ most."
    assert reading(attention("a", "1"), "residual", "1") is None


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        # Of (1, 3) the variance is 1, √(1 + 1) is 1.414…, and 1 / 1.414 is 0.707.
        ("0, 2", "The largest is now d₁ with 0.707, the smallest d₀ with -0.707."),
        ("1, -1", "The largest is now d₀ with 0.707, the smallest d₁ with -0.707."),
        ("1, 1", None),
    ],
)
def test_norm(added: str, sentence: str | None) -> None:
    assert reading(ffn(added=added), "norm", "1") == sentence


@pytest.mark.parametrize(
    ("step", "logits", "sentence"),
    [
        ("logits", "1, -2, 2.5", "For a the largest logit is that of “z”: 2.500."),
        ("logits", "1, 1, 0", None),
        # e^1.0986 is 3.00: 1 / 5, 3 / 5, 1 / 5
        ("prediction", "0, 1.0986, 0", "After “a” the model says “y”, with a probability of 60 %."),
        ("prediction", "0, 0, -99", "After “a” the model says “x”, with a probability of 50 %."),
    ],
)
def test_prediction(step: str, logits: str, sentence: str | None) -> None:
    assert reading(ffn(logits=logits), step, "1") == sentence


THREE_FEATURES = """
title: three features, one word
tokens: [a]
embeddings: [[EMBEDDING]]
layers:
  - ffn: {W_1: [[0], [0], [0]], W_2: [[0, 0, 0]], norm: {epsilon: 1}}
vocabulary: [x]
unembedding: {W_U: [[1], [0], [0]]}
"""


def test_nothing_is_largest_or_smallest_among_equals() -> None:
    for embedding, told in (("1, 2, 4", True), ("1, 1, 4", False), ("1, 4, 4", False)):
        sentence = reading(THREE_FEATURES.replace("EMBEDDING", embedding), "norm", "1")
        assert bool(sentence) is told
    assert reading(THREE_FEATURES.replace("EMBEDDING", "1, 2, 4"), "logits", "1") is None
