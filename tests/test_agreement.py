"""Rule: the result of a worked line is the number that the matrix shows for that entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import cycle, zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.agreement import Disagreement, against_values, judged, means
from tests.helpers.command import printed
from tests.helpers.continuity import misplaced, operands, two_forms, violations
from tests.helpers.every_judge import FORMATS, faults_and_compared
from tests.helpers.other_pages import bare, from_html
from tests.helpers.page_data import values_of_page
from tests.helpers.terminal_page import Lines, Table, read_blocks
from tests.helpers.truth import without_pictures

CARRY_MODES = ("line", "step", "never")
DRAWN = ("--seed", "3", "--temperature", "1.5", "--top-k", "4", "--top-p", "0.9")
CACHED = ("generate", "pizza", "--worked", "--kv-cache", "--max-tokens", "2")
ADAM = ("--optimizer", "adam", "--weight-decay", "0.1", "--steps", "2")
TEXTS = (
    *(("line", 80, "run alex"), ("step", 80, "run alex --token 2"), ("never", 80, "run alex")),
    *(("line", 30, "run science"), ("step", 30, "run science --token 3")),
    *(("never", 30, "run science --token 2"), ("line", 0, "loss comics --example 4")),
    *(("line", 150, "run pizza --token 1"), ("step", 350, "run pizza --token 2")),
    *(("never", 150, "run pizza"), ("line", 120, "run comics --token 1")),
    *(("step", 120, "run comics --sequence 2"), ("never", 100, "run picture --token 3")),
    *(("line", 100, "run picture"), ("never", 90, "run alex --no-mask --token 2")),
    *(
        ("never", 20, "step softmax -s pizza"),
        ("line", 0, "loss pizza"),
        ("step", 0, "loss comics"),
    ),
    *(("line", 30, "tutorial science"), ("step", 50, "tutorial science --train")),
    *(("step", 10, ("generate", "pizza", "--max-tokens", "3", *DRAWN)),),
    *(("never", 10, ("generate", "pizza", "--kv-cache", "--max-tokens", "3", *DRAWN)),),
    *(("step", 250, "generate pizza --worked --max-tokens 2"), ("line", 250, CACHED)),
    *(("never", 250, (*CACHED, *DRAWN)),),
    *(("line", 50, "train science --optimizer adamw --weight-decay 0.1"),),
    *(("never", 50, "train science --steps 2 --momentum 0.5"),),
    *(("step", 150, "train pizza --momentum 0.5 --clip 0.1 --steps 2"),),
    *(("never", 50, ("train", "comics", *ADAM)),),
)
"""Carry modes, how many lines at least have a matrix, and commands."""


def judged_alike(form: str | None, *arguments: str, carry: str = "never", stdin: str = "") -> int:
    """How many lines have a matrix: as many in another format, if any. Every judge reads them."""
    text = printed(*arguments, *FORMATS["terminal"][0], stdin=stdin)
    faults, compared = faults_and_compared(text, "terminal")
    assert faults == []
    if carry != "never":
        assert operands(text) or not compared
        assert (violations(text), misplaced(text), two_forms(text)) == ([], [], [])
    if form:
        other = printed(*arguments, *FORMATS[form][0], stdin=stdin)
        assert faults_and_compared(other, form) == ([], compared)
    return compared


OTHER = [form for form in FORMATS if form != "terminal"]


@pytest.mark.parametrize(
    ("carry", "fewest", "asked", "form"),
    [(*each, form) for each, form in zip(TEXTS, cycle(OTHER), strict=False)],
)
def test_every_text(carry: str, fewest: int, asked: str | tuple[str, ...], form: str) -> None:
    arguments = asked.split() if isinstance(asked, str) else asked
    is_short = fewest < 150 or asked == "run pizza --token 2"
    other = form if is_short else None
    assert judged_alike(other, *arguments, "--carry", carry, carry=carry) >= fewest


@pytest.mark.parametrize("form", OTHER)
def test_every_format(form: str) -> None:
    assert judged_alike(form, "run", "alex") >= 80


def test_the_loss_that_a_sentence_states() -> None:
    text = printed("train", "science", "--decimals", "2")
    before = judged(read_blocks(text)).compared
    assert judged(read_blocks(re.sub("One step lowers .*", "", text))).compared == before - 1


# --- JSON ----------------------------------------------------------------------------------------

WITH_VALUES = (
    *(("run", "pizza"), ("run", "comics", "--no-mask"), ("loss", "pizza"), ("step", "norm")),
    *(("train", "science"), ("generate", "pizza", "--worked", "--max-tokens", "2")),
)


def values_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = document.get("turns", [document])
    return [value for turn in turns for value in turn["values"]]


def against_json(*arguments: str, stdin: str = "") -> list[Disagreement]:
    text = without_pictures(printed(*arguments, stdin=stdin))
    document = json.loads(printed(*arguments, "--format", "json", stdin=stdin))
    return against_values(read_blocks(text), values_of(document), bare=bare)


@pytest.mark.parametrize(
    ("arguments", "carry"), [*zip(WITH_VALUES, cycle(CARRY_MODES), strict=False)]
)
def test_values_as_json_are_those_of_the_text(arguments: tuple[str, ...], carry: str) -> None:
    assert against_json(*arguments, "--carry", carry) == []


def lines_by_address(text: str) -> Iterator[tuple[str, str, str]]:
    """Address, label and number of each line that `why` prints."""
    said = list(re.finditer(r"^[^ ].*, ([a-z]\w*(?:\.\w+)*), (?:step .*|given):$", text, re.M))
    for this, following in zip_longest(said, said[1:]):
        section = text[this.end() : following.start() if following else None]
        for block in read_blocks(section):
            for line in block.lines if isinstance(block, Lines) else ():
                yield this[1], line.label, line.sides[-1].text


ASKED = {
    "alex": "output[Alex,spicy]",
    "pizza": "layer1.ffn.norm[4,1]",
    "science": "layer1.attention.head1.weights[3,1]",
}


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("name", ASKED)
def test_where_a_number_comes_from(name: str, carry: str) -> None:
    """Each line of `why` ends with the number of that entry in the JSON."""
    options = ("--carry", carry)
    values = values_of(json.loads(printed("run", name, *options, "--format", "json")))
    by_address = {value["address"]: value for value in values}
    found = list(lines_by_address(printed("why", ASKED[name], "-s", name, *options, width=400)))
    assert len(found) >= 10
    for address, label, number in found:
        entries = entries_of_value(by_address[address]).items()
        assert number in [n for name, n in entries if means(bare(label), name)], (address, label)


def entries_of_value(value: dict[str, Any]) -> dict[str, str]:
    """Printed numbers by their labels, `row,column`."""
    match value["axes"]:
        case []:
            return {"": value["printed"]}
        case [axis]:
            return dict(zip(map(bare, axis["labels"]), value["printed"], strict=True))
        case [rows, columns]:
            return {
                bare(f"{row}, {column}"): number
                for row, numbers in zip(rows["labels"], value["printed"], strict=True)
                for column, number in zip(columns["labels"], numbers, strict=True)
            }
    raise AssertionError(value["axes"])


@pytest.mark.parametrize("name", ["pizza", "comics"])
def test_what_each_layer_would_say(name: str) -> None:
    """The lens shows, for each token, its most probable word's probability."""
    values = json.loads(printed("lens", name, "--format", "json"))["values"]
    layers = [v for v in values if v["address"].endswith("probabilities")]
    blocks = read_blocks(printed("lens", name, width=400))
    (table,) = [block for block in blocks if isinstance(block, Table) and block.symbol == "p"]
    for (label, numbers), layer in zip(table.rows, layers, strict=True):
        rows = zip(layer["printed"], layer["data"], strict=True)
        largest = [printed_row[data.index(max(data))] for printed_row, data in rows]
        assert list(numbers) == largest, label


# --- pages ---------------------------------------------------------------------------------------


def agreeing(html: str) -> int:
    """How many entries of a page have a line of their own, and come out as its matrices show."""
    found = judged(from_html(html))
    assert list(found.disagreements) == []
    count = 0
    shown = dict(re.findall(r'<td data-of="(\d+:\d+,\d+)"[^>]*>(?:<span>)?([^<]*)<', html))
    assert shown
    for number, value in enumerate(values_of_page(html)):
        for at, entry in value["entries"].items():
            if "work" in entry:
                assert entry["result"] == entry["number"], (value["address"], at)
                count += 1
            else:
                without = value["given"] or entry["number"] == "0"
                assert without or "is" in entry, (value["address"], at)
            place = f"{number}:{at}"
            assert shown.get(place, entry["number"]) == entry["number"], place
    return count


@pytest.mark.parametrize(
    ("name", "carry"),
    [
        *(("alex", "line"), ("alex", "step"), ("alex", "never")),
        pytest.param("pizza", "step", marks=pytest.mark.fuzz),
    ],
)
def test_pages(name: str, carry: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    printed("page", name, "--carry", carry, "-o", str(page))
    assert agreeing(page.read_text("utf-8")) >= 300


def test_a_page_with_training(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    printed("page", "science", "--train", "-o", str(page))
    assert agreeing(page.read_text("utf-8")) >= 300


# --- sums that cancel ----------------------------------------------------------------------------

NOISE = """\
title: Sums that cancel
tokens: [a, b]
embeddings: [[0.1, 0.2, -0.3], [0.3, -0.1, -0.2]]
positions: {table: [[0.2, -0.2, 0.3], [0, 0.1, 0.1]]}
layers:
  - attention:
      norm: {epsilon: 0.1}
      heads:
        - W_Q: [[0.1], [0.2], [0.1]]
          W_K: [[1], [1], [1]]
          W_V: [[1, 0.1, 0.1], [1, 0.2, 0.1], [1, 0.3, 0.1]]
      W_O: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
      b_O: [-0.3, -0.2, 0.1]
    ffn:
      W_1: [[1, -1, 0], [1, -1, 0], [1, -1, 0]]
      W_2: [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
vocabulary: [x, y]
unembedding: {W_U: [[0.1, 0.2], [0.2, 0.2], [-0.3, 0.2]]}
targets: [x, y]
rounding: {carry: never}
arithmetic: float64
"""


@pytest.mark.parametrize(("token", "decimals"), [*zip(cycle("12"), [0, 1, 2, 4, 6])])
def test_floats_that_cancel(decimals: int, token: str) -> None:
    arguments = ("run", "-", "--token", token, "--decimals", str(decimals))
    assert judged_alike(OTHER[decimals % 3], *arguments, stdin=NOISE) >= 30
    assert against_json(*arguments, stdin=NOISE) == []


@pytest.mark.parametrize("decimals", [0, 1, 4])
def test_training_with_floats_that_cancel(decimals: int) -> None:
    arguments = ("train", "-", "--decimals", str(decimals))
    assert judged_alike(OTHER[decimals % 3], *arguments, stdin=NOISE) >= 60


def test_a_page_of_floats_that_cancel(tmp_path: Path) -> None:
    scenario, page = tmp_path / "noise.yaml", tmp_path / "noise.html"
    scenario.write_text(NOISE, "utf-8")
    printed("page", str(scenario), "--decimals", "1", "-o", str(page))
    assert agreeing(page.read_text("utf-8")) >= 100
