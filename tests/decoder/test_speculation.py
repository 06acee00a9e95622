"""Speculative decoding, worked a second time: the draws, the checks, and whose probabilities."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers import random_scenarios
from tests.helpers.command import printed, run
from tests.helpers.examples import DOCS, fences, text_of, words_of, write_titled
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import to_yaml

TALK = """\
title: Five words in any order
tokens: [a]
embeddings: {a: [1, 0.3], b: [-0.4, 0.8], c: [0.9, -0.6], d: [0.1, 0.2], e: [-1, -0.7]}
layers:
  - attention:
      heads: [{W_Q: [[0.5], [0.3]], W_K: [[0.2], [-0.9]], W_V: [[0.4, 0.1], [-0.3, 0.6]]}]
vocabulary: [a, b, c, d, e]
unembedding: {W_U: [[0.5, -1, 0.25, 0.8, 0.1], [1.2, 0.4, -0.6, -0.1, 0.3]]}
generation: {max_tokens: 6}
rounding: {carry: never}
"""
LIKE_IT = TALK.replace("1.2, 0.4, -0.6", "0.7, 0.5, -0.2")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A target and a draft that is nearly like it."""
    for name, text in (("target", TALK), ("draft", LIKE_IT)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return str(tmp_path / "target.yaml"), str(tmp_path / "draft.yaml")


def document(target: str, draft: str, *options: str) -> Any:
    words = ("generate", target, "--draft", draft, *options)
    return json.loads(printed(*words, "--format", "json"))


def probabilities(spec: str, text: list[str], temperature: float, top_k: int | None) -> list[float]:
    """Those of the word after a text, of the most probable words alone; 0 for the others."""
    whole = yaml.safe_load(spec) | {"tokens": text}
    logits = np.asarray(reference(whole)["logits"], float)[-1] / temperature
    powers = np.exp(logits - logits.max())
    shares = powers / powers.sum()
    kept = np.argsort(-shares, kind="stable")[:top_k]
    left = np.zeros(len(shares))
    left[kept] = shares[kept] / shares[kept].sum()
    return [float(x) for x in left]


class Judge:
    """Holds each round against p and q of another program, and repeats the draws."""

    def __init__(self, said: Any, seed: int, temperature: float, top_k: int | None) -> None:
        self.said, self.temperature, self.top_k = said, temperature, top_k
        self.random = random.Random(seed)
        self.vocabulary = yaml.safe_load(TALK)["vocabulary"]

    def draw(self, printed: float) -> Fraction:
        number = Fraction(self.random.randrange(10**4), 10**4)
        assert number == Fraction(str(printed))
        return number

    def exact(
        self, shown: list[dict[str, Any]], key: str, spec: str, text: list[str]
    ) -> dict[str, Fraction]:
        """The printed probabilities: as near as rounding allows, and 1 in sum."""
        found = {each["word"]: Fraction(str(each[key])) for each in shown}
        expected = probabilities(spec, text, self.temperature, self.top_k)
        for word, number in zip(self.vocabulary, expected, strict=True):
            assert abs(float(found.get(word, 0)) - number) < 0.0016  # rounded, and a unit
            assert number or not found.get(word)
        assert sum(found.values()) == 1
        return found

    def drawn(self, numbers: dict[str, Fraction], at: Fraction) -> str:
        total = Fraction(0)
        for word, number in numbers.items():
            total += number
            if at < total:
                return word
        raise AssertionError("nothing is drawn")

    def check(self) -> list[str]:
        text = list(self.said["rounds"][0]["input"])
        for each in self.said["rounds"]:
            assert each["input"] == text
            text += self.round(each, text)
        assert self.said["text"] == text
        return text

    def round(self, each: dict[str, Any], text: list[str]) -> list[str]:
        qs, words = [], list[str]()
        for draft in each["drafted"]:
            qs.append(self.exact(draft["probabilities"], "data", LIKE_IT, [*text, *words]))
            words.append(draft["word"])
            assert draft["word"] == self.drawn(qs[-1], self.draw(draft["draw"]))
        written = list[str]()
        for i, check in enumerate(each["checks"]):
            at = [*text, *words[:i]]
            p = self.exact(check["probabilities"], "p", TALK, at)
            q, word = qs[i], check["word"]
            assert word == words[i]
            accepts = self.draw(check["draw"]) < min(Fraction(1), p[word] / q[word])
            assert check["accepted"] == accepts
            both = {w: min(p.get(w, Fraction(0)), q.get(w, Fraction(0))) for w in p | q}
            assert Fraction(str(check["acceptance"])) == sum(both.values())
            if not accepts:
                left = {w: n for w in p if (n := p[w] - both[w])}
                ordered = dict(sorted(left.items(), key=lambda item: -item[1]))
                at_sum = self.draw(each["last"]["draw"]) * sum(left.values())
                assert each["last"]["word"] == self.drawn(ordered, at_sum)
                assert i == len(each["checks"]) - 1
                return [*written, each["last"]["word"]]
            written.append(word)
        assert len(each["checks"]) == len(words)
        p = self.exact(each["last"]["probabilities"], "data", TALK, [*text, *words])
        assert each["last"]["word"] == self.drawn(p, self.draw(each["last"]["draw"]))
        return [*written, each["last"]["word"]]


@pytest.mark.parametrize(
    ("temperature", "top_k", "drafted"), [(1, None, 3), (0.5, None, 2), (2, 3, 4), (1, 1, 3)]
)
def test_each_draw_and_each_check(
    temperature: float, top_k: int | None, drafted: int, files: tuple[str, str]
) -> None:
    verdicts = set[bool]()
    for seed in range(3):
        options = ["--seed", str(seed), "--draft-tokens", str(drafted)]
        options += ["--temperature", str(temperature)] if temperature != 1 else []
        options += ["--top-k", str(top_k)] if top_k else []
        said = document(*files, *options)
        assert all(len(each["drafted"]) <= drafted for each in said["rounds"])
        assert len(Judge(said, seed, temperature, top_k).check()) == 1 + 6
        verdicts |= {check["accepted"] for each in said["rounds"] for check in each["checks"]}
    assert verdicts == {True, False} or top_k == 1


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("drafted", [1, 3, 8])
def test_the_limit_is_kept_also_within_a_round(
    most: int, drafted: int, files: tuple[str, str]
) -> None:
    for options in ((), ("--seed", "4")):
        limits = ("--max-tokens", str(most), "--draft-tokens", str(drafted))
        said = document(*files, *options, *limits)
        assert len(said["text"]) == 1 + most
        for each in said["rounds"]:
            left = most - (len(each["input"]) - 1)
            assert len(each["drafted"]) == min(drafted, left - 1)
            assert 1 <= len(each["written"]) <= left


def test_the_same_model_as_draft_is_always_accepted(files: tuple[str, str]) -> None:
    target, _ = files
    for options in ((), ("--seed", "1"), ("--seed", "2", "--temperature", "3")):
        said = document(target, target, *options)
        for each in said["rounds"]:
            assert all(check["accepted"] for check in each["checks"])
        assert said["passes"] == {"target": math.ceil(6 / 4), "draft": 3 + 1}


def test_an_accepted_end_token_ends_the_round() -> None:
    said = document("pizza", "pizza")
    assert [each["written"] for each in said["rounds"]] == [
        ["Me", "gusta", "la", "pizza"],
        ["<END>"],
    ]
    assert said["rounds"][1]["last"] is None and len(said["rounds"][1]["drafted"]) == 1


# --- random scenarios ----------------------------------------------------------------------------

few = settings(
    max_examples=5, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


def another(spec: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same scenario with another unembedding."""
    rng = random.Random(seed)
    unembedding = spec["unembedding"]
    if not isinstance(unembedding, dict) or not isinstance(unembedding.get("W_U"), list):
        return spec
    changed = [[x if rng.random() < 0.7 else -x for x in row] for row in unembedding["W_U"]]
    return {**spec, "unembedding": {**unembedding, "W_U": changed}}


@few
@given(random_scenarios.scenarios(speaks=True, max_layers=2, max_tokens=3))
def test_without_random_numbers_it_is_what_the_target_writes(spec: dict[str, Any]) -> None:
    assert_greedy(spec)


@pytest.mark.fuzz
@settings(few, max_examples=150, derandomize=False)
@given(random_scenarios.scenarios(speaks=True, max_layers=2, max_tokens=3))
def test_of_many_scenarios(spec: dict[str, Any]) -> None:
    assert_greedy(spec)


def assert_greedy(spec: dict[str, Any]) -> None:
    plain = run("generate", "-", "--max-tokens", "3", "--format", "json", stdin=to_yaml(spec))
    assume(plain.exit_code == 0)
    other = Path("draft-of-test.yaml")
    other.write_text(to_yaml(another(spec, 1)), encoding="utf-8")
    try:
        options = ("--draft", str(other), "--max-tokens", "3", "--format", "json")
        ran = run("generate", "-", *options, stdin=to_yaml(spec))
    finally:
        other.unlink()
    refused = ("the mask shows later tokens", "cannot read drafted words together")
    if ran.exit_code:
        assert any(reason in ran.stderr for reason in refused), ran.stderr
        return
    assert json.loads(ran.stdout)["text"] == json.loads(plain.stdout)["text"]


# --- what is refused -----------------------------------------------------------------------------

REFUSED = {
    "other words": (
        LIKE_IT.replace("vocabulary: [a, b, c, d, e]", "vocabulary: [a, b, c, d, x]"),
        (),
        "error: --draft: draft has no word 'e' in its vocabulary, and target has it; both models "
        "need the same words",
    ),
    "more words": (
        LIKE_IT.replace("0.8, 0.1]", "0.8, 0.1, 0]")
        .replace("-0.1, 0.3]]", "-0.1, 0.3, 1]]")
        .replace("d, e]", "d, e, f]"),
        (),
        "error: --draft: target has no word 'f' in its vocabulary, and draft has it; both models "
        "need the same words",
    ),
    "no vocabulary": (
        "\n".join(x for x in LIKE_IT.splitlines() if not x.startswith(("voc", "unemb", "gen"))),
        (),
        "error: --draft: draft has no vocabulary, which speculative decoding needs",
    ),
    "an unknown start": (
        LIKE_IT.replace("{a: [1, 0.3], ", "{").replace("tokens: [a]", "tokens: [b]"),
        (),
        "error: --draft: draft has no embedding for the token 'a'",
    ),
    "a cache": (
        LIKE_IT,
        ("--kv-cache",),
        "error: --kv-cache: works only with one word per pass, not --draft",
    ),
    "beams": (
        LIKE_IT,
        ("--beams", "3"),
        "error: --beams: works only with the most probable words, not --draft, --temperature, "
        "--top-k, --top-p or --seed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str, files: tuple[str, str]) -> None:
    target, draft = files
    text, options, expected = REFUSED[case]
    Path(draft).write_text(text, encoding="utf-8")
    ran = run("generate", target, "--draft", draft, *options)
    assert ran.exit_code == 2
    assert expected.removeprefix("error: ") in ran.stderr.replace("\n", " ")


def test_words_in_another_order_are_matched(files: tuple[str, str]) -> None:
    target, draft = files
    said = document(target, draft, "--seed", "5")
    swapped = yaml.safe_load(LIKE_IT)
    swapped["vocabulary"] = ["e", *swapped["vocabulary"][:-1]]
    rows = swapped["unembedding"]["W_U"]
    swapped["unembedding"]["W_U"] = [[row[-1], *row[:-1]] for row in rows]
    Path(draft).write_text(yaml.safe_dump(swapped), encoding="utf-8")
    assert document(target, draft, "--seed", "5") == said


def test_options_of_a_draft_need_one(files: tuple[str, str]) -> None:
    ran = run("generate", files[0], "--draft-tokens", "2")
    assert ran.exit_code == 2 and "--draft-tokens: works only with --draft" in ran.stderr


def test_a_problem_of_the_draft_names_its_file(files: tuple[str, str]) -> None:
    target, draft = files
    spec = yaml.safe_load(LIKE_IT) | {"positions": {"table": [[0, 0], [0, 0]]}}
    Path(draft).write_text(yaml.safe_dump(spec), encoding="utf-8")
    ran = run("generate", target, "--draft", draft)
    assert ran.exit_code == 2 and "draft.yaml" in ran.stderr and "positions" in ran.stderr


def test_the_documentation_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = DOCS / "generation.md"
    write_titled(text_of(page), tmp_path)
    monkeypatch.chdir(tmp_path)
    said = "".join(
        printed(*words_of(line))
        for line in "".join(fences(page, "sh")).splitlines()
        if "--draft" in line
    )
    shown = "".join(fences(page, "text")).splitlines()
    assert len(shown) > 5 and all(line in said.splitlines() for line in shown if line)
