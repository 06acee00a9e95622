"""The text about a word after each sub-layer: where it leads, what moves it, the curve."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.every_judge import FORMATS, faults_of_text
from tests.helpers.judge import told_apart
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.traces import traced_or_rejected
from tests.helpers.whole_scenarios import plain_and_written
from tests.helpers.word_paths import faults, is_the_end, points
from tracer.data import as_json

WIDE = 5000
LAYERS = """\
title: t
tokens: [a]
embeddings: [[2, 1, 0]]
positions: none
layers:
{ffns}vocabulary: [x, y, z]
unembedding: {{W_U: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}
"""


def lens(changes: Sequence[Sequence[float]], *options: str) -> str:
    """The lens of layers that add so much to the logits of x, y and z, which are 2, 1 and 0."""
    ffns = "".join(
        f"  - ffn: {{W_1: [[0], [0], [0]], b_1: [1], W_2: [{list(change)}]}}\n"
        for change in changes
    )
    return printed("lens", "-", *options, width=WIDE, stdin=LAYERS.format(ffns=ffns))


def sentences(text: str) -> list[str]:
    """The sentences, a paragraph each."""
    return unbroken(text).split("\n\n")


def rows(text: str) -> list[list[str]]:
    """The cells of the table."""
    table = text.split("after  ", 1)[1] if "\n  after  " in text else ""
    return [re.split(" {2,}", line.strip()) for line in table.split("\n\n")[0].splitlines()[1:]]


@pytest.mark.parametrize(
    ("changes", "word", "said"),
    [
        (([0, 0, 0],), "x", "“x” has rank 1 before the first layer and after each sub-layer."),
        (([0, 0, 5],), "z", "“z” has rank 1 only at the end, after the FFN in layer 1."),
        (
            ([0, 0, 5], [0, 0, 0]),
            "z",
            "“z” first has rank 1 after the FFN in layer 1, and keeps it.",
        ),
        (
            ([0, 0, 5], [0, 0, -5]),
            "z",
            "“z” first has rank 1 after the FFN in layer 1, but not at the end.",
        ),
        (
            ([0, 9, 0], [9, 0, 0], [0, 0, 0]),
            "x",
            "“x” first has rank 1 before the first layer, and has it again, to keep it, after the "
            "FFN in layer 2.",
        ),
        (
            ([0, 0, 1.5], [0, 0, 0]),
            "z",
            "“z” never has rank 1. Its best rank is 2, first reached after the FFN in layer 1.",
        ),
    ],
)
def test_where_a_word_leads(changes: Any, word: str, said: str) -> None:
    assert said in sentences(lens(changes, "--word", word))


def test_the_largest_factor_counts() -> None:
    """From 3 to 2 is less than from 2 to 1, and of two alike nothing is said."""
    moves = "The rank changes by the largest factor through the FFN in layer 2: from 2 to 1."
    assert moves in sentences(lens([[0, 0, 1.5], [0, 0, 2]], "--word", "z"))
    alike = lens([[0, 9, 0], [9, 0, 0]], "--word", "x")
    assert "largest factor" not in alike
    assert "largest factor" not in lens([[0, 0, 0]])


def test_the_numbers_of_a_word() -> None:
    """e^0 / (e^2 + e^1 + e^0), and e^5 / (e^2 + e^1 + e^5)."""
    assert rows(lens([[0, 0, 5]], "--word", "z")) == [
        ["input", "x", "3", "0", "0.090"],
        ["layer 1, FFN", "z", "1", "5.000", "0.936"],
    ]


def test_words_are_equal_in_rank_with_equal_logits() -> None:
    table = rows(lens([[0, 1, 2]], "--word", "z"))
    assert [row[2] for row in table] == ["3", "1"]


def test_a_parallel_layer_is_one_point() -> None:
    head = "{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}"
    layer = (
        "attention: {{heads: [{head}], W_O: [[1, 0]]}}, ffn: {{W_1: [[1], [0]], W_2: [[-4, 4]]}}"
    )
    text = printed(
        *("lens", "-"),
        stdin="title: t\ntokens: [a]\nembeddings: [[2, 1]]\nlayers:\n"
        f"  - {{parallel: true, {layer.format(head=head)}}}\nvocabulary: [x, y]\n"
        "unembedding: {W_U: [[1, 0], [0, 1]]}\n",
        width=WIDE,
    )
    assert [row[0] for row in rows(text)] == ["input", "layer 1"]
    assert "“y” has rank 1 only at the end, after layer 1." in sentences(text)
    assert "through layer 1: from 2 to 1." in text


def test_what_has_another_width_is_left_out() -> None:
    layer = "{W_1: [[1], [1]], W_2: [[0, 0, 5]]}"
    text = printed(
        *("lens", "-", "--word", "z"),
        stdin="title: t\ntokens: [a]\nembeddings: [[2, 1]]\npositions: none\nlayers:\n"
        f"  - ffn: {layer.replace('}', ', residual: false}')}\nvocabulary: [x, y, z]\n"
        "unembedding: {W_U: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n",
        width=WIDE,
    )
    assert [row[0] for row in rows(text)] == ["layer 1, FFN"]
    assert "of “z” after “a”, after each sub-layer:" in text
    left = "The lens cannot read vectors of another width, so the table leaves out 1 of 2 points."
    assert left in sentences(text)
    assert "largest factor" not in text and "rank\n" not in text


def test_an_unknown_word_is_refused() -> None:
    ran = run("lens", "science", "--word", "wrks")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "--word: no word 'wrks', expected 1 to 3 or a label, such as 'projects'\n"
    )


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["line", "step", "never"]).flatmap(plain_and_written),
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(FORMATS)),
)
def test_every_claim_is_that_of_the_ranks(both: tuple[Any, Any], seed: int, form: str) -> None:
    plain, written = both
    stdin, rng = to_yaml(written), random.Random(seed)
    ran = run("lens", "-", "--format", "json", stdin=stdin)
    assume(not ran.exit_code)
    found = traced_or_rejected(written)
    values = {
        v["address"]: v for v in json.loads(as_json.render(found, found.records, None))["values"]
    }
    words = values["unembedding.W_U"]["axes"][1]["labels"]
    token, word = rng.randrange(len(found.tokens)), rng.randrange(len(words))
    asked = ("lens", "-", "--token", str(token + 1), "--word", str(word + 1))
    text = printed(*asked, width=WIDE, stdin=stdin)
    assert faults_of_text(printed(*asked, *FORMATS[form][0], stdin=stdin), form) == []
    followed = json.loads(printed(*asked, "--format", "json", stdin=stdin))["followed"]
    where = dict(points(values, plain.get("layers", [])))
    path = [(where[point["address"]], point["rank"]) for point in followed["points"]]
    table = rows(text)
    assert [(row[2], row[3], row[4]) for row in table] == [
        (str(point["rank"]), point["logit"]["printed"], point["probability"]["printed"])
        for point in followed["points"]
    ]
    names = told_apart(values["tokens"]["data"])
    assert is_the_end(sentences(text)[1], names[token], words[word], followed["points"][-1])
    if found.tokens[token] == written.get("padding"):
        assert "has rank 1" not in text
        return
    assert faults(sentences(text), words[word], path, whole=len(path) == len(where)) == []


# --- the curve -----------------------------------------------------------------------------------

FALLS: list[list[float]] = [[0, 0, 1.5], [0, 0, 0], [0, 0, 5]]
"""z goes from rank 3 to 2, stays there, and comes to 1."""


def test_the_curve_has_rank_1_at_its_top_and_factors_as_heights() -> None:
    lines = lens(FALLS, "--word", "z").split("  rank\n")[1].splitlines()
    at = [
        (i, j)
        for j in range(len(lines[0]) + 99)
        for i, line in enumerate(lines)
        if line[j : j + 1] == "●"
    ]
    heights = [i for i, _ in at]
    assert lines[0].startswith("  1 ┤") and lines[8].startswith("  3 ┤")
    # ln 2 / ln 3 = 0.63 of 8 rows.
    assert heights == [8, 5, 5, 0]
    assert lines[10].split() == ["0", "3"]


def test_the_picture_has_words_for_those_who_do_not_see_it(tmp_path: Path) -> None:
    text = lens(FALLS, "--word", "z", "--figures", str(tmp_path), "--format", "markdown")
    words = "The rank of the word after each sub-layer: from 3 to 1 in 3 sub-layers."
    assert f"![{words.replace('.', '&#46;')}](" in text
    picture = ElementTree.fromstring((tmp_path / "stdin.rank.svg").read_bytes())
    svg = "{http://www.w3.org/2000/svg}"
    assert words in [each.text for each in picture.iter(f"{svg}desc")]
    assert {"1", "3", "0", "sub-layer"} <= {each.text for each in picture.iter(f"{svg}text")}
    heights = [float(each.attrib["cy"]) for each in picture.iter(f"{svg}circle")]
    assert heights[0] > heights[1] == heights[2] > heights[3]


def test_the_curve_in_latex() -> None:
    text = lens(FALLS, "--word", "z", "--format", "latex")
    assert r"\makebox(0,0){sub-layer}" in text
    assert len(re.findall(r"\\put\S+ *\{\\color\{[^}]*\}\\put\(0.00,0.00\)", text)) == 4  # dots


def test_ranks_that_do_not_change_are_not_drawn() -> None:
    assert "┤" not in lens([[0, 0, 0]] * 3)
