"""Beam search, worked a second time: all texts, their scores, and what is kept."""

from __future__ import annotations

import itertools
import json
import math
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings

from tests.decoder.test_speculation import TALK
from tests.helpers import random_scenarios
from tests.helpers.command import printed, run
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import to_yaml

SPEC = yaml.safe_load(TALK)
ENDING = TALK.replace("max_tokens: 6", "max_tokens: 6, end: d")
NEAR = 1e-9


@lru_cache
def logarithms(text: tuple[str, ...]) -> dict[str, float]:
    """ln p of each word after a text, in floats."""
    logits = np.asarray(reference({**SPEC, "tokens": list(text)})["logits"], float)[-1]
    found = logits - logits.max()
    found -= math.log(np.exp(found).sum())
    return dict(zip(SPEC["vocabulary"], map(float, found), strict=True))


def document(text: str, *options: str) -> Any:
    return json.loads(printed("generate", "-", *options, "--format", "json", stdin=text))


def score(words: list[str]) -> float:
    every = ("a", *words)
    return math.fsum(logarithms(every[:i])[every[i]] for i in range(1, len(every)))


def test_with_a_wide_beam_the_most_probable_of_all_texts_is_found() -> None:
    every = itertools.product(SPEC["vocabulary"], repeat=3)
    expected = sorted((list(words) for words in every), key=score, reverse=True)
    found = document(TALK, "--beams", "25", "--max-tokens", "3")
    assert found["text"] == ["a", *expected[0]]
    for listed, words in zip(found["finished"], expected, strict=False):
        assert listed["words"] == words
        assert listed["score"] == pytest.approx(score(words), abs=NEAR)
        assert listed["mean"] == pytest.approx(score(words) / 3, abs=NEAR)


@pytest.mark.parametrize("width", [1, 2, 3, 7])
@pytest.mark.parametrize("text", [TALK, ENDING], ids=["no end", "with an end"])
def test_each_turn_keeps_the_best_candidates(text: str, width: int) -> None:
    found = document(text, "--beams", str(width))
    ends = {"d"} if text == ENDING else set()
    beams: list[list[str]] = [[]]
    done: list[list[str]] = []
    for number, turn in enumerate(found["turns"], 1):
        assert [beam["input"] for beam in turn["beams"]] == [["a", *words] for words in beams]
        every = [[*words, word] for words in beams for word in SPEC["vocabulary"]]
        every.sort(key=score, reverse=True)
        assert turn["all_candidates"] == len(every)
        shown = [
            [*turn["beams"][each["beam"] - 1]["input"][1:], each["word"]]
            for each in turn["candidates"]
        ]
        assert shown == every[: 2 * width]
        is_last = number == 6
        finished = [words for words in every[:width] if words[-1] in ends or is_last]
        beams = [words for words in every if words[-1] not in ends and not is_last][:width]
        done = sorted([*done, *finished], key=lambda x: score(x) / len(x), reverse=True)[:width]
        for words, each in zip(shown, turn["candidates"], strict=True):
            assert each["score"] == pytest.approx(score(words), abs=NEAR)
            last = logarithms(("a", *words[:-1]))[words[-1]]
            assert each["logarithm"] == pytest.approx(last, abs=NEAR)
            assert each["probability"] == pytest.approx(math.exp(last), abs=NEAR)
            assert each["kept"] == (words in beams) and each["finished"] == (words in finished)
        stops = (
            len(done) == width
            and beams
            and score(beams[0]) / number <= score(done[-1]) / len(done[-1])
        )
        assert (number == len(found["turns"])) == bool(is_last or stops)
    assert [each["words"] for each in found["finished"]] == done
    assert found["text"] == ["a", *done[0]]


def test_more_beams_than_words() -> None:
    found = document(TALK, "--beams", "40", "--max-tokens", "2")
    assert [len(turn["beams"]) for turn in found["turns"]] == [1, 5]
    assert len(found["finished"]) == 25


def test_a_beam_search_can_be_worked_with_and_without_a_cache() -> None:
    for options in ((), ("--kv-cache",)):
        words = ("generate", "pizza", "--beams", "2", "--max-tokens", "2", "--worked", *options)
        found = json.loads(printed(*words, "--format", "json"))
        *_, beam = found["turns"][1]["beams"]
        values = {value["address"]: value for value in beam["values"]}
        assert len(values["input"]["data"]) == (1 if options else 2)
        text = printed(*words)
        assert text.count("\nA pass\n") == 3


@settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_scenarios.scenarios(speaks=True, max_layers=1, max_tokens=3))
def test_one_beam_writes_the_most_probable_words(spec: dict[str, Any]) -> None:
    words = ("generate", "-", "--max-tokens", "3", "--format", "json")
    plain = run(*words, stdin=to_yaml(spec))
    assume(plain.exit_code == 0)
    ran = run(*words, "--beams", "1", stdin=to_yaml(spec))
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["text"] == json.loads(plain.stdout)["text"]


@pytest.mark.parametrize("option", ["--seed=1", "--temperature=2", "--top-k=2", "--top-p=0.5"])
def test_words_are_not_drawn(option: str) -> None:
    ran = run("generate", "pizza", "--beams", "3", option)
    name = option.partition("=")[0]
    assert ran.exit_code == 2 and "--beams" in ran.stderr and name in ran.stderr


def test_a_vocabulary_is_needed() -> None:
    ran = run("generate", "alex", "--beams", "2")
    assert ran.exit_code == 2 and "beam search needs a vocabulary" in ran.stderr
