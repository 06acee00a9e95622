"""The script of a page computes from its tape what the program computes, digit by digit."""

from __future__ import annotations

import random
from itertools import count

import pytest

from tests.helpers.bundled import TYPED
from tests.helpers.evaluated import faults, needs_node, random_edits, tape_of
from tests.helpers.fuzzed import faults_of_all
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.whole_scenarios import plain_and_written
from tracer.errors import TracerError

pytestmark = needs_node

EDITS = 12
"""Edits of a scenario, each of its first state."""


@pytest.mark.parametrize("name", TYPED)
def test_edits_of_bundled_scenarios(name: str) -> None:
    assert faults(TYPED[name].read_text(encoding="utf-8"), seed=1) == []


def faults_of_random(most: int, seed: int | None) -> list[str]:
    number = count()

    def judge(case: object) -> list[str]:
        text = to_yaml(case[1])  # type: ignore[index]
        try:
            tape = tape_of(text)
        except TracerError:
            return []
        if tape is None:
            return []
        return faults(text, random_edits(tape, random.Random(next(number)), EDITS))

    return faults_of_all(plain_and_written(), judge, most, seed)


def test_edits_of_random_scenarios() -> None:
    assert faults_of_random(12, 7) == []


@pytest.mark.fuzz
def test_five_thousand_edits() -> None:
    assert faults_of_random(420, None) == []
