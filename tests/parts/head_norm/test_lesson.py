"""The texts of norms of head outputs: every format, sentences, programs, edits of a page."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
import yaml

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.evaluated import RUNNER, Compared, compare
from tests.helpers.programs import differences
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.script_in_node import Script, needs_node, running
from tests.helpers.traces import traced_or_rejected
from tests.helpers.truth import false_equations
from tests.lesson.test_every_claim import wrong
from tests.parts.head_norm.test_decoder import drawn
from tracer.lesson.code.library import Library

ROOT, GATED = (to_yaml({**drawn(seed), "rounding": {}}) for seed in (0, 1))
EACH = pytest.mark.parametrize("scenario", [ROOT, GATED], ids=["softmax", "delta"])


@EACH
@pytest.mark.parametrize("words", [
    ("tutorial", "-", "--format", "latex", "--standalone"),
    ("tutorial", "-", "--train", "--blanks"),
    ("run", "-", "--format", "json"),
    ("shapes", "-"),
    ("attribute", "logits[c,a]", "-s", "-"),
])  # fmt: skip
def test_every_text_is_written(words: tuple[str, ...], scenario: str) -> None:
    assert printed(*words, stdin=scenario)


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_texts_are_true(carry: str) -> None:
    spec = {**drawn(0), "rounding": {"carry": carry}}
    text = printed("run", "-", stdin=to_yaml(spec))
    assert false_equations(text) == []
    assert carry == "never" or violations(text) == []
    if carry == "step":
        assert wrong("tutorial", spec) == []


def test_sentences_of_both_passes_are_true() -> None:
    for seed in (0, 1):
        spec = {**drawn(seed), "rounding": {}}
        assert wrong("train", spec) == []
    told = " ".join(printed("run", "-", width=200, stdin=ROOT).split())
    assert "Each output's numbers are divided by their root mean square, with ε, then" in told


@EACH
@pytest.mark.parametrize("carry", ["step", "never"])
def test_programs_compute_the_numbers(scenario: str, carry: str) -> None:
    spec = yaml.load(scenario, yaml.BaseLoader)
    found = traced_or_rejected({**spec, "rounding": {"carry": carry}})
    assert list(differences(found, Library.NUMPY)) == []


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with running(RUNNER) as started:
        yield started


@needs_node
@EACH
def test_edits_of_a_page(scenario: str, script: Script) -> None:
    found = Compared()
    compare(script, scenario, Random(1), 4, found)
    assert found.faults == [] and found.states > 2
