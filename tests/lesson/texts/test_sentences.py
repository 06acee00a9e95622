"""The title of a step, and what it is for."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tests.helpers.command import printed
from tests.helpers.sentences import attention, ffn, told


def goal(step: str, yaml: str) -> str:
    """The first sentence below the heading of a step."""
    text = told("step", step, "-s", "-", stdin=yaml)
    paragraphs = text.split("\n\n")
    return next(p for before, p in pairwise(paragraphs) if before[:1].isdigit())


@pytest.mark.parametrize(
    ("step", "yaml", "start"),
    [
        ("input", ffn(), "There are no positions here"),
        ("input", ffn() + "positions: {table: [[1, 1]]}\n", "The position vectors are added"),
        ("projection", attention("a", "1"), "There is no W_O here"),
        ("activation", ffn(settings="activation: none,"), "There is no activation function here"),
        ("activation", ffn(), "ReLU keeps positive numbers"),
        ("hidden", ffn("1, 2, 3"), "The FFN treats each token separately: W₁ maps its vector to 3"),
        ("ffn_output", ffn("1, 2, 3"), "W₂ maps the hidden units of each token to 2 numbers"),
        ("position", ffn() + "positions: {sinusoidal: {}}\n", "Each position has its own vector"),
    ],
)
def test_goal(step: str, yaml: str, start: str) -> None:
    assert goal(step, yaml).startswith(start)


def test_waves_are_spoken_of_where_there_are_waves() -> None:
    assert "waves" in goal("position", ffn() + "positions: {sinusoidal: {}}\n")
    assert "waves" not in goal("position", ffn() + "positions: {table: [[1, 1]]}\n")


def test_w_o_combines_the_results_of_several_heads() -> None:
    own = attention("a", "1").replace("      heads:", "      W_O: [[1, 0], [0, 1]]\n      heads:")
    assert goal("projection", own).startswith("W_O maps")
    head = "{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1], [0]]}"
    two = own.partition("heads: [")[0] + f"heads: [{head}, {head}]\n"
    assert goal("projection", two).startswith("W_O combines the results of the heads")


@pytest.mark.parametrize(
    ("parameters", "gain", "shift"),
    [
        ("", False, False),
        (", gain: [1, 1]", True, False),
        (", shift: [1, 1]", False, True),
        (", gain: [1, 1], shift: [1, 1]", True, True),
    ],
)
def test_gain_and_shift_are_spoken_of_where_there_are_any(
    parameters: str, gain: bool, shift: bool
) -> None:
    yaml = ffn(added="0, 2").replace("epsilon: 1", f"epsilon: 1{parameters}")
    text = told("step", "norm", "-s", "-", stdin=yaml)
    (caption,) = (line for line in text.split("\n") if line.startswith("Each difference"))
    assert ("γ" in caption, "β" in caption) == (gain, shift)


@pytest.mark.parametrize(
    ("token", "place"), [("Frank", "position 1 of 4"), ("Alex", "position 4 of 4")]
)
def test_the_introduction_names_the_token_that_is_followed(token: str, place: str) -> None:
    text = told("run", "alex", "--token", token)
    assert f" “{token}”, {place}." in text


def titles(step: str, scenario: str, stdin: str = "") -> list[str]:
    """As a page has them; a terminal leaves out what the title of the part says."""
    page = printed("step", step, "-s", scenario, "-f", "markdown", stdin=stdin)
    return re.findall("^#+ ([0-9]+[.] .+)$", page, re.MULTILINE)


def test_titles_name_the_head_where_there_are_several() -> None:
    one, two = titles("softmax", "alex")
    assert one.startswith("9. Head 1 · ") and two.startswith("16. Head 2 · ")
    assert one.removeprefix("9. Head 1 · ") == two.removeprefix("16. Head 2 · ")
    (alone,) = titles("softmax", "science")
    assert alone == f"9. {one.removeprefix('9. Head 1 · ')}"


def test_titles_name_the_layer_where_there_are_several() -> None:
    yaml = ffn()
    start, end = yaml.index("  - ffn"), yaml.index("vocabulary")
    twice = yaml[:end] + yaml[start:end] + yaml[end:]
    (alone,) = titles("norm", "-", stdin=yaml)
    first, second = titles("norm", "-", stdin=twice)
    assert alone.startswith("7. ") and "ayer 1" not in alone
    assert first == alone.replace("7. ", "7. Layer 1 · ")
    assert second == alone.replace("7. ", "12. Layer 2 · ")


def test_titles_of_a_head_in_one_of_several_layers() -> None:
    head = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
    layer = f"  - attention: {{heads: [{head}, {head}], W_O: [[1], [1]]}}\n"
    yaml = f"title: t\ntokens: [a]\nembeddings: [[1]]\nlayers:\n{layer}{layer}"
    starts = [title.partition(". ")[2].rpartition(" · ")[0] for title in titles("query", "-", yaml)]
    assert starts == [f"Layer {n}, head {h}" for n in (1, 2) for h in (1, 2)]


@pytest.mark.parametrize("step", ["residual", "norm"])
def test_titles_say_what_a_residual_or_a_norm_comes_after(step: str) -> None:
    after_attention, after_ffn = titles(step, "alex")
    assert after_attention.endswith(" after attention") and after_ffn.endswith(" after the FFN")
    assert "after" not in titles("mask", "science")[0]
