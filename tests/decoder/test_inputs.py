"""What goes into the first layer: embeddings, positions, the mask."""

from __future__ import annotations

import pytest

from tests.helpers.traces import numbers, traced, values

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


@pytest.mark.parametrize(
    ("scale", "positions", "expected"),
    [
        ("sqrt", "none", [["1.73", "3.46", "5.19"], ["6.92", "8.65", "10.38"]]),  # √3 ≈ 1.73
        ("0.5", "none", [["0.5", "1", "1.5"], ["2", "2.5", "3"]]),
        ("2", "{table: [[1, 1, 1], [0, 0, 0.5]]}", [["3", "5", "7"], ["8", "10", "12.5"]]),
        ("none", "none", [["1", "2", "3"], ["4", "5", "6"]]),
    ],
)
def test_embeddings_are_scaled_before_positions_are_added(
    scale: str, positions: str, expected: list[list[str]]
) -> None:
    yaml = POSITIONS.replace("SETTINGS", f"{positions}\nembedding_scale: {scale}")
    found = values(traced(yaml))["input"].numbers.astype(float).tolist()
    assert found == [[float(number) for number in row] for row in expected]


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
def test_a_mask_hides_what_is_later_and_what_fills_up(arithmetic: str) -> None:
    ran = traced(f"""
    title: mask
    tokens: [a, <PAD>, b, <PAD>]
    padding: <PAD>
    embeddings: {{a: [1], b: [2], <PAD>: [0]}}
    layers: [{{attention: {{heads: [{{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}}]}}}}]
    rounding: {{carry: never}}
    arithmetic: {arithmetic}
    """)
    hidden = float("-inf")
    assert values(ran)["mask"].array.tolist() == [
        [0, hidden, hidden, hidden],
        [0, hidden, hidden, hidden],
        [0, hidden, 0, hidden],
        [0, hidden, 0, hidden],
    ]
    assert [axis.name for axis in values(ran)["mask"].axes] == ["token", "key"]


def test_where_no_token_looks_at_another_there_is_no_mask() -> None:
    assert "mask" not in values(traced(POSITIONS.replace("SETTINGS", "none")))


def test_labels_are_the_scenarios_or_numbered() -> None:
    text = POSITIONS.replace("SETTINGS", "{sinusoidal: {}}")
    found = values(traced(text))
    assert found["embedding"].axes[1].labels == ("d₀", "d₁", "d₂")
    assert found["position.angle"].axes[1].labels == ("ω₀", "ω₁")
    named = values(traced(f"{text}features: [x, y, z]\ntoken_ids: [7, 9]\n"))
    assert named["input"].axes[1].labels == named["position"].axes[1].labels == ("x", "y", "z")
    assert [str(x) for x in named["token_ids"].numbers] == ["7", "9"]
    assert list(named["tokens"].numbers) == ["a", "b"]


def test_pinned_positions_are_added_and_not_worked_out() -> None:
    text = POSITIONS.replace("SETTINGS", "{sinusoidal: {}}")
    ran = traced(f"{text}given: {{position: [[1, 0, 0.50], [0, 0, 0]]}}\n")
    assert numbers(ran, "position") == [["1", "0", "0.50"], ["0", "0", "0"]]
    assert [float(x) for x in numbers(ran, "input")[0]] == [2, 2, 3.5]
    assert not [address for address in values(ran) if address.startswith("position.")]
