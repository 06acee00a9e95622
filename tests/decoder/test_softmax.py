"""Softmax where e to the power of a score would be too large."""

from __future__ import annotations

import pytest

from tests.helpers.command import run, run_json

SCENARIO = """
title: A large score
tokens: [a, b]
embeddings: [[SIZE, 0], [SIZE, 0]]
mask: none
softmax: plain
layers:
  - attention:
      heads: [{W_Q: identity, W_K: identity, W_V: identity}]
given: {layer1.attention.head1.GIVEN}
"""
LARGE, SMALL = "10000", "2"


# Each score is 10000² / √2, or 70710678.119: two equal ones share the weight.
@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ("shifted: [[0, 0], [0, -1]]", [[0.5, 0.5], [0.731, 0.269]]),
        ("max: [70710678, 70710678]", [[0.5, 0.5], [0.5, 0.5]]),
    ],
)
def test_what_is_only_there_for_large_scores_can_be_given(
    given: str, weights: list[list[float]]
) -> None:
    scenario = SCENARIO.replace("SIZE", LARGE).replace("GIVEN", given)
    values = {value["address"]: value for value in run_json("-", stdin=scenario)["values"]}
    found = values["layer1.attention.head1.weights"]["data"]
    assert found == [pytest.approx(row, abs=0.001) for row in weights]


def test_nothing_is_shifted_where_no_score_is_large() -> None:
    scenario = SCENARIO.replace("SIZE", SMALL).replace("GIVEN", "shifted: [[0, 0], [0, 0]]")
    ran = run("run", "-", stdin=scenario)
    assert ran.exit_code == 2
    assert "layer1.attention.head1.shifted: given, but no such value exists" in ran.stderr
