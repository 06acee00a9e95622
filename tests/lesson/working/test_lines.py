"""The worked lines, held against the documents and against a pencil."""

from __future__ import annotations

import pytest

from tests.helpers.traces import bundled, formula_of, traced, worked

HEAD_1 = "layer1.attention.head1"

# --- lines that the documents have ---------------------------------------------------------------


def test_what_is_ahead_of_a_token() -> None:
    alex = bundled("alex")
    hidden = {token: worked(alex, f"{HEAD_1}.masked", token) for token in (1, 2, 3, 4)}
    names = ["Emma", "Daniel", "Alex"]
    assert {token: list(lines) for token, lines in hidden.items()} == {
        **{1: names, 2: names[1:], 3: names[2:], 4: []}  # what is seen stays, and needs no line
    }
    # (4.987×2.789 + 1.871×2.538) / √2 is 13.1927….
    assert hidden[1]["Emma"] == "13.193 + (-∞) = -∞"
    assert all(
        line.endswith(" + (-∞) = -∞") for lines in hidden.values() for line in lines.values()
    )
    assert worked(alex, f"{HEAD_1}.exp", token=1)["Emma"] == "e^(-∞) = 0"
    assert worked(alex, f"{HEAD_1}.weights", token=1)["Emma"].startswith("0 / ")
    assert worked(alex, f"{HEAD_1}.weights", token=1)["Emma"].endswith(" = 0")


@pytest.mark.parametrize("address", ["tokens", "layer1.ffn.W_1", "mask", "output"])
def test_nothing_is_worked_where_nothing_happens(address: str) -> None:
    assert worked(bundled("alex"), address, token=4) == {}


ATTENTION = """
title: the query of one, the key of the other
tokens: [Emma, Alex]
embeddings: [[2.789, 2.538], [2.589, 1.589]]
layers:
  - attention:
      heads: [{W_Q: [[1, 0], [0, 1]], W_K: [[1, 0], [0, 1]], W_V: [[1, 0], [0, 1]]}]
rounding: {decimals: 3, carry: CARRY}
"""


@pytest.mark.parametrize(
    ("carry", "line"),
    [
        # Each number printed is the one used: 11.254 / 1.414 is 7.95898….
        (
            "line",
            "(2.589×2.789 + 1.589×2.538) / √2 ≈ (7.221 + 4.033) / 1.414 = 11.254 / 1.414 ≈ 7.959",
        ),
        (
            "step",
            "(2.589×2.789 + 1.589×2.538) / √2 ≈ (7.2207 + 4.0329) / √2 = 11.2536 / √2 ≈ 7.957",
        ),
    ],
)
def test_a_score_by_its_carry(carry: str, line: str) -> None:
    ran = traced(ATTENTION.replace("CARRY", carry))
    assert worked(ran, f"{HEAD_1}.scores", token=2)["Emma"] == line


def test_no_formula_says_that_a_symbol_is_itself() -> None:
    alex = bundled("alex")
    for address in (f"{HEAD_1}.dot", f"{HEAD_1}.exp", f"{HEAD_1}.scale", "position", "embedding"):
        assert formula_of(alex, address) is None
