"""What each layer would say, in scenarios that somebody typed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.helpers.command import printed, run
from tests.helpers.sentences import WIDE

SVG = "{http://www.w3.org/2000/svg}"
STAYS, FLIPS = "[[0, 0]]", "[[-4, 4]]"
"""W_2 of a layer that adds nothing, and of one that makes the second feature the larger one."""
WITHOUT_LAYERS = """\
tokens: [a]
embeddings: {a: [2, 1]}
layers: []
vocabulary: [a]
unembedding: tied
"""


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
        ((STAYS, STAYS, FLIPS), "Only the last layer predicts “y” after “a”."),
        ((STAYS, FLIPS, STAYS), "From layer 2 on, every layer predicts “y” after “a”."),
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


def test_without_layers_there_is_nothing_to_look_behind() -> None:
    ran = run("lens", "-", stdin=WITHOUT_LAYERS)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "<stdin>:3:1: layers: the lens needs at least one layer" in ran.stderr


@pytest.mark.parametrize("name", ["science", "pizza"])
def test_the_figure_has_the_words_and_their_probabilities(name: str, tmp_path: Path) -> None:
    printed("lens", name, "--figures", str(tmp_path))
    picture = ElementTree.fromstring((tmp_path / f"{name}.lens.svg").read_bytes())
    shown = Counter("".join(each.itertext()) for each in picture.iter(f"{SVG}text"))
    values = {v["address"]: v for v in json.loads(printed("lens", name, "-f", "json"))["values"]}
    for address, value in values.items():
        if address.endswith(".lens.prediction"):
            shares = values[address.replace("prediction", "probabilities")]
            words = shares["axes"][1]["labels"]
            for said, row, printed_row in zip(
                value["data"], shares["data"], shares["printed"], strict=True
            ):
                assert words[row.index(max(row))] == said
                assert shown[said] and shown[printed_row[words.index(said)]]
                shown.subtract([said, printed_row[words.index(said)]])
    assert min(shown.values()) >= 0
    axes = {element.text for element in picture.iter(f"{SVG}text")}
    assert {"after"} <= axes and not {"who looks", "at whom"} & axes


def test_long_words_of_the_figure_are_folded(tmp_path: Path) -> None:
    word = "Donaudampfschifffahrt"
    source = (
        "title: t\ntokens: [a]\nembeddings: [[2, 1]]\nlayers:\n"
        f"  - ffn: {{W_1: [[1], [0]], W_2: {STAYS}}}\n"
        f"vocabulary: [{word}, y]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
    )
    printed("lens", "-", "--figures", str(tmp_path), stdin=source)
    picture = ElementTree.fromstring((tmp_path / "stdin.lens.svg").read_bytes())
    lines = [span.text or "" for span in picture.iter(f"{SVG}tspan")]
    assert "".join(lines[-3:]) == word
    assert max(map(len, lines[-3:])) <= 8


def test_the_rows_of_a_large_model_are_those_of_its_addresses() -> None:
    """A text reads only the rows that it shows; the data have all rows, layer by layer."""
    source = (
        "title: t\ntokens: [a, b, c]\nrandom: {seed: 3}\n"
        "dimensions: {layers: 3, width: 8, heads: 2, words: 20, context: 9}\n"
    )
    values = json.loads(printed("lens", "-", "-f", "json", stdin=source))["values"]
    at = {value["address"]: value for value in values}
    text = printed("lens", "-", "--token", "2", stdin=source)
    layers = text.split("layer  a", 1)[1].split("A word after each sub-layer")[0]
    words, shares = (table.split("\n\n")[0] for table in layers.split("  p"))
    for layer in (1, 2, 3):
        place = f"layer{layer}.lens"
        said = at[f"{place}.prediction"]["data"]
        probabilities = at[f"{place}.probabilities"]
        columns = [probabilities["axes"][1]["labels"].index(word) for word in said]
        held = [row[j] for row, j in zip(probabilities["printed"], columns, strict=True)]
        assert re.search(rf"{layer} +{said[0]} +{said[1]}$", words, re.M)
        assert re.search(rf"layer {layer} +{held[0]} +{held[1]}$", shares, re.M)
