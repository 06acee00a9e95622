"""A mask of finite numbers hides a token almost; a sentence says what is left of its weight."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed, run_json
from tests.helpers.sentences import unbroken

TEXT = """\
tokens: [a, b]
embeddings: {a: [1, 2], b: [3, 4]}
layers:
  - attention:
      heads: [{W_Q: [[0.1], [0.2]], W_K: [[0.3], [0.4]], W_V: [[1, 0], [0, 1]]}]
"""
ADDS = "The mask adds {0} to the score of “b”, which multiplies its exponential by e^({0}), about "


def goal(stdin: str, *options: str) -> str:
    """What the step of the softmax says of the first token."""
    text = unbroken(printed("run", "-", "--token", "1", *options, stdin=stdin, width=5000))
    return next(line for line in text.splitlines() if line.startswith("The softmax turns"))


@pytest.mark.parametrize("way", ("mask: {0}\n", "given: {{mask: {0}}}\n"))
def test_a_large_negative_number_leaves_a_weight(way: str) -> None:
    stdin = TEXT + way.format("[[0, -99], [0, 0]]")
    assert goal(stdin).endswith(
        f" {ADDS.format(-99)}1.0×10⁻⁴³. Its weight is 2.0×10⁻⁴³."  # e^(1.25 - 0.55 - 99)
    )
    weights = next(
        v for v in run_json("-", stdin=stdin)["values"] if "head1.weights" in v["address"]
    )
    assert weights["printed"][0] == ["1.000", "2.0×10⁻⁴³"]


def test_what_is_too_small_to_compute_with_is_not_called_0() -> None:
    stdin = TEXT + "given: {mask: [[0, -1e9], [0, 0]]}\n"
    assert goal(stdin).endswith(
        f" {ADDS.format(-1000000000)}1.2×10⁻⁴³⁴²⁹⁴⁴⁸². Before rounding, its weight is greater than "
        "0; it is printed as 0."
    )


def test_on_the_command_line() -> None:
    assert ADDS.format(-5) + "0.0067." in goal(TEXT, "--given", "mask=[[0,-5],[0,0]]")


@pytest.mark.parametrize("mask", ("[[0, -inf], [0, 0]]", "[[0, 1], [0, 0]]", "none"))
def test_nothing_is_said_of_what_is_hidden_or_raised(mask: str) -> None:
    assert "The mask adds" not in goal(TEXT + f"mask: {mask}\n")
