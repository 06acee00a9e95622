"""A model that predicts masked words: what it is refused, which token is followed, what is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

import tracer
from tests.helpers.command import Ran, printed, run
from tests.helpers.examples import fences
from tests.helpers.page_data import values_of_page
from tests.helpers.part_tests import joined
from tracer.scenario.controls import controls

(HIDDEN,) = fences("scenarios.md", 'yaml title="hidden.yaml"')
BARKS = HIDDEN.replace("meows]", "barks]")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "meows.yaml", tmp_path / "barks.yaml"
    for path, text in zip(paths, (HIDDEN, BARKS), strict=True):
        path.write_text(text, "utf-8")
    return str(paths[0]), str(paths[1])


def test_the_mask_reads_both_sides_and_the_loss_counts_only_its_word() -> None:
    """The scores of the mask are 0, 0 and 2×2; its row is the value of each, by these weights."""
    weights = np.exp([0.0, 0.0, 4.0]) / np.exp([0.0, 0.0, 4.0]).sum()
    logits = np.array([2 * weights[2], 0, 0])
    p = np.exp(logits) / np.exp(logits).sum()
    exact = HIDDEN + "rounding: {decimals: 6, carry: never}\narithmetic: float64\n"
    values = {
        v["address"]: v
        for v in json.loads(printed("loss", "-", "-f", "json", stdin=exact))["values"]
    }
    np.testing.assert_allclose(np.array(values["probabilities"]["data"][1], float), p, rtol=1e-12)
    assert float(values["loss"]["data"]) == pytest.approx(-np.log(p[0]), rel=1e-12)
    assert values["loss.target"]["data"] == ["—", "cat", "—"]


@pytest.mark.parametrize(("mask", "position"), [("[MASK]", 2), ("<mask>", 2), ("[mask]", 3)])
def test_the_first_mask_is_followed_else_the_last_token(mask: str, position: int) -> None:
    text = HIDDEN.replace("[MASK]", mask)
    said = joined(printed("run", "-", stdin=text))
    assert f"position {position} of 3. For “" in said and "After “" not in said
    last = joined(printed("run", "-", "--token", "3", stdin=text))
    assert "For “meows”, the model predicts" in last
    assert ("so it cannot copy it" in said) == (position == 2)
    assert "so it cannot copy it" not in last


def test_every_command_follows_the_mask(files: tuple[str, str], tmp_path: Path) -> None:
    compared = joined(printed("compare", *files))
    assert (
        "For “[MASK]”, the first run predicts “cat” and the second run predicts “dog”." in compared
    )
    explained = tracer.explain(tracer.trace(tracer.load(files[0])))
    assert "follows the token `[MASK]`" in joined(explained._repr_markdown_())
    assert "for “[MASK]”" in joined(printed("lens", files[0]))
    page = tmp_path / "page.html"
    assert run("page", files[0], "-o", str(page)).exit_code == 0
    html = page.read_text("utf-8")
    assert "[MASK]" in html and values_of_page(html)
    assert "What the mask prevents" not in html


def test_no_text_is_generated(files: tuple[str, str]) -> None:
    refused = "a model that predicts masked words does not continue a text"
    options: tuple[list[str], ...] = ([], ["--beams", "2"], ["--kv-cache"], ["--draft", files[0]])
    for ran in (run("generate", files[0], *each) for each in options):
        assert (ran.exit_code, refused in ran.stderr) == (2, True), ran.stderr
    plain = HIDDEN.replace("objective: masked\n", "")
    drafted = run("generate", "-", "--draft", files[0], stdin=plain)
    assert drafted.exit_code == 2 and refused in drafted.stderr
    assert "Generation" not in printed("tutorial", files[0])


def faults(text: str) -> str:
    ran: Ran = run("run", "-", stdin=text)
    assert ran.exit_code == 2
    return ran.stderr


def test_what_hides_tokens_is_refused_where_it_stands() -> None:
    text = HIDDEN.replace("objective: masked\n", "objective: masked\nmask: causal\n")
    text = text.replace("  - attention:\n", "  - attention:\n      mask: {window: 1}\n")
    said = faults(text)
    reads = "objective: masked predicts words from all tokens, expected mask: none"
    assert f":4:1: mask: {reads}" in said and f"layer1.attention.mask: {reads}" in said
    state = HIDDEN.replace("      W_O:", "      kind: linear\n      W_O:")
    assert "expected softmax with objective: masked" in faults(state)


def test_without_words_or_beside_an_encoder_there_is_no_masked_word() -> None:
    without = HIDDEN.partition("vocabulary:")[0]
    assert "objective: no words to predict, expected a vocabulary" in faults(without)
    beside = HIDDEN + "encoder: {tokens: [a], vectors: [[1, 2, 3]]}\n"
    assert "of the model itself, expected no encoder" in faults(beside)
    assert "objective: expected" in faults(HIDDEN.replace("masked\n", "mask\n"))


def test_without_targets_there_is_no_loss() -> None:
    ran = run("loss", "-", stdin=HIDDEN.partition("targets:")[0])
    assert ran.exit_code == 2 and "no position has a target in the vocabulary" in ran.stderr


def test_a_page_does_not_offer_to_hide_tokens() -> None:
    plain = HIDDEN.replace("objective: masked\n", "")
    names = [
        [each.name for each in controls(yaml.load(text, yaml.BaseLoader), 3)]
        for text in (HIDDEN, plain)
    ]
    assert "mask" not in names[0] and "mask" in names[1]
