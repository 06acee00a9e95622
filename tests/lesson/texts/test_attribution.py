"""The text of an attribution, before all judges; and what it shows of a trained model."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.decoder.test_attribution import SEEDS, SPLIT, entry
from tests.helpers.claims_of_attributions import faults
from tests.helpers.command import printed, run
from tests.helpers.every_judge import FORMATS, faults_of_terminal, faults_of_text
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.strict_json import document, values
from tests.helpers.traces import traced_or_rejected
from tests.helpers.truth import equations, false_equations, unreadable
from tests.helpers.whole_scenarios import plain_and_written

WIDE = 5000
OPTIONS = ((), *SPLIT)
LARGE = """
title: t
tokens: [a, b, c]
random: {seed: 3}
dimensions: {layers: 5, width: 32, heads: 4, words: 40, context: 9}
"""


def divides(found: Any) -> bool:
    """Whether a norm has a part in a scenario; of typed and given values, none may be reached."""
    return any(re.search(r"(std|rms)$", address) for address in found)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["line", "step", "never"]).flatmap(plain_and_written),
    SEEDS,
    st.sampled_from(sorted(FORMATS)),
)
def test_every_judge_reads_it(both: tuple[Any, Any], seed: int, form: str) -> None:
    plain, written = both
    stdin = to_yaml(written)
    traced_or_rejected(written)
    found = values("run", "-", stdin=stdin)
    address, (row, column), other = entry(found, seed)
    asked = ("attribute", f"{address}[{row + 1},{column + 1}]", "-s", "-", *OPTIONS[seed % 3])
    if other is not None:
        asked += ("--instead-of", str(other + 1))
    assert faults_of_text(printed(*asked, *FORMATS[form][0], stdin=stdin), form) == []
    text = printed(*asked, width=WIDE, stdin=stdin)
    if "dimensions" not in plain:
        assert faults_of_terminal(printed(*asked, stdin=stdin), written) == []
    token = found[address]["axes"][0]["labels"][row]
    is_padding = written.get("padding") == token
    without_split = asked[:4] + asked[4 + len(OPTIONS[seed % 3]) :]
    found_parts = document(*without_split, stdin=stdin)
    held = "A norm divides" in text
    assert held <= divides(found) or "dimensions" in plain  # of which a run lists some values
    assert faults(text, found_parts, divides=held, padding=is_padding) == []


@pytest.mark.parametrize("name", ["alex", "pizza", "science", "experts", "lora"])
def test_bundled_scenarios(name: str) -> None:
    address = "output" if name == "alex" else "logits"
    for options in OPTIONS:
        asked = ("attribute", f"{address}[2,2]", "-s", name)
        parts = document(*asked)
        text = printed(*asked, *options, width=WIDE)
        has_norm = name != "experts" and divides(values("run", name))
        assert faults(text, parts, divides=has_norm) == []
        assert (unreadable(text), false_equations(text)) == ([], [])


def test_it_is_said_of_a_norm_alone() -> None:
    without = "tokens: [a]\nembeddings: {a: [1, 2]}\nlayers: [{ffn: {W_1: [[1], [1]], W_2: "
    without += "[[1, 1]]}}]\n"
    text = printed("attribute", "output[1,1]", "-s", "-", width=WIDE, stdin=without)
    assert "norm" not in text
    normed = without.replace("]]}}", "]], norm: {epsilon: 1}}}")
    text = printed("attribute", "output[1,1]", "-s", "-", width=WIDE, stdin=normed)
    assert "Here this number keeps its value" in text
    brief = printed("attribute", "output[1,1]", "-s", "-", "--brief", stdin=normed)
    assert "Here this number" not in brief


def test_a_token_that_occurs_twice_has_one_name() -> None:
    text = "tokens: [a, b, a]\nembeddings: {a: [1, 2], b: [0, 1]}\n"
    text += "layers: [{ffn: {W_1: [[1], [1]], W_2: [[1, 1]]}}]\n"
    shown = printed("attribute", "output[3,1]", "-s", "-", stdin=text)
    assert "for “a (3)” is" in shown
    assert set(re.findall("▸ (.*?)  ", shown)) == {"a (3)"}


# --- trained models ------------------------------------------------------------------------------


def largest(text: str) -> list[str]:
    """The labels of the parts that are listed."""
    bars = text.split("Their sum")[0]
    return re.findall(r"^  ([a-z][^=\n]*?)  +-?\d+\.\d+ [^\n]*│", bars, re.M)


def test_a_large_model_shows_its_largest_parts() -> None:
    asked = ("attribute", "logits[c,w13]", "-s", "-", "--instead-of", "w14")
    parts = document(*asked, stdin=LARGE)["parts"]
    text = printed(*asked, stdin=LARGE)
    labels = [part["label"] for part in parts]
    assert largest(text) == labels[:10]
    assert f"[{len(parts) - 10} more: " in text
    assert largest(printed(*asked, "--terms", "3", stdin=LARGE)) == labels[:3]
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert len(equations(text)) >= 3
    # Of the parts, the largest one is worked.
    assert text.count(" · Part of ") == 1


@pytest.mark.parametrize(("by", "what"), [("token", "head"), ("neuron", "FFN")])
def test_a_large_model_shows_the_terms_of_its_largest_parts(by: str, what: str) -> None:
    asked = ("attribute", "logits[c,w13]", "-s", "-")
    parts = document(*asked, stdin=LARGE)["parts"]
    text = printed(*asked, "--by", by, width=WIDE, stdin=LARGE)
    end = ".output" if what == "head" else ".activation"
    split = [part["printed"] for part in parts if part["address"].endswith(end)][:3]
    worked = re.findall(r"^    c\S+ = .* (\S+)$", text, re.M)
    assert [number for number in worked if number in split] == split  # biases are 0
    assert text.count(f" · Part of the {what}") == 3
    assert not re.search("^  (W|b)[₂_]", text, re.M)  # parameters of many numbers
    assert (unreadable(text), false_equations(text)) == ([], [])


def test_heads_by_source_token_show_the_terms_of_the_data() -> None:
    """Rows are heads, the largest first; columns are the tokens that they attend to."""
    asked = ("attribute", "logits[la,pizza]", "-s", "pizza")
    split = document(*asked, "--by", "token")["parts"]
    text = printed(*asked, "--by", "token", "--format", "markdown")
    rows = {
        cells[1]: cells[2:-1]
        for line in text.splitlines()
        if len(cells := [cell.strip() for cell in line.split("|")]) > 4 and ", head " in cells[1]
    }
    heads = [part["label"] for part in document(*asked)["parts"] if ", head " in part["label"]]
    own, crossing = [h for h in heads if "cross" not in h], [h for h in heads if "cross" in h]
    assert list(rows) == own + crossing
    tokens = {True: ["I", "like", "pizza"], False: ["<START>", "Me", "gusta", "la", "pizza"]}
    terms = {part["label"]: part["printed"] for part in split}
    for head, numbers in rows.items():
        keys = tokens["cross" in head]
        assert numbers == [terms[f"{head}, {token}"] for token in keys]


def test_the_options_are_those_of_a_text() -> None:
    asked = ("attribute", "output[1,1]", "-f", "json")
    assert "--brief: works only with a text" in run(*asked, "--brief").stderr
    assert "--format: works only with run, step" in run(*asked[:2], "-f", "npz", "-o", "x").stderr
