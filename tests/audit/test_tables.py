"""Shares that do not add up to 1, and rows and columns that are not the softmax of their scores."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tracer.audit.judging.findings import audit
from tracer.audit.reading.texts import Markup, Text


def found(content: str) -> list[tuple[str, str, str | None]]:
    findings = audit(Text("text", content, Markup.MARKDOWN)).findings
    return [(each.code, each.verdict, each.computed) for each in findings]


def softmax(scores: list[float]) -> NDArray[np.float64]:
    powers: NDArray[np.float64] = np.exp(np.array(scores))
    return powers / np.sum(powers)


def table(scores: str, shares: str) -> str:
    pairs = zip(scores.split(", "), shares.split(", "), strict=True)
    rows = "\n".join(f"| {a} | **{b}** |" for a, b in pairs)
    return f"| Logit | Softmax output |\n|---|---|\n{rows}\n| Sum | 1 |\n"


MATRIX = "Attention weights (after softmax):\n[[0.25 0.75]\n [{}]\n [0.50 0.50]]\n"


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("`softmax([2, -2, 0])   → [0.71, 0.01, 0.10]`", "0.71, 0.01, 0.10"),
        ("logits = [2.0, 1.0, 0.5] → softmax ≈ [0.59, 0.22, 0.13]", "0.59, 0.22, 0.13"),
        ("Scores: [2.1, 0.3, 0.8]\n\nAttention weights: [0.52, 0.09, 0.14]", "0.52, 0.09, 0.14"),
        (MATRIX.format("0.40 0.50"), "0.40 0.50"),
        ("# Probabilities: tensor([0.5021, 0.4989])", "0.5021, 0.4989"),
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
        "softmax([2, 1, 0]) → [0.67, 0.24, 0.09]",  # 0.665 is rounded
        "softmax([2, 1, 0]) → [0.66, 0.24, 0.09]",  # or cut
        "softmax([20000, 1, 0]) → [0.9, 0.06, 0.04]",  # e^20000 is not computed
        "probs = torch.tensor([0.340, 0.285, 0.195])",  # perhaps of the most probable ones
        "probs = [0.2, 0.5, 0.8]",  # of three coins
        "Top-3 scores: [2.1, 0.3, 0.8]\n\nProbs: [0.52, 0.09, 0.14]",
        "Weights with dropout. Scores: [2.1, 0.3]\n\nAttention weights: [0.52, 0.00]",
        "Attention weights before softmax:\n[[0.25 0.75]\n [0.40 0.50]]",
        "Attention weights:\n[[0.25 0.65]\n [0.40 0.50]]",  # perhaps the first columns
        "Attention weights:\n[[0.25 0.50 0.25]\n [0.75 0.50 0.75]]",  # columns add up
        "Temperature 2: logits = [2.0, 1.0] → probs = [0.62, 0.38]",
        "This is wrong: softmax([2, 1, 0]) → [0.7, 0.2, 0.2]",
        "| T | Logit | Softmax |\n|---|---|---|\n| 2 | 2.0 | 0.62 |\n| 2 | 1.0 | 0.38 |\n",
        "| Logit | Softmax |\n|---|---|\n| 2.0 | 0.7 |\n| ... | 0.38 |\n",
    ],
)
def test_what_may_be_shares_is_left_alone(content: str) -> None:
    assert found(content) == []
