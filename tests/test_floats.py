"""Scenarios that are computed in float64: what is printed is true of floats too."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.truth import equations, false_equations, unreadable

IN_FLOATS = "rounding: {carry: never}\narithmetic: float64\n"

EQUAL = f"""\
title: Equal numbers
tokens: [a, b]
embeddings: [[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]]
layers:
  - ffn:
      residual: false
      norm: {{placement: pre, epsilon: 0.01}}
      W_1: [[0.1, 1], [0.2, -1], [-0.3, 0]]
      W_2: [[1, 0.7, 0.1], [0.3, 2, 0.2]]
  - ffn:
      norm: {{epsilon: 0.01}}
      W_1: [[1], [1], [1]]
      b_1: [-0.1]
      W_2: [[0, 0, 0]]
      b_2: [0.7, 0.7, 0.7]
{IN_FLOATS}"""

OF_A_SIZE = """\
title: Large or small numbers
tokens: [a, b]
embeddings: [[{0}1, {0}25, -{0}37], [-{0}4, {0}3, {0}61]]
positions: none
layers:
  - attention:
      norm: {{epsilon: 0.00001}}
      heads:
        - W_Q: [[{1}1], [{1}2], [{1}7]]
          W_K: [[{1}3], [-{1}1], [{1}2]]
          W_V: [[{0}1, {0}3, 0], [0.1, {1}2, {0}7], [{1}3, 1, 2]]
    ffn:
      W_1: [[{0}13, -1], [{1}2, 3], [{0}17, {1}4]]
      W_2: [[{1}1, 1, {0}3], [{0}2, 2, {1}1]]
"""
SIZES = {
    "large": ("12345678", "0.000000001"),
    "very large": ("9876543210", "0.00000000001"),
    "small": ("0.0000", "12"),
    "very small": ("0.00000000000", "1234"),
}


def assert_true(text: str, fewest: int = 1) -> None:
    assert unreadable(text) == []
    assert false_equations(text) == []
    assert len(equations(text)) >= fewest


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    scenario=scenarios(carry="never", all_digits=True, limits=(1, 2, 1000)),
    width=st.sampled_from([40, 80]),
    data=st.data(),
)
def test_random_scenarios(scenario: dict[str, Any], width: int, data: st.DataObject) -> None:
    token = data.draw(st.integers(1, len(scenario["tokens"])))
    text = to_yaml({**scenario, "arithmetic": "float64"})
    ran = run("run", "-", "--token", str(token), width=width, stdin=text)
    if ran.exit_code:
        # A row of equal numbers and an epsilon of 0, or e to what no float holds.
        assert re.search("a division by zero|too (large|small)", ran.stderr)
        return
    assume(not re.search("10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{5}", ran.stdout))  # the judge writes all its digits out
    assert_true(ran.stdout, fewest=0)


@pytest.mark.parametrize("decimals", [1, 3, 8])
@pytest.mark.parametrize("token", ["1", "2"])
def test_equal_numbers_cancel(token: str, decimals: int) -> None:
    text = printed("run", "-", "--token", token, "--decimals", str(decimals), stdin=EQUAL)
    assert_true(text, fewest=30)


def test_a_sum_of_two_that_is_only_noise_is_zero() -> None:
    text = printed(
        *("run", "-"),
        stdin="title: t\ntokens: [a]\nembeddings: [[0.1, 0.2, -0.3]]\npositions: none\n"
        "layers: [{ffn: {activation: none, W_1: [[1], [1], [0]], W_2: [[0, 0, 1]]}}]\n" + IN_FLOATS,
    )
    assert -0.3 + (0.1 + 0.2) != 0
    assert re.search(r"d₂: -0\.3 \+ 0\.300 += 0\n", text)
    assert_true(text)


def test_the_deviation_of_equal_numbers_is_zero() -> None:
    text = printed("run", "-", "--token", "2", stdin=EQUAL)
    assert re.search(r"d₀: 0\.3 - 0\.300 += 0\n", text)
    assert re.search(r"σ² = \(0 \+ 0 \+ 0\) / 3 = 0 / 3 += 0\n", text)


def test_relu_of_zero() -> None:
    text = printed("run", "-", "--token", "1", stdin=EQUAL)
    assert re.search(r"h₁: max\(0, 0\) += 0\n", text)


@pytest.mark.parametrize("token", ["1", "2"])
@pytest.mark.parametrize("size", SIZES)
def test_large_and_small_numbers(size: str, token: str) -> None:
    scenario = OF_A_SIZE.format(*SIZES[size]) + IN_FLOATS
    assert_true(printed("run", "-", "--token", token, stdin=scenario), fewest=30)


ACTIVATED = """\
title: t
tokens: [a]
embeddings: [[{0}]]
positions: none
layers: [{{ffn: {{activation: {1}, W_1: [[3]], W_2: [[1]]}}}}]
"""


@pytest.mark.parametrize("number", ["1000000000000", "-1000000000000"])
@pytest.mark.parametrize("function", ["gelu", "gelu_tanh", "silu"])
def test_activations_of_what_is_very_large(function: str, number: str) -> None:
    scenario = ACTIVATED.format(number, function) + IN_FLOATS
    text = printed("step", "activation", "-s", "-", stdin=scenario)
    activated = "0" if number.startswith("-") else r"3\.000×10¹²"
    assert re.search(rf"h₁: .*(\n .*)* {activated}\n", text)
    assert_true(text)


def test_a_divisor_that_is_very_large_is_a_power_of_ten() -> None:
    text = printed("step", "activation", "-s", "-", stdin=ACTIVATED.format("-15", "silu"))
    # e^45 is 3.4934×10¹⁹, and 45 / 3.4934×10¹⁹ is 1.28814×10⁻¹⁸.
    assert "-45.000 / (1 + 3.493×10¹⁹) ≈ -45.000 / (3.493×10¹⁹)" in " ".join(text.split())
    assert "≈ -1.3×10⁻¹⁸\n" in text
    assert_true(text)


@pytest.mark.parametrize(("embedding", "printed_row"), [(800, "1.000  0"), (-800, "0  1.000")])
def test_a_power_of_e_below_all_floats_is_0(embedding: int, printed_row: str) -> None:
    """The row's largest is subtracted first; the other is then e to about -800."""
    scenario = (
        f"title: t\ntokens: [a]\nembeddings: [[{embedding}, 1]]\npositions: none\n"
        "layers: [{ffn: {residual: false, activation: none, W_1: [[1, 0], [0, 1]], "
        "W_2: [[1, 0], [0, 1]]}}]\nvocabulary: [x, y]\nunembedding: {W_U: [[1, 0], [0, 1]]}\n"
    )
    text = printed("step", "probabilities", "-s", "-", stdin=scenario + IN_FLOATS)
    assert f"▸ a  {printed_row}\n" in text
    assert "Before rounding, every probability is greater than 0." in " ".join(text.split())
    assert_true(text)
