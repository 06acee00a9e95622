"""What follows the steps of a tutorial; what a scenario cannot have is not left out in silence."""

from __future__ import annotations

import re

import pytest

from tests.helpers.sentences import told

WORDS = """
title: words
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.5, 2]}
layers: [{attention: {heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1, 0], [0, 1]]}]}}]
vocabulary: [a, b]
unembedding: {W_U: [[0, 1], [1, 0]]}
"""
"""Behind a it says the second word."""

NO_VOCABULARY = WORDS.partition("vocabulary")[0]
TO_C = WORDS.replace("[a, b]\nunembedding", "[a, c]\nunembedding")
NO_TARGETS = TO_C.replace("[a, c]", "[c, d]")
TABLE = f"{WORDS}positions: {{table: [[0, 0], [0, 0]]}}\n"
ROWS = WORDS.replace("{a: [1, 0.5], b: [0.5, 2]}", "[[1, 0.5], [0.5, 2]]")
PINNED = f"{WORDS}given: {{embedding: [[1, 1], [2, 2]]}}\n"
ONE_TOKEN = WORDS.replace("tokens: [a, b]", "tokens: [a]")

SAID: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "all of it": (
        WORDS,
        (
            "What the mask prevents",
            "Correct predictions: ",
            "The text stops at the limit of 5 turns.",
            "The mask is the same",
        ),
        ("left out", "There is no loss"),
    ),
    "no vocabulary": (
        NO_VOCABULARY,
        (
            "What the mask prevents",
            "What is left out",
            "The scenario has no vocabulary, so the model",
        ),
        ("Correct predictions", "Turn 1"),
    ),
    "nothing to guess": (
        NO_TARGETS,
        ("There is no loss, because no position has a target word.",),
        ("Correct predictions",),
    ),
    "a word that cannot be read": (
        TO_C,
        ("Turn 1", "It ends after 1 turn: “c” has no embedding, so the model cannot read"),
        ("Turn 2",),
    ),
    "a position too many": (
        TABLE,
        ("Turn 2", "It ends after 2 turns: there is no vector for one more position."),
        ("Turn 3",),
    ),
    "embeddings that are not looked up": (
        ROWS,
        ("It is left out: “a” has no embedding, so the model cannot read it.",),
        ("Turn 1",),
    ),
    "numbers that are given for these tokens": (
        PINNED,
        ("It is left out: “embedding: given as 2×2 numbers, expected 1×2 numbers”.",),
        ("Turn 1",),
    ),
    "one token": (ONE_TOKEN, ("Turn 1",), ("What the mask prevents",)),
}


@pytest.mark.parametrize("case", SAID)
def test_what_follows_the_steps(case: str) -> None:
    source, said, unsaid = SAID[case]
    text = told("tutorial", "-", "--format", "terminal", stdin=source)
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_a_word_that_cannot_be_read_is_set_apart(form: str) -> None:
    text = told("tutorial", "-", "--format", form, stdin=TO_C)
    apart = "`c`" if form == "markdown" else r"\texttt{c}"
    assert f"It ends after 1 turn: {apart} has no embedding" in " ".join(text.split())


def test_a_tied_projection_is_counted_as_the_embeddings() -> None:
    source = """\
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1], c: [1, 1]}
layers: [{ffn: {W_1: identity, W_2: identity}}]
vocabulary: [a, b]
unembedding: tied
"""
    own = source.replace("tied", "{W_U: identity}")
    tied, untied = (told("tutorial", "-", "--format", "terminal", stdin=s) for s in (source, own))
    assert "W_U has 2 × 2 = 4 parameters." in untied
    assert "W_U has" not in tied
    assert re.search("parameters +18 ", untied)
    assert re.search("parameters +14 ", tied)
