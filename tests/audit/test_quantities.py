"""Rows of numbers that cannot be what their names or the scores beside them say; those that can."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.audit.conftest import audited

MATRIX = "Attention weights (after softmax):\n[[0.25 0.75]\n [{}]\n [0.50 0.50]]\n"
ONCE = "x_1 = [5.037, 7.759, 3.200]\n\n"


def found(content: str) -> list[tuple[str, str, str | None]]:
    return [(each.code, each.verdict, each.computed) for each in audited(content).findings]


def softmax(scores: list[float]) -> NDArray[np.float64]:
    powers: NDArray[np.float64] = np.exp(np.array(scores))
    return powers / np.sum(powers)


def table(scores: str, shares: str) -> str:
    pairs = zip(scores.split(", "), shares.split(", "), strict=True)
    rows = "\n".join(f"| {a} | **{b}** |" for a, b in pairs)
    return f"| Logit | Softmax output |\n|---|---|\n{rows}\n| Sum | 1 |\n"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("softmax(scores) = [0.20, 0.30, 0.60]", "A06"),
        (r"$$ \text{softmax}(z) = [0.24,\ 0.67,\ 0.19] $$", "A06"),
        ("probabilities = [0.70, 0.25, 0.25]", "A06"),
        ("LayerNorm(x) = [1.2, 0.3, -0.5]", "A07"),  # the mean is 1/3
        ("LayerNorm(x) = [2.0, 0.0, -2.0]", "A07"),  # the deviation is 1.63, or 2
        (ONCE + "x_1 = [5.087, 7.759, 3.200]", "A05"),
    ],
)
def test_what_cannot_be_is_told(content: str, code: str) -> None:
    assert [found_code for found_code, _, _ in found(content)] == [code]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("`softmax([2, -2, 0])   → [0.71, 0.01, 0.10]`", "0.71, 0.01, 0.10"),
        ("logits = [2.0, 1.0, 0.5] → softmax ≈ [0.59, 0.22, 0.13]", "0.59, 0.22, 0.13"),
        ("Scores: [2.1, 0.3, 0.8]\n\nAttention weights: [0.52, 0.09, 0.14]", "0.52, 0.09, 0.14"),
        (MATRIX.format("0.40 0.50"), "0.40 0.50"),
        ("Probabilities:\n```\ntensor([0.5021, 0.4989])\n```", "0.5021, 0.4989"),
    ],
)
def test_a_row_of_shares_that_does_not_add_up(content: str, row: str) -> None:
    total = sum(map(Fraction, row.replace(",", " ").split()))
    [(code, verdict, computed)] = found(content)
    assert (code, verdict) == ("A06", "sum is not 1")
    assert computed is not None
    assert Fraction(computed) == total != 1


@pytest.mark.parametrize(
    "write",
    [
        "softmax([{}]) → [{}]".format,
        "softmax([{}], dim=-1) → tensor([{}])".format,
        "logits = [{}] → probs = [{}]".format,
        table,
    ],
)
def test_shares_are_compared_with_the_softmax_of_the_scores_beside_them(
    write: Callable[[str, str], str],
) -> None:
    scores, exact = "2.0, 4.3, 1.2, -3.1", softmax([2.0, 4.3, 1.2, -3.1])
    rounded, cut = np.round(exact, 4), np.floor(exact * 10**4) / 10**4
    wrong = rounded + np.array([0.02, -0.02, 0, 0])
    for shares in (rounded, cut):
        assert found(write(scores, ", ".join(f"{x:.4f}" for x in shares))) == []
    [(code, verdict, computed)] = found(write(scores, ", ".join(f"{x:.4f}" for x in wrong)))
    assert (code, verdict) == ("A06", "not the softmax")
    assert computed is not None
    assert float(computed) == pytest.approx(exact[0], abs=1e-5)


@pytest.mark.parametrize(
    "content",
    [
        "softmax(scores) = [0.333, 0.333, 0.333]",
        "softmax(scores) = [0.09, 0.245, 0.665]",
        "softmax(scores) = [2.1, 0.3]",  # no shares at all
        "probabilities = [0.964, 0.026, 0.004, 0.006]",
        "weights = [0.7, 0.7]",
        "attention weights = [0.20, 0.20, 0.60]",
        "attention weights before softmax = [0.20, 0.30, 0.60]",
        "LayerNorm(x) = [1.225, 0.0, -1.225]",  # of all three numbers
        "LayerNorm(x) = [1, 0, -1]",  # of all but one
        "LayerNorm(x) = [1.2, 0.3, -0.5] with γ = 2",
        ONCE + "x_1 = [5.04, 7.76, 3.2]",
        ONCE + "x_1 = [0.223, 0.296, 0.305]",  # another one of that name
        ONCE + "x_2 = [5.087, 7.759, 3.200]",
        "x = [5.037, 7.759, 3.200]\n\nx = [5.087, 7.759, 3.200]",  # it may be set anew
        "softmax([20000, 1, 0]) → [0.9, 0.06, 0.04]",  # e^20000 is not computed
        "probs = torch.tensor([0.340, 0.285, 0.195])",  # perhaps of the most probable ones
        "probs = [0.2, 0.5, 0.8]",  # of three coins
        "Top-3 scores: [2.1, 0.3, 0.8]\n\nProbs: [0.52, 0.09, 0.14]",
        "Weights with dropout. Scores: [2.1, 0.3]\n\nAttention weights: [0.52, 0.00]",
        "Attention weights:\n[[0.25 0.65]\n [0.40 0.50]]",  # perhaps the first columns
        "Attention weights:\n[[0.25 0.50 0.25]\n [0.75 0.50 0.75]]",  # columns add up
        "Temperature 2: logits = [2.0, 1.0] → probs = [0.62, 0.38]",
        "This is wrong: softmax([2, 1, 0]) → [0.7, 0.2, 0.2]",
        "| T | Logit | Softmax |\n|---|---|---|\n| 2 | 2.0 | 0.62 |\n| 2 | 1.0 | 0.38 |\n",
        "| Logit | Softmax |\n|---|---|\n| 2.0 | 0.7 |\n| ... | 0.38 |\n",
    ],
)
def test_what_may_be_is_left_alone(content: str) -> None:
    assert found(content) == []
