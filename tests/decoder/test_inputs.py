"""What goes into the first layer: embeddings, positions, the mask."""

from __future__ import annotations

import numpy as np

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


NORMALIZED = f"{POSITIONS}embedding_norm: {{epsilon: 0.01, gain: [1, 2, 0.5], shift: [0, 1, 0]}}\n"


def test_the_norm_of_the_embeddings_is_that_of_the_sum_with_positions() -> None:
    table = [[0.5, -1, 2], [3, 0, -0.5]]
    text = NORMALIZED.replace("SETTINGS", f"{{table: {table}}}").replace("line", "never")
    found = traced(f"{text}arithmetic: float64\n")
    summed = np.array([[1, 2, 3], [4, 5, 6]]) + table
    deviation = summed - summed.mean(axis=1, keepdims=True)
    divided = deviation / np.sqrt((deviation**2).mean(axis=1, keepdims=True) + 0.01)
    expected = divided * [1, 2, 0.5] + [0, 1, 0]
    np.testing.assert_allclose(found["embedding.sum"].array, summed, atol=1e-12)
    for address in ("embedding_norm", "input"):
        np.testing.assert_allclose(found[address].array, expected, atol=1e-12)


def test_without_positions_the_embeddings_alone_are_normalized() -> None:
    found = values(traced(NORMALIZED.replace("SETTINGS", "none")))
    assert "embedding_norm" in found and "embedding.sum" not in found
