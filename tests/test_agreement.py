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
from tests.helpers.every_judge import FORMATS, faults_and_compared
from tests.helpers.other_pages import bare, entries_of_page, from_html
from tests.helpers.terminal_page import Lines, Table, read_blocks
from tests.helpers.truth import without_pictures

CARRY_MODES = ("line", "step", "never")
SHORT = {
    "alex": (("run", "alex"), 80),
    "science": (("run", "science", "--token", "3"), 30),
    "comics": (("run", "comics", "--sequence", "2"), 120),
    "without the mask": (("run", "alex", "--no-mask", "--token", "2"), 90),
    "a step": (("step", "softmax", "-s", "pizza"), 20),
    "drawn": (("generate", "pizza", *("--seed", "3", "--temperature", "1.5", "--top-k", "4")), 10),
    "the loss": (("loss", "pizza"), 0),
    "tutorial": (("tutorial", "science"), 30),
}
"""Commands, and how many lines at least have a matrix."""

LONG = {
    "pizza": (("run", "pizza", "--token", "2", "--carry", "step"), 350),
    "generated": (("generate", "pizza", "--worked", "--kv-cache", "--max-tokens", "1"), 250),
    "trained": (("train", "science", "--optimizer", "adamw", "--carry", "line"), 50),
    "trained in steps": (("train", "science", "--steps", "2", "--momentum", "0.5"), 50),
    "tutorial": (("tutorial", "science", "--train"), 50),
}


def found_in(text: str, form: str) -> int:
    """How many lines were held against a matrix; all agree, and all have an entry."""
    faults, compared = faults_and_compared(text, form)
    assert faults == []
    return compared


def agree_in_every_format(*arguments: str, stdin: str = "") -> int:
    """How many lines have a matrix: as many in each format."""
    counts = {
        form: found_in(printed(*arguments, *options, stdin=stdin), form)
        for form, (options, _, _) in FORMATS.items()
    }
    assert len(set(counts.values())) == 1, counts
    return counts["terminal"]


@pytest.mark.parametrize(
    ("name", "carry"),
    [("alex", "step"), ("alex", "never"), *zip(SHORT, cycle(CARRY_MODES), strict=False)],
)
def test_every_command_in_every_format(name: str, carry: str) -> None:
    arguments, fewest = SHORT[name]
    assert agree_in_every_format(*arguments, "--carry", carry) >= fewest


@pytest.mark.parametrize("name", LONG)
def test_long_texts_in_every_format(name: str) -> None:
    arguments, fewest = LONG[name]
    assert agree_in_every_format(*arguments) >= fewest


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
    shown = dict(re.findall(r'<td data-of="(\d+:\d+,\d+)"[^>]*>([^<]*)<', html))
    assert shown
    for number, value in enumerate(entries_of_page(html)):
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


@pytest.mark.parametrize(("token", "decimals"), [*zip(cycle("12"), [0, 1, 2, 4, 6, 0, 6])])
def test_floats_that_cancel(decimals: int, token: str) -> None:
    arguments = ("run", "-", "--token", token, "--decimals", str(decimals))
    assert agree_in_every_format(*arguments, stdin=NOISE) >= 30
    assert against_json(*arguments, stdin=NOISE) == []


@pytest.mark.parametrize("decimals", [0, 1, 2, 4, 6])
def test_training_with_floats_that_cancel(decimals: int) -> None:
    arguments = ("train", "-", "--decimals", str(decimals))
    assert agree_in_every_format(*arguments, stdin=NOISE) >= 60


def test_a_page_of_floats_that_cancel(tmp_path: Path) -> None:
    scenario, page = tmp_path / "noise.yaml", tmp_path / "noise.html"
    scenario.write_text(NOISE, "utf-8")
    printed("page", str(scenario), "--decimals", "1", "-o", str(page))
    assert agreeing(page.read_text("utf-8")) >= 100
