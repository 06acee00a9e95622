"""The worked lines, held against the documents and against a pencil."""

from __future__ import annotations

import pytest

from tests.helpers.traces import bundled, formula_of, traced, worked
from tracer.scenario.carry import Carry

HEAD_1 = "layer1.attention.head1"

# --- lines that the documents have ---------------------------------------------------------------

SCIENCE = [
    ("input", {"d₀": "2.0 + 0.4 = 2.4", "d₁": "1.0 + 0.4 = 1.4"}),
    (
        f"{HEAD_1}.value",
        {"v₁": "2.4×1 + 1.4×1 = 2.4 + 1.4 = 3.8", "v₂": "2.4×0 + 1.4×1 = 0 + 1.4 = 1.4"},
    ),
    (f"{HEAD_1}.scale", {"": "√d_k = √2 ≈ 1.414"}),
    (
        f"{HEAD_1}.scores",
        {
            "i": "(2.4×1.1 + 1.4×1.2) / √2 ≈ (2.64 + 1.68) / 1.414 = 4.32 / 1.414 ≈ 3.06",
            "like": "(2.4×0.2 + 1.4×1.4) / √2 ≈ (0.48 + 1.96) / 1.414 = 2.44 / 1.414 ≈ 1.73",
            "data": "(2.4×1.3 + 1.4×2.6) / √2 ≈ (3.12 + 3.64) / 1.414 = 6.76 / 1.414 ≈ 4.78",
            "science": "(2.4×2.4 + 1.4×3.8) / √2 ≈ (5.76 + 5.32) / 1.414 = 11.08 / 1.414 ≈ 7.84",
        },
    ),
    # e^1.73 is 5.6407, which the document has as 5.65, and e^7.84 is 2540.2, there 2550.
    (
        f"{HEAD_1}.exp",
        {
            "i": "e^3.06 ≈ 21.3",
            "like": "e^1.73 ≈ 5.64",
            "data": "e^4.78 ≈ 119",
            "science": "e^7.84 ≈ 2540",
        },
    ),
    (f"{HEAD_1}.exp_sum", {"": "Σ = 21.3 + 5.64 + 119 + 2540 = 2685.94"}),
    (
        f"{HEAD_1}.weights",
        {
            "i": "21.3 / 2685.94 ≈ 0.008",
            "like": "5.64 / 2685.94 ≈ 0.002",
            "data": "119 / 2685.94 ≈ 0.044",
            "science": "2540 / 2685.94 ≈ 0.946",
        },
    ),
    # Both are as in the document up to the sums, which it has as 3.73 and 1.39.
    (
        f"{HEAD_1}.output",
        {
            "v₁": "0.008×1.2 + 0.002×1.4 + 0.044×2.6 + 0.946×3.8 "
            "= 0.0096 + 0.0028 + 0.1144 + 3.5948 = 3.7216 ≈ 3.72",
            "v₂": "0.008×0.1 + 0.002×1.2 + 0.044×1.3 + 0.946×1.4 "
            "= 0.0008 + 0.0024 + 0.0572 + 1.3244 = 1.3848 ≈ 1.38",
        },
    ),
]


@pytest.mark.parametrize(("address", "lines"), SCIENCE)
def test_science(address: str, lines: dict[str, str]) -> None:
    assert worked(bundled("science"), address, token=4) == lines


ALEX = [
    ("input", "spicy", "0.98 + (-0.757) = 0.223"),
    # e^11.563 is 105134.9…, which the document has as 104800.
    (f"{HEAD_1}.exp", "Frank", "e^11.563 ≈ 105135"),
    (f"{HEAD_1}.weights", "Frank", "105135 / 109078 ≈ 0.964"),
    # 13.646619 and 2.706067
    (
        f"{HEAD_1}.scores",
        "Frank",
        "(2.589×5.271 + 1.589×1.703) / √2 ≈ (13.647 + 2.706) / √2 = 16.353 / √2 ≈ 11.563",
    ),
    # 7.220721 and 4.032882: with three decimals 11.254 / √2 would be 7.958, but S is 7.957.
    (
        f"{HEAD_1}.scores",
        "Emma",
        "(2.589×2.789 + 1.589×2.538) / √2 ≈ (7.2207 + 4.0329) / √2 = 11.2536 / √2 ≈ 7.957",
    ),
    ("layer1.attention.residual", "cheap", "0.296 + 7.463 = 7.759"),
    (
        "layer1.attention.norm.mean",
        "",
        "μ = (5.037 + 7.759 + 3.200 + 6.620 + 5.140 + 5.451) / 6 = 33.207 / 6 = 5.5345",
    ),
    # Inside a LayerNorm alex keeps three decimals more, and no zeros behind what is exact.
    ("layer1.attention.norm.deviation", "spicy", "5.037 - 5.5345 = -0.4975"),
    ("layer1.attention.norm.deviation", "cheap", "7.759 - 5.5345 = 2.2245"),
    ("layer1.attention.norm.squared", "spicy", "(-0.4975)² = 0.24750625 ≈ 0.247506"),
    ("layer1.attention.norm.squared", "cheap", "2.2245² = 4.94840025 ≈ 4.948400"),
    ("layer1.attention.norm.squared", "vibe", "(-0.0835)² = 0.00697225 ≈ 0.006972"),
    (
        "layer1.attention.norm.variance",
        "",
        "σ² = (0.247506 + 4.948400 + 5.449890 + 1.178310 + 0.155630 + 0.006972) / 6 "
        "= 11.986708 / 6 ≈ 1.997785",
    ),
    ("layer1.attention.norm.std", "", "σ = √1.997785 ≈ 1.413430"),  # 1.4134302…
    ("layer1.attention.norm", "spicy", "-0.4975 / 1.413430 ≈ -0.352"),
    ("layer1.attention.norm", "cheap", "2.2245 / 1.413430 ≈ 1.574"),
    # The document rounds the products to three decimals; their sum is then 0.519.
    (
        "layer1.ffn.hidden",
        "h₁",
        "(-0.352)×0.8 + 1.574×0.2 + (-1.652)×0.1 + 0.768×0.9 + (-0.279)×0.1 + (-0.059)×0.2 "
        "= -0.2816 + 0.3148 - 0.1652 + 0.6912 - 0.0279 - 0.0118 = 0.5195 ≈ 0.520",
    ),
    ("layer1.ffn.activation", "h₂", "max(0, 0.584) = 0.584"),
    ("layer1.ffn.activation", "h₃", "max(0, -1.185) = 0"),
    (
        "layer1.ffn.output",
        "spicy",
        "0.520×0.7 + 0.584×0.1 + 0×0.2 ≈ 0.364 + 0.058 + 0 = 0.422",
    ),
]


@pytest.mark.parametrize(("address", "label", "line"), ALEX)
def test_alex(address: str, label: str, line: str) -> None:
    assert worked(bundled("alex"), address, token=4)[label] == line


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


@pytest.mark.parametrize(
    ("address", "formula"),
    [
        ("input", "X′ = X + P"),
        (f"{HEAD_1}.query", "Q¹ = X′ · W_Q¹"),
        ("layer1.attention.head2.scores", "S² = Q² · K²ᵀ / √d_k"),
        (f"{HEAD_1}.exp_sum", "Σ¹ = sum(e^(S¹ + M))"),
        (f"{HEAD_1}.weights", "A¹ = e^(S¹ + M) / Σ¹"),
        ("layer1.attention.output", "Attention(X′) = [O¹ O²] · W_O"),
        ("layer1.attention.norm.mean", "μ = mean(r₁)"),
        ("layer1.attention.norm.variance", "σ² = mean((r₁ - μ)²)"),
        ("layer1.attention.norm", "x₁ = (r₁ - μ) / σ"),
        ("layer1.ffn.activation", "a = max(0, h)"),
        ("layer1.ffn.residual", "r₂ = x₁ + FFN(x₁)"),
    ],
)
def test_formula(address: str, formula: str) -> None:
    alex = bundled("alex")
    assert formula_of(alex, address) == formula


def test_no_formula_says_that_a_symbol_is_itself() -> None:
    alex = bundled("alex")
    for address in (f"{HEAD_1}.dot", f"{HEAD_1}.exp", f"{HEAD_1}.scale", "position", "embedding"):
        assert formula_of(alex, address) is None


def test_with_line_the_root_is_that_of_the_variance_printed() -> None:
    line = worked(bundled("alex", Carry.LINE), "layer1.attention.norm.std", token=4)[""]
    assert line == "σ = √2.000 ≈ 1.414"
