"""The script of a page computes from its tape what the program computes, digit by digit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

import pytest

from tests.helpers.bundled import TYPED
from tests.helpers.evaluated import (
    RUNNER,
    Compared,
    compare,
    is_other_tape,
    loaded,
    tape_of,
)
from tests.helpers.fuzzed import faults_of_all
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.script_in_node import Script, needs_node, running
from tests.helpers.whole_scenarios import plain_and_written
from tracer.errors import TracerError

pytestmark = needs_node

STATES = 12
"""The states of a scenario that are compared, besides its first."""

MOST_REFUSED = 0.02
"""The share of states that the script may refuse though the program computes them."""


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with running(RUNNER) as started:
        yield started


@pytest.mark.parametrize("name", TYPED)
def test_edits_of_bundled_scenarios(name: str, script: Script) -> None:
    assert faults_of_bundled(script, name, STATES) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TYPED)
def test_many_edits_of_bundled_scenarios(name: str, script: Script) -> None:
    assert faults_of_bundled(script, name, 100) == []


def faults_of_bundled(script: Script, name: str, states: int) -> list[str]:
    """What differs in so many states of a scenario, and in its first."""
    found = Compared()
    compare(script, TYPED[name].read_text(encoding="utf-8"), Random(name), states, found)
    assert found.states == states + 1
    return found.faults


def faults_of_random(script: Script, most: int, seed: int | None) -> list[str]:
    """What differs in states of so many random scenarios, or that many states are refused."""
    number, found = count(), Compared()

    def judge(case: Any) -> list[str]:
        before = len(found.faults)
        with suppress(TracerError):
            compare(script, to_yaml(case[1]), Random(next(number)), STATES, found)
        return found.faults[before:]

    faults = faults_of_all(plain_and_written(), judge, most, seed)
    is_much = len(found.refused) > MOST_REFUSED * found.states
    return [*faults, *([f"{found.refused} of {found.states} states"] if is_much else [])]


def test_edits_of_random_scenarios(script: Script) -> None:
    assert faults_of_random(script, 6, 7) == []


@pytest.mark.fuzz
def test_five_thousand_edits(script: Script) -> None:
    assert faults_of_random(script, 420, None) == []


OVERFLOWS = """
title: overflows
tokens: [a, b]
embeddings: {a: [SIZE], b: [1]}
mask: none
softmax: plain
layers: [{attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}], scale: none, norm: none}}]
arithmetic: float64
rounding: {carry: never}
"""


@pytest.mark.parametrize(
    ("now", "then", "why"),
    [
        ("1", "30", "the largest score is subtracted first"),
        ("30", "1", "the largest score is not subtracted"),
    ],
)
def test_steps_of_other_sizes(now: str, then: str, why: str, script: Script) -> None:
    """Scores that are too large for a power of e have a step more."""
    text = OVERFLOWS.replace("SIZE", now)
    assert refused(script, text, then) == why
    assert is_other_tape(loaded(OVERFLOWS.replace("SIZE", then))[1], tape_of(text))


@pytest.mark.parametrize("typed", ["1e13", "0.333333333333333333333", "1e-41", "x", "-inf", "1_0"])
def test_what_no_scenario_can_hold(typed: str, script: Script) -> None:
    assert refused(script, OVERFLOWS.replace("SIZE", "2"), typed).startswith("expected a number")
    with pytest.raises(TracerError):
        loaded(OVERFLOWS.replace("SIZE", typed))


def refused(script: Script, text: str, to: str) -> str:
    """Why the script refuses another size."""
    tape = tape_of(text)
    place = [start for start, _ in tape["spans"]].index(OVERFLOWS.index("SIZE"))
    state = {"edits": [{"place": place, "to": to}], "lines": []}
    (answer,) = script.answer({"tape": tape, "states": [state]})
    return str(answer["refused"])
