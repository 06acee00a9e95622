"""What a seed makes of a scenario can be worked out, and is true, as what it was made of."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.helpers.bundled import TYPED
from tests.helpers.claims import Judge, faults
from tests.helpers.command import printed, run, run_json
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.sentences import unbroken
from tests.helpers.truth import equations, false_equations, unreadable

NEARLY_ALWAYS_ZERO = """
tokens: [a]
embeddings: {a: [0, 1]}
layers: [{ffn: {W_1: [[1], [1]], W_2: [[0, 0]], residual: false, norm: {epsilon: 0}}}]
"""
"""Nothing is left for the norm to divide by, whatever the embedding."""


@pytest.mark.parametrize(("name", "seed"), [("alex", "1"), ("science", "2"), ("comics", "1")])
def test_every_judge_finds_it_right(name: str, seed: str) -> None:
    asked = (name, "--vary", seed)
    text = printed("run", *asked, width=80)
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert (violations(text), misplaced(text), two_forms(text)) == ([], [], [])
    assert len(equations(text)) > 40
    document = run_json(*asked)
    values = {value["address"]: value for value in document["values"]}
    spec = yaml.safe_load(TYPED[name].read_text(encoding="utf-8"))
    judge = Judge(values, spec, len(values["tokens"]["data"]) - 1, document["rounding"])
    assert faults(unbroken(printed("run", *asked, width=5000)), judge) == []


def test_it_is_another_each_time_and_the_same_for_a_seed() -> None:
    texts = [printed("run", "science", "--vary", str(seed)) for seed in (1, 2, 3, 1)]
    assert texts[0] == texts[3]
    assert len(set(texts)) == 3
    assert "(variant 1)" in texts[0].split("\n")[0]


def test_numbers_are_drawn_again_where_they_would_divide_by_zero() -> None:
    """With one row of 0 and 1 there are two draws of four that a LayerNorm can take."""
    source = "tokens: [a]\nembeddings: {a: [0, 1]}\nlayers: [{ffn: {W_1: [[1, 0], [0, 1]], "
    source += "W_2: [[1, 0], [0, 1]], residual: false, norm: {epsilon: 0}}}]\n"
    for seed in range(12):
        assert printed("run", "-", "--vary", str(seed), stdin=source)


def test_what_no_draw_makes_possible_is_told() -> None:
    ran = run("run", "-", "--vary", "1", stdin=NEARLY_ALWAYS_ZERO)
    assert (ran.exit_code, ran.stdout) == (2, "")
    told = "--vary: no variant of seed 1 gives a result, expected another seed\n"
    assert ran.stderr == told


def test_a_models_numbers_are_not_drawn() -> None:
    ran = run("run", "gpt2-small", "--vary", "1")
    assert ran.exit_code == 2
    assert re.fullmatch(
        r"--vary: only numbers typed in the scenario can be varied, [^\n]*\n", ran.stderr
    )
