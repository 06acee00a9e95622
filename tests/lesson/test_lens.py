"""What each layer would say, in scenarios that somebody typed."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed, run
from tests.helpers.sentences import WIDE

STAYS, FLIPS = "[[0, 0]]", "[[-4, 4]]"
"""W_2 of a layer that adds nothing, and of one that makes the second feature the larger one."""


def lens(*layers: str) -> str:
    """The words of layers, of which the first feature says x and the second y."""
    ffns = "".join(f"  - ffn: {{W_1: [[1], [0]], W_2: {w_2}}}\n" for w_2 in layers)
    return printed(
        *("lens", "-"),
        width=WIDE,
        stdin="title: t\ntokens: [a]\nembeddings: [[2, 1]]\npositions: none\n"
        f"layers:\n{ffns}vocabulary: [x, y]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n",
    )


@pytest.mark.parametrize(
    ("layers", "claim"),
    [
        ((STAYS, STAYS, FLIPS), "Only the last layer says “y” after “a”."),
        ((STAYS, FLIPS, STAYS), "From layer 2 on every layer says “y” after “a”."),
        ((FLIPS, STAYS, STAYS), None),
        ((STAYS,), None),
    ],
)
def test_since_when_the_last_word_is_said(layers: tuple[str, ...], claim: str | None) -> None:
    lines = lens(*layers).splitlines()
    said = [line for line in lines if line.startswith(("Only", "From"))]
    assert said == ([claim] if claim else [])


def test_the_words_and_how_probable_they_are_held() -> None:
    text = lens(STAYS, FLIPS)
    assert "  1      x\n▸ 2      y\n" in text
    # e^2 / (e^2 + e^1), and 1 / (1 + e^(-6 - 9)): of 2 - 4×2 = -6 and 1 + 4×2 = 9.
    assert "  layer 1  0.731\n" in text
    assert "  layer 2  1.000\n" in text


def test_without_a_vocabulary_there_is_nothing_to_say() -> None:
    ran = run("lens", "alex")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "the lens needs a vocabulary" in ran.stderr
