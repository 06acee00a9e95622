"""What is said of a result is what its numbers say."""

from __future__ import annotations

import pytest

from tests.helpers.sentences import attention, ffn, reading

# --- attention -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "keys", "sentence"),
    [
        ("a", "0", None),
        ("a, b", "0 1.0986", "“b” gives 75 % of its attention to itself and 25 % to “a”."),
        ("a, b", "1.0986 0", "“b” gives 75 % of its attention to “a” and 25 % to itself."),
        ("a, b", "0 0", None),
        ("a, b, c, d", "0 0 0 0", None),
        # 2 : 2 : 1
        ("a, b, c", "0.6931 0.6931 0", None),
        # 1 : 2 : 1
        (
            "a, b, c",
            "0 0.6931 0",
            "“c” gives 50 % of its attention to “b”, more than to any other token.",
        ),
        # e^-30 is 9.36×10⁻¹⁴
        ("a, b", "0 30", "“b” gives nearly all of its attention to itself."),
        (
            "a, a",
            "0 1.0986",
            "“a (2)” gives 75 % of its attention to itself and 25 % to “a (1)”.",
        ),
        # 3 : 1 : 2
        (
            "a, b, a",
            "1.0986 0 0.6931",
            "“a (3)” gives 50 % of its attention to “a (1)” and 33 % to itself.",
        ),
    ],
)
def test_shares(tokens: str, keys: str, sentence: str | None) -> None:
    keys_of_all = keys.split()
    yaml = attention(tokens, *keys_of_all)
    assert reading(yaml, "softmax", str(len(keys_of_all))) == sentence


def test_shares_go_to_no_later_token_however_well_its_key_fits() -> None:
    yaml = attention("a, b, c", "0", "1.0986", "99")
    sentences = [reading(yaml, "softmax", token) for token in ("1", "2")]
    assert sentences == [
        None,
        "“b” gives 75 % of its attention to itself and 25 % to “a”.",
    ]


@pytest.mark.parametrize(
    ("tokens", "keys", "token", "sentence"),
    [
        (
            "a, b",
            ["2", "1"],
            "2",
            "The largest score of “b” is that for the key of “a” with 2.0000; “b” has 1.0000.",
        ),
        ("a, b", ["2", "1"], "1", None),  # b is hidden from a
        (
            "a, b",
            ["-2", "-1.5"],
            "2",
            "The largest score of “b” is that for the key of “b” with -1.5000; “a” has -2.0000.",
        ),
        ("a, b", ["1", "1"], "2", None),
        (
            "a, b, c",
            ["1", "0.5", "9"],
            "2",
            "The largest score of “b” is that for the key of “a” with 1.0000; “b” has 0.5000.",
        ),
        (
            "a, b, c",
            ["0", "1", "0"],
            "3",
            "The largest score of “c” is that for the key of “b” with 1.0000.",
        ),
        (
            "a, b, c",
            ["2", "1", "0"],
            "3",
            "The largest score of “c” is that for the key of “a” with 2.0000, followed by “b” with "
            "1.0000.",
        ),
        ("a", ["1"], "1", None),
    ],
)
def test_best_score(tokens: str, keys: list[str], token: str, sentence: str | None) -> None:
    assert reading(attention(tokens, *keys), "scores", token) == sentence


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("4", "“d” can attend to every token."),
        ("3", "“c” cannot attend to “d”."),
        ("2", "“b” cannot attend to “c” or “d”."),
        ("1", "“a” cannot attend to “b”, “c” or “d”."),
    ],
)
def test_mask(token: str, sentence: str) -> None:
    assert reading(attention("a, b, c, d", *"0000"), "mask", token) == sentence


# --- the FFN and what follows --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hidden", "settings", "sentence"),
    [
        ("1, 2", "", "ReLU changes no hidden unit: none is negative."),
        ("1, 0", "", "ReLU changes no hidden unit: none is negative."),
        ("1", "", None),
        ("0, 0", "", None),
        ("-1, -2", "", "ReLU keeps no hidden unit: none is positive."),
        ("-1, 0", "", "ReLU keeps no hidden unit: none is positive."),
        ("1, -1", "", "ReLU keeps “h₁” and sets “h₂” to 0."),
        ("1, -1, 0", "", "ReLU keeps “h₁” and sets “h₂” to 0."),
        ("-1, 0.00001", "", "ReLU keeps “h₂” and sets “h₁” to 0."),  # however small
        ("1, -1, 2, -2", "", "ReLU keeps “h₁” and “h₃” and sets “h₂” and “h₄” to 0."),
        ("-1, 1, 2, 3", "", "ReLU keeps “h₂”, “h₃” and “h₄” and sets “h₁” to 0."),
        ("1, 2, 3, 4, 5, -1", "", "ReLU keeps “h₁”, “h₂”, “h₃”, “h₄” and “h₅” and sets “h₆” to 0."),
        (
            "1, 2, 3, 4, -1, -2, 0",
            "",
            "ReLU keeps 4 of the 7 hidden units and sets 2 to 0; the largest is “h₄” with 4.000.",
        ),
        ("1, 2, 4, 4, -1, -2, 0", "", "ReLU keeps 4 of the 7 hidden units and sets 2 to 0."),
        ("1, -1", "labels: [cheap, cozy],", "ReLU keeps “cheap” and sets “cozy” to 0."),
        ("1, -1", "labels: [u, u],", "ReLU keeps “u (1)” and sets “u (2)” to 0."),
        ("1, -1", "activation: none,", None),
    ],
)
def test_relu(hidden: str, settings: str, sentence: str | None) -> None:
    assert reading(ffn(hidden, settings=settings), "activation", "1") == sentence


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        ("0.5, -0.25", "The FFN changes “d₀” most, by 0.500."),
        ("0.5, -0.75", "The FFN changes “d₁” most, by -0.750."),
        ("0.5, -0.5", None),
    ],
)
def test_residual(added: str, sentence: str | None) -> None:
    assert reading(ffn(added=added), "residual", "1") == sentence


def test_residual_after_attention() -> None:
    assert (
        reading(attention("a", "5"), "residual", "1") == "Attention changes “d₁” most, by 5.0000."
    )
    assert reading(attention("a", "1"), "residual", "1") is None


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        # Of (1, 3) the variance is 1, √(1 + 1) is 1.414…, and 1 / 1.414 is 0.707.
        ("0, 2", "The largest number is now “d₁” with 0.707, the smallest “d₀” with -0.707."),
        ("1, -1", "The largest number is now “d₀” with 0.707, the smallest “d₁” with -0.707."),
        ("1, 1", None),
    ],
)
def test_norm(added: str, sentence: str | None) -> None:
    assert reading(ffn(added=added), "norm", "1") == sentence


@pytest.mark.parametrize(
    ("step", "logits", "sentence"),
    [
        (
            "logits",
            "1, -2, 2.5",
            "After “a”, the largest logit is that of “z” with 2.500, followed by “x” with 1.000.",
        ),
        ("logits", "1, 1, 0", None),
        # e^1.0986 is 3.00: 1 / 5, 3 / 5, 1 / 5
        (
            "prediction",
            "0, 1.0986, 0",
            "After “a”, the model predicts “y” with a probability of 60 %.",
        ),
        ("prediction", "0, 0, -99", None),
        ("prediction", "0, 99, 0", "After “a”, the model predicts “y”."),
    ],
)
def test_prediction(step: str, logits: str, sentence: str | None) -> None:
    assert reading(ffn(logits=logits), step, "1") == sentence


LABELS = """
title: labels read out
tokens: [a, b]
features: [size, age]
embeddings: [[3, 1], [1, 2]]
layers:
  - attention:
      heads:
        - W_Q: [[1, 0], [0, 1]]
          W_K: [[1, 0], [0, 1]]
          W_V: [[2, 0], [0, 1]]
          labels: {query: [what is big?, what is old?], key: [big, old], value: [size of, age of]}
      W_O: [[0, 1], [1, 0]]
rounding: {carry: line, decimals: 2}
"""


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (
            "query",
            "In the query of “b”, “what is old?” is larger, with 2.00; “what is big?” has 1.00.",
        ),
        (
            "key",
            "In the key of “b”, “old” is larger, with 2.00; “big” has 1.00.",
        ),
        ("value", None),
        # (1×3 + 2×1) / 1.41 is 3.55, as is (1×1 + 2×2) / 1.41: both weigh 0.50.
        ("scores", None),
        # 0.50×6 + 0.50×2 is 4, and 0.50×1 + 0.50×2 is 1.50.
        ("weighted_sum", "Most of “size of” comes from “a”: 3.00 of 4.00."),
        # (4, 1.50) is turned round, and 1 and 2 are added: each from one number alone.
        ("projection", None),
        (
            "output",
            "In X′, the largest number of “b” is “age” with 2; in y, it is “age” with 6.00.",
        ),
    ],
)
def test_labels_read_out(step: str, sentence: str | None) -> None:
    assert reading(LABELS, step, "2") == sentence


def test_a_score_comes_mostly_from_one_dimension() -> None:
    # (3×3 + 1×1) / 1.41 is 10 / 1.41, and (3×1 + 1×2) / 1.41 is 5 / 1.41.
    last = LABELS.replace("[[3, 1], [1, 2]]", "[[1, 2], [3, 1]]")
    assert reading(last, "scores", "2") == (
        "The largest score of “b” is that for the key of “b” with 7.09; “a” has 3.55. Most of the "
        "dot product comes from “what is big?”: 9.00 of 10.00."
    )


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


def of_nearly(step: str, carry: str, decimals: int) -> str | None:
    yaml = NEARLY.replace("CARRY", carry).replace("DECIMALS", str(decimals))
    return reading(yaml, step, "2")


def test_what_differs_in_print_alone_or_not_at_all() -> None:
    # As the pencil has it, both keys are alike; in full precision a's is larger by less than can be
    # seen with three decimals. 0.5 + 0.0001 / 4 is 0.500025, and less by 0.0001³ / 48.
    assert of_nearly("softmax", "line", 3) is None
    assert of_nearly("softmax", "never", 3) is None
    assert of_nearly("softmax", "never", 5) == (
        "“b” gives 50.002 % of its attention to “a” and 49.998 % to itself."
    )
    assert of_nearly("logits", "never", 3) is None
    assert of_nearly("logits", "never", 4) == (
        "After “b”, the largest logit is that of “y” with 1.0002; “x” has 1.0001."
    )
    assert of_nearly("prediction", "step", 3) is None
