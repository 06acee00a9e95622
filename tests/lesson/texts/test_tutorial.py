"""What follows the steps of a tutorial; what a scenario cannot have is not left out in silence."""

from __future__ import annotations

import re

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
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
TO_C = WORDS.replace("[a, b]\nunembedding", "[c, a]\nunembedding")
NO_TARGETS = TO_C.replace("[c, a]", "[c, d]")
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
        ("After “a b”", "It ends after 1 turn: there is no vector for one more position."),
        ("Turn 2",),
    ),
    "embeddings that are not looked up": (
        ROWS,
        ("Turn 1", "It ends after 1 turn: “a” has no embedding, so the model cannot read it."),
        ("Turn 2",),
    ),
    "numbers that are given for these tokens": (
        PINNED,
        ("Turn 1", "“embedding: given as 2×2 numbers, expected 1×2 numbers”."),
        ("Turn 2",),
    ),
    "one token": (ONE_TOKEN, ("Turn 1",), ("What the mask prevents",)),
}


@pytest.mark.parametrize("case", SAID)
def test_what_follows_the_steps(case: str) -> None:
    source, said, unsaid = SAID[case]
    text = told("tutorial", "-", "--detail", "full", "--format", "terminal", stdin=source)
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


def table(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a Markdown heading."""
    _, _, rest = text.partition(f"# {heading}\n")
    lines = rest[rest.index("\n|") + 1 :].partition("\n\n")[0].split("\n")
    return [[cell.strip(" *") for cell in line.split(" | ")] for line in [*lines[:1], *lines[2:]]]


def test_layers_are_stacked() -> None:
    """As a chain of vectors; a model of one layer goes on as far as it likes."""
    chain = "x⁽⁰⁾ → x⁽¹⁾ → x⁽²⁾, where x⁽⁰⁾ is X′, x⁽¹⁾ is x₃ and x⁽²⁾ is x₆."
    assert f"Layer by layer: {chain}" in printed("tutorial", "pizza")
    alone = "x⁽⁰⁾ → x⁽¹⁾ → … → x⁽ᴸ⁾, where x⁽⁰⁾ is X′ and x⁽¹⁾ is x₂; L is the number of layers."
    assert f"Layer by layer: {alone}" in printed("tutorial", "alex")


@pytest.mark.parametrize(
    ("source", "said", "unsaid"),
    [
        (WORDS, ["No cross-attention"], ["Stacking layers", "Self-attention and cross-attention"]),
        (TABLE, ["No cross-attention", "Stacking layers"], []),
        (WORDS.replace("W_V: [[1, 0], [0, 1]]}]}", "W_V: [[1], [1]]}], W_O: [[1, 1]]}"),
         ["No cross-attention"], ["Stacking layers"]),
    ],
)  # fmt: skip
def test_what_is_said_of_the_architecture(source: str, said: list[str], unsaid: list[str]) -> None:
    text = printed("tutorial", "-", stdin=source)
    assert [title for title in said if f"### {title}" not in text] == []
    assert [title for title in unsaid if f"### {title}" in text] == []


def test_without_layers_nothing_is_stacked() -> None:
    waves = "positions: {sinusoidal: {start: 1}}\n"
    source = f"tokens: [a, b]\nembeddings: {{a: [1, 0], b: [0, 1]}}\n{waves}layers: []\n"
    for detail in ("short", "normal", "full"):
        assert "Stacking layers" not in printed("tutorial", "-", "--detail", detail, stdin=source)


def test_cross_attention_is_compared_where_there_is_one() -> None:
    text = printed("tutorial", "pizza")
    assert "### Self-attention and cross-attention" in text and "No cross-attention" not in text
    assert "### Stacking layers" not in printed("tutorial", "pizza", "--brief")


def test_the_stages_of_training_name_their_steps() -> None:
    without = table(printed("tutorial", "comics"), "One step of training")
    assert without[0] == ["| stage", "what happens |"]
    stages = ["data", "forward pass", "loss", "backward pass", "update"]
    assert [row[0].strip("| ") for row in without[1:]] == stages
    crossing = table(printed("tutorial", "picture"), "One step of training")
    stages[1:2] = ["encoder", "decoder"]
    assert [row[0].strip("| ") for row in crossing[1:]] == stages
    trained_text = printed("train", "comics", "--format", "markdown")
    trained = table(f"# Stages\n{trained_text.partition(' after it.')[2]}", "Stages")
    assert [row[1] for row in trained] == [
        *("where", "below", "steps 1 to 30 of run", "step 31", "steps 32 to 58"),
        "from step 59 on",
    ]


def test_one_pass_trains_all_positions_of_a_text() -> None:
    title = "Must training go word by word?"
    rows = table(printed("tutorial", "pizza"), title)
    assert [row[1] for row in rows] == ["passes", "5", "5", "1"]
    assert title not in printed("tutorial", "science")  # it has one target


@pytest.mark.parametrize("has_mask", [True, False])
def test_training_is_compared_with_generation(has_mask: bool) -> None:
    source = WORDS if has_mask else f"{WORDS}mask: none\n"
    rows = table(printed("tutorial", "-", stdin=source), "Training and generation")
    assert (["| mask", "hides later tokens", "the same |"] in rows) == has_mask
    assert rows[0][1:] == ["training", "generation |"]


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
vocabulary: [a, b, c]
unembedding: tied
"""
    own = source.replace("tied", "{W_U: [[1, 0, 1], [0, 1, 1]]}")
    tied, untied = (
        told("tutorial", "-", "--detail", "full", "--format", "terminal", stdin=s)
        for s in (source, own)
    )
    assert "W_U has 2 × 3 = 6 parameters." in untied
    assert "W_U has" not in tied
    assert re.search("parameters +20 ", untied)
    assert re.search("parameters +14 ", tied)


PADDED = f"""{WORDS.replace("b: [0.5, 2]}", "b: [0.5, 2], o: [0, 0]}")}
padding: o
batch: [[b, a], [b, o]]
"""


def test_padding_of_a_batch_is_hidden() -> None:
    text = printed("tutorial", "-", stdin=PADDED)
    assert [row[1].strip("` *|") for row in table(text, "Padding")] == ["tokens", "b a", "b o"]
    _, _, mask = text.partition("In sequence 2, the mask and the weights:\n\n")
    assert mask.startswith("| M | b | o |\n| --- | ---: | ---: |\n| **b** | **0** | **-∞** |\n")
    assert "| A | b | o |\n| --- | ---: | ---: |\n| **b** | **1.000** | **0** |" in mask


@pytest.mark.parametrize("batch", ["[[b, b], [b, a]]", "[[a, b], [b, o]]"])
def test_nothing_is_said_of_padding_without_it(batch: str) -> None:
    source = PADDED.replace("[[b, a], [b, o]]", batch)
    assert "### Padding" not in printed("tutorial", "-", stdin=source)


@pytest.mark.parametrize("detail", ["normal", "full"])
def test_the_probabilities_of_an_example_are_shown_unless_they_stand_above(detail: str) -> None:
    """An example of the same tokens can be given another input."""
    training = "training: [{tokens: [a, b], targets: [b, a]GIVEN}]\n"
    same, other = (
        told("tutorial", "-", "--detail", detail, "--format", "terminal", stdin=WORDS + example)
        for example in (
            training.replace("GIVEN", ""),
            training.replace("GIVEN", ", given: {input: [[2, 0], [0, 3]]}"),
        )
    )
    assert "\nProbabilities\n" not in same
    assert "\nProbabilities\n" in other
    assert violations(other) == []


def test_several_targets_of_each_position_are_no_words() -> None:
    """A binary cross-entropy has a target for each logit, so its rows are not compared as words."""
    text = printed("tutorial", "-", stdin=OF_TWO_LOGITS)
    assert "Binary cross-entropy loss" in text and "Must training" not in text


OF_TWO_LOGITS = """
title: two targets at each position
tokens: [a, b]
embeddings: {a: [1, 2], b: [0, 1]}
layers: []
vocabulary: [a, b]
unembedding: {W_U: identity}
targets: [a, b]
loss: {kind: binary}
"""
