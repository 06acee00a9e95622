"""The parts that a decoder may have or lack, on scenarios small enough to be worked by hand."""

from __future__ import annotations

import pytest

from tests.helpers.traces import numbers, steps, traced, values
from tracer.decoder.forward import trace
from tracer.scenario import load

HEAD = (
    *("query", "key", "value", "dot", "scores", "masked", "exp", "exp_sum", "weights", "output"),
)
NORM = ("norm.mean", "norm.deviation", "norm.squared", "norm.variance", "norm.std", "norm")

ALEX = (
    *("tokens", "embedding", "position", "input", "output"),
    *(f"layer1.attention.head{head}.{name}" for head in (1, 2) for name in HEAD),
    *(f"layer1.attention.{name}" for name in ("concat", "output", "residual", *NORM)),
    *(f"layer1.ffn.{name}" for name in ("hidden", "activation", "output", "residual", *NORM)),
    *(f"layer1.attention.head{head}.W_{name}" for head in (1, 2) for name in "QKV"),
    *("layer1.attention.W_O", "layer1.ffn.W_1", "layer1.ffn.W_2"),
)
SCIENCE = ("token_ids", "unembedding.W_U", "logits", "probabilities", "prediction")


@pytest.mark.parametrize(("name", "addresses"), [("alex", ALEX), ("science", SCIENCE)])
def test_every_value_has_the_address_that_is_promised(
    name: str, addresses: tuple[str, ...]
) -> None:
    found = values(trace(name, load(name).scenario))
    assert [address for address in addresses if address not in found] == []


ATTENTION = """
title: two heads, of width 3 and 1
tokens: [a, b]
embeddings: [[1, 2], [3, 4]]
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1, 0, 2], [0, 1, 0]]}
        - {W_Q: [[0, 1], [1, 0]], W_K: [[0, 0], [0, 0]], W_V: [[0], [1]]}
      SETTINGS
rounding: {decimals: 3, carry: never}
"""


def test_heads_of_different_width_stand_side_by_side() -> None:
    ran = traced(ATTENTION.replace("SETTINGS", "residual: false"))
    shapes = {address: value.numbers.shape for address, value in values(ran).items()}
    assert shapes["layer1.attention.head1.query"] == (2, 1)
    assert shapes["layer1.attention.head1.output"] == (2, 3)
    assert shapes["layer1.attention.head2.query"] == (2, 2)
    assert shapes["layer1.attention.head2.output"] == (2, 1)
    # The first token sees itself alone: its values are V¹ = (1, 2, 1×2) and V² = 2.
    assert numbers(ran, "layer1.attention.concat")[0] == ["1", "2", "2", "2"]
    # Keys of zero fit every query alike: of 2 and 4 the second token takes half each.
    assert numbers(ran, "layer1.attention.head2.weights")[1] == ["0.5", "0.5"]
    assert numbers(ran, "layer1.attention.head2.output") == [["2"], ["3.0"]]


def test_without_w_o_residual_and_norm_the_heads_are_the_output() -> None:
    ran = traced(ATTENTION.replace("SETTINGS", "residual: false"))
    concat = numbers(ran, "layer1.attention.concat")
    assert numbers(ran, "layer1.attention.output") == numbers(ran, "output") == concat
    found = set(values(ran))
    assert not found & {"layer1.attention.residual", "layer1.attention.norm", "position"}
    assert not any("W_O" in address or ".norm." in address for address in found)


def test_w_o_brings_the_heads_back_to_the_width_of_the_input() -> None:
    settings = "W_O: [[1, 0], [0, 1], [0, 10], [100, 0]]\n      b_O: [0.5, 0.25]"
    ran = traced(ATTENTION.replace("SETTINGS", settings))
    # (1, 2, 2, 2) W_O + b_O = (1 + 200 + 0.5, 2 + 20 + 0.25); then x = (1, 2) is added.
    assert numbers(ran, "layer1.attention.output")[0] == ["201.5", "22.25"]
    assert numbers(ran, "layer1.attention.residual")[0] == ["202.5", "24.25"]
    assert values(ran)["output"].axes[1].labels == ("d₀", "d₁")


def test_biases_of_a_head() -> None:
    biased = ATTENTION.replace("W_V: [[0], [1]]", "W_V: [[0], [1]], b_Q: [7, 8], b_V: [0.5]")
    ran = traced(biased.replace("SETTINGS", "residual: false"))
    assert numbers(ran, "layer1.attention.head2.query") == [["9", "9"], ["11", "11"]]
    assert numbers(ran, "layer1.attention.head2.key") == [["0", "0"], ["0", "0"]]
    assert numbers(ran, "layer1.attention.head2.value") == [["2.5"], ["4.5"]]


FFN = """
title: two layers
tokens: [a]
embeddings: [[1, 2]]
layers:
  - ffn: {W_1: [[1], [1]], W_2: [[1, 2]]}
  - ffn: {W_1: [[1], [-1]], W_2: [[1, 2]], SETTINGS}
"""


@pytest.mark.parametrize(
    ("settings", "output"),
    [
        # x₁ = (1, 2) + 3×(1, 2) = (4, 8); then h = 4 - 8 = -4.
        ("", ["4", "8"]),
        ("b_1: [6]", ["6", "12"]),  # 2×(1, 2) is added
        ("b_2: [10, 20]", ["14", "28"]),
        ("activation: none", ["0", "0"]),  # -4×(1, 2) is added
        ("activation: none, residual: false", ["-4", "-8"]),
        ("residual: false", ["0", "0"]),
        ("norm: {}", ["-1", "1"]),  # of (4, 8): μ is 6, σ is 2
        ("norm: {epsilon: 12}", ["-0.5", "0.5"]),  # √(4 + 12) is 4
        ("norm: {gain: [2, 3], shift: [0.5, 1]}", ["-1.5", "4"]),
    ],
)
def test_each_layer_works_on_what_the_one_before_hands_on(settings: str, output: list[str]) -> None:
    ran = traced(FFN.replace("SETTINGS", settings))
    assert [float(number) for number in numbers(ran, "output")[0]] == [float(n) for n in output]
    residual = values(ran)["layer1.ffn.residual"]
    assert steps(ran)["layer2.ffn.hidden"].inputs[0] is residual


@pytest.mark.parametrize(
    ("layer", "own", "there"),
    [
        ("norm: {epsilon: 1}", "", True),
        ("norm: {epsilon: 1}", "norm: none", False),
        ("", "norm: {epsilon: 1}", True),
        ("", "", False),
    ],
)
def test_a_norm_of_the_layer_holds_where_the_sub_layer_has_none_of_its_own(
    layer: str, own: str, there: bool
) -> None:
    yaml = f"""
    title: norms
    tokens: [a]
    embeddings: [[1, 2]]
    layers:
      - ffn:
          W_1: [[1], [1]]
          W_2: [[1, 2]]
          {own}
        {layer}
    """
    assert ("layer1.ffn.norm" in values(traced(yaml))) is there


POSITIONS = """
title: positions
tokens: [a, b]
embeddings: {a: [1, 2, 3], b: [4, 5, 6]}
positions: SETTINGS
layers:
  - ffn: {W_1: [[1], [1], [1]], W_2: [[0, 0, 0]]}
rounding: {carry: line, decimals: 2}
"""


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("none", [["1", "2", "3"], ["4", "5", "6"]]),
        ("{table: [[1, 1, 1], [0, 0, 0.5], [9, 9, 9]]}", [["2", "3", "4"], ["4", "5", "6.5"]]),
        # sin 0, cos 0, sin 0; then sin 1 ≈ 0.84, cos 1 ≈ 0.54, sin 10000^(-2/3) ≈ sin 0.0022.
        ("{sinusoidal: {start: 0}}", [["1", "3", "3"], ["4.84", "5.54", "6.00"]]),
        # The first token is at 1, the second at 2: sin 2 ≈ 0.91, cos 2 ≈ -0.42.
        ("{sinusoidal: {}}", [["1.84", "2.54", "3.00"], ["4.91", "4.58", "6.00"]]),
    ],
)
def test_positions(settings: str, expected: list[list[str]]) -> None:
    ran = traced(POSITIONS.replace("SETTINGS", settings))
    found = values(ran)["input"].numbers.astype(float).tolist()
    assert found == [[float(number) for number in row] for row in expected]
    assert ("position" in values(ran)) is (settings != "none")


def test_the_prediction_is_the_most_probable_word() -> None:
    ran = traced("""
    title: words
    tokens: [a, b]
    embeddings: [[1, 2], [2, -1]]
    layers:
      - ffn: {W_1: [[1], [1]], W_2: [[0, 0]]}
    vocabulary: [x, y, z]
    unembedding: {W_U: [[1, 0, 0], [0, 1, 0]], b_U: [0, 0, 1.5]}
    """)
    assert [[float(z) for z in row] for row in numbers(ran, "logits")] == [
        [1, 2, 1.5],
        [2, -1, 1.5],
    ]
    assert numbers(ran, "prediction") == ["y", "x"]
