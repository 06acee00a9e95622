"""The questions of a worksheet have the right answers, computed anew by the reference."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers.command import run, run_json
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml, words
from tests.helpers.reference import Array, reference
from tests.helpers.traces import traced_or_rejected
from tests.helpers.worksheets import read
from tracer.names import distinct

NUMBER = r"(-?\d+(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
QUESTIONS = {
    "largest": r"Before you compute the weights: which of them is the largest in the row of `(.*)` "
    r"in (\S+)\? Look at the scores\.",
    "signs": r"Suppose that all numbers of `(.*)` in (\S+) change their sign\. Which numbers of "
    r"`.*` in (\S+) are 0 then\?",
    "word": r"Which word will be the most probable one after `(.*)`\?",
    "weight": r"Suppose that the weight of (\S+) in row `(.*)` and column `(.*)` is doubled\. "
    r"Which of the numbers of `(.*)` in (\S+) change, and by how much\?",
    "head": r"Suppose that head (\d) outputs only zeros\. What is `(.*)` of `(.*)` in (\S+) "
    r"then\?",
    "sub_layer": r"Suppose that (?:self-attention|cross-attention|the feed-forward network) "
    r"outputs only zeros\. What is `(.*)` of `(.*)` in (\S+) then\?",
    "token": r"Suppose that `(.*)` gives all of its attention to `(.*)`: this weight is 1, the "
    r"others are 0\. What is `(.*)` of `.*` in (\S+) then\?",
    "row": r"Suppose that all numbers of `(.*)` in (\S+) are doubled\. What is `(.*)` of `.*` in "
    r"(\S+) then\?",
    "mask": r"Suppose that there is no mask\. In which rows of (\S+) do the numbers change\?",
    "exchange": r"Suppose that two tokens change places, so that the model reads (.*)\. Do the "
    r"numbers of `(.*)` in (\S+) change\?",
}
CHANGE = re.compile(
    rf"`([^`]+?)` changes(?: from {NUMBER} to {NUMBER} \(by {NUMBER}\)| by {NUMBER})"
)
SAME = 1e-9


class Judge:
    """Answers questions about a scenario, which is rounded for print only."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.plain = reference(scenario)
        self.values = {v["address"]: v for v in run_json("-", stdin=to_yaml(scenario))["values"]}
        self.kinds = set[str]()

    def judge(self, asks: str, answer: str) -> None:
        for kind, form in QUESTIONS.items():
            if found := re.match(form, asks):
                self.kinds.add(kind)
                getattr(self, kind)(answer, *found.groups())
                return
        raise AssertionError(asks)

    def largest(self, answer: str, _: str, symbol: str) -> None:
        row, names = self.followed(symbol), self.columns(symbol)
        assert answer == f"That of `{names[int(np.argmax(row))]}`."

    def signs(self, answer: str, _: str, of: str, symbol: str) -> None:
        read = self.value(of)["address"]

        def turned(address: str, value: Array) -> Array:
            return np.vstack([value[:-1], -value[-1:]]) if address == read else value

        after = self.followed(symbol, reference(self.scenario, turned))
        names = [n for n, x in zip(self.columns(symbol), after, strict=True) if not x]
        assert re.findall("`(.*?)`", answer) == names
        assert names or answer == "None of them."

    def word(self, answer: str, _: str) -> None:
        best = int(np.argmax(self.plain["logits"][-1]))
        assert answer == f"`{self.scenario['vocabulary'][best]}`."

    def weight(self, answer: str, of: str, row: str, column: str, _: str, symbol: str) -> None:
        weights = self.value(of)
        i, j = (
            distinct(axis["labels"]).index(n)
            for axis, n in zip(weights["axes"], (row, column), strict=True)
        )
        changed = deepcopy(self.scenario)
        matrix = at_address(changed, weights["address"])
        matrix[i][j] = 2 * matrix[i][j]
        before, after = self.followed(symbol), self.followed(symbol, reference(changed))
        said = {name: numbers for name, *numbers in CHANGE.findall(answer)}
        for name, old, new in zip(self.columns(symbol), before, after, strict=True):
            assert (name in said) == (abs(new - old) > SAME)
            if name in said:
                first, second, by, only = said[name]
                assert first == "" or (close(first, old) and close(second, new))
                assert close(by or only, new - old)
        assert said or answer == "None of them changes."

    def head(self, answer: str, head: str, column: str, _: str, symbol: str) -> None:
        sub_layer = self.value(symbol)["address"].removesuffix(".output")
        silent = {f"{sub_layer}.head{head}.output": lambda x: 0 * x}
        self.number(answer, column, symbol, silent)

    def sub_layer(self, answer: str, column: str, _: str, symbol: str) -> None:
        sub_layer = self.value(symbol)["address"].removesuffix(".residual")
        self.number(answer, column, symbol, {f"{sub_layer}.output": lambda x: 0 * x})

    def token(self, answer: str, _: str, other: str, column: str, symbol: str) -> None:
        address = self.value(symbol)["address"].removesuffix("output") + "weights"
        labels = distinct(self.values[address]["axes"][1]["labels"])

        def alone(weights: Array) -> Array:
            return np.vstack([weights[:-1], np.eye(len(labels))[labels.index(other)]])

        self.number(answer, column, symbol, {address: alone})

    def row(self, answer: str, _: str, of: str, column: str, symbol: str) -> None:
        def twice(x: Array) -> Array:
            return np.vstack([x[:-1], 2 * x[-1:]])

        self.number(answer, column, symbol, {self.value(of)["address"]: twice})

    def mask(self, answer: str, symbol: str) -> None:
        address = self.value(symbol)["address"]
        after = reference({**self.scenario, "mask": "none"})[address]
        differs = [
            np.abs(new - old).max() > SAME
            for new, old in zip(after, self.plain[address], strict=True)
        ]
        names = distinct(self.values[address]["axes"][0]["labels"])
        rows, _, example = answer.partition(". For example, the weight that ")
        assert re.findall("`(.*?)`", rows) == [n for n, d in zip(names, differs, strict=True) if d]
        one, other, shown = re.fullmatch(  # type: ignore[union-attr]
            rf"`(.*)` gives to `(.*)` is then {NUMBER}\.", example
        ).groups()
        assert close(shown, after[names.index(one)][names.index(other)])

    def exchange(self, answer: str, text: str, _: str, symbol: str) -> None:
        tokens = re.findall("`(.*?)`", text)
        assert sorted(tokens) == sorted(self.scenario["tokens"])
        assert tokens != self.scenario["tokens"]
        before = self.followed(symbol)
        after = self.followed(symbol, reference({**self.scenario, "tokens": tokens}))
        if answer == "No.":
            assert np.abs(after - before).max() < SAME
            return
        column, old, new = re.fullmatch(  # type: ignore[union-attr]
            rf"Yes\. For example, `(.*)` changes from {NUMBER} to {NUMBER}\.", answer
        ).groups()
        place = self.columns(symbol).index(column)
        assert close(old, before[place])
        assert close(new, after[place])

    def number(self, answer: str, column: str, symbol: str, changes: dict[str, Any]) -> None:
        """One number, with other values at some addresses, all of which the reference meets."""
        met = set[str]()

        def replace(address: str, value: Array) -> Array:
            if address not in changes:
                return value
            met.add(address)
            return np.asarray(changes[address](value))

        after = self.followed(symbol, reference(self.scenario, replace))
        assert met == changes.keys()
        (name, shown) = re.fullmatch(rf"`(.*)` is {NUMBER}\.", answer).groups()  # type: ignore[union-attr]
        assert name == column
        assert close(shown, after[self.columns(symbol).index(column)])

    def value(self, symbol: str) -> Any:
        return next(value for value in self.values.values() if value["symbol"] == symbol)

    def columns(self, symbol: str) -> tuple[str, ...]:
        return distinct(self.value(symbol)["axes"][1]["labels"])

    def followed(self, symbol: str, of: dict[str, Array] | None = None) -> Array:
        return np.asarray((self.plain if of is None else of)[self.value(symbol)["address"]][-1])


def close(shown: str, number: float) -> bool:
    """Whether a number is printed as it is, rounded."""
    said = read(shown)
    half_a_unit = 0.5 * 10.0 ** int(said.as_tuple().exponent)
    return abs(float(said) - number) <= half_a_unit + 1e-9 * max(1, abs(number))


def at_address(scenario: Scenario, address: str) -> Any:
    """The rows of a parameter."""
    found: Any = scenario
    for name in address.split("."):
        plural = re.fullmatch(r"(layer|head|expert)(\d+)", name)
        found = found[f"{plural[1]}s"][int(plural[2]) - 1] if plural else found[name]
    return found


def sheet_and_key(scenario: Scenario, folder: Path, *options: str) -> tuple[list[str], list[str]]:
    """The questions of a sheet and their answers in its key, in order."""
    key = folder / "key.md"
    words = ("tutorial", "-", "--blanks", "--key", str(key), "--force", *options)
    ran = run(*words, stdin=to_yaml(scenario))
    if "nothing to leave out" in ran.stderr:
        reject()
    assert ran.exit_code == 0, ran.stderr
    return numbered(ran.stdout), numbered(key.read_text(encoding="utf-8"))


def numbered(text: str) -> list[str]:
    """What begins with Q1., Q2. and so on."""
    plain = text.replace("\\", "")
    each = re.findall(r"^\*\*Q(\d+)\.\*\* (.*)$", plain, re.MULTILINE)
    assert [int(number) for number, _ in each] == list(range(1, len(each) + 1))
    return [said for _, said in each]


SMALL: Scenario = {
    "tokens": ["a", "b", "c"],
    "embeddings": {"a": [1, 2], "b": [2, 1], "c": [1, 3]},
    "layers": [
        {
            "attention": {
                "heads": [
                    {"W_Q": [[1, 0], [0, 1]], "W_K": [[1, 1], [0, 1]], "W_V": [[1, 0], [1, 1]]},
                    {"W_Q": [[0, 1], [1, 1]], "W_K": [[1, 0], [0, 1]], "W_V": [[0, 1], [1, 0]]},
                ],
                "W_O": [[1, 0], [0, 1], [1, 1], [0, -1]],
            },
            "ffn": {"W_1": [[1, -1], [-1, 1]], "W_2": [[1, 2], [3, 1]]},
        }
    ],
    "vocabulary": ["here", "there"],
    "unembedding": {"W_U": [[1, -1], [2, 3]]},
    "rounding": {"carry": "never", "decimals": 4},
}


def test_every_kind_is_asked(tmp_path: Path) -> None:
    judge = Judge(SMALL)
    for seed in range(6):
        for asks, answer in zip(*sheet_and_key(SMALL, tmp_path, "--seed", str(seed)), strict=True):
            judge.judge(asks, answer)
    # Logits that are rounded for print only have more digits in the lines of the probabilities.
    assert judge.kinds == {*QUESTIONS} - {"word"}


def test_a_word_is_asked_for_where_the_logits_are_left_out(tmp_path: Path) -> None:
    key, told = tmp_path / "key.md", dict[str, str]()
    for seed in range(4):
        how = ("--blanks", "--key", str(key), "--force", "--seed", str(seed))
        asked = numbered(run("tutorial", "science", *how).stdout)
        told |= dict(zip(asked, numbered(key.read_text(encoding="utf-8")), strict=True))
    words = {answer for asks, answer in told.items() if re.match(QUESTIONS["word"], asks)}
    assert words == {"`is`."}


def test_without_positions_an_exchange_changes_nothing_for_the_last_token(tmp_path: Path) -> None:
    answers = set()
    for scenario in (SMALL, {**SMALL, "positions": {"sinusoidal": {}}}):
        for seed in range(6):
            asked, told = sheet_and_key(scenario, tmp_path, "--seed", str(seed))
            answers |= {t[:3] for a, t in zip(asked, told, strict=True) if "change places" in a}
        if scenario is SMALL:
            assert answers == {"No."}
    assert answers == {"No.", "Yes"}


MANY = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(
    scenario=scenarios("never", names=words(), epsilons=("0.1",), max_layers=2, max_tokens=4),
    seed=st.integers(0, 9),
)
def test_random_answers(scenario: Scenario, seed: int, tmp_path: Path) -> None:
    traced_or_rejected(scenario)
    judge = Judge(scenario)
    for asks, answer in zip(*sheet_and_key(scenario, tmp_path, "--seed", str(seed)), strict=True):
        judge.judge(asks, answer)


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "picture"])
def test_a_third_of_what_is_asked_is_about_understanding(name: str) -> None:
    for options in (("tutorial", name), ("step", "attention", "-s", name, "-f", "markdown")):
        sheet = run(*options, "--blanks").stdout
        exercises = re.findall(r"^#+ \d+\. ", sheet, re.MULTILINE)
        assert 2 * len(numbered(sheet)) >= len(exercises) > 0
