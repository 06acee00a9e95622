"""Rows of numbers that cannot be what their names say, and those that can."""

from __future__ import annotations

import pytest

from tracer.audit.judging.findings import audit
from tracer.audit.reading.texts import Markup, Text

ONCE = "x_1 = [5.037, 7.759, 3.200]\n\n"


def codes(content: str) -> list[str]:
    return [each.code for each in audit(Text("text", content, Markup.MARKDOWN)).findings]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("softmax(scores) = [0.20, 0.30, 0.60]", "A06"),
        (r"$$ \text{softmax}(z) = [0.24,\ 0.67,\ 0.19] $$", "A06"),
        ("probabilities = [0.70, 0.25, 0.25]", "A06"),
        ("Attention weights = [0.20, 0.30, 0.60]", "A06"),
        ("LayerNorm(x) = [1.2, 0.3, -0.5]", "A07"),  # the mean is 1/3
        ("LayerNorm(x) = [2.0, 0.0, -2.0]", "A07"),  # the deviation is 1.63, or 2
        (ONCE + "x_1 = [5.087, 7.759, 3.200]", "A05"),
    ],
)
def test_what_cannot_be_is_told(content: str, code: str) -> None:
    assert codes(content) == [code]


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
    ],
)
def test_what_may_be_is_left_alone(content: str) -> None:
    assert codes(content) == []
