"""The stops of a guided walk: each kind of step once, with a number of the followed token's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.bundled import TYPED
from tests.helpers.traces import bundled
from tracer.lesson.texts.guided import stops
from tracer.lesson.texts.selection import select, steps
from tracer.lesson.texts.teacher import Teacher


@pytest.mark.parametrize("name", TYPED)
def test_a_walk_leads_through_one_head(name: str) -> None:
    """Its weights are worked for the token that is attended to most."""
    found = bundled(name)
    every = {step.number: step for step in steps(found.records)}
    for token in range(len(found.tokens)):
        teacher = Teacher(found, token)
        walk = stops(teacher, list(every.values()))
        there = [every[stop.step] for stop in walk]
        kinds = [step.kind.name for step in there]
        assert [stop.step for stop in walk] == sorted(stop.step for stop in walk)
        assert len(set(kinds)) == len(kinds)
        if teacher.main_head is None:
            assert walk == ()
            continue
        head = teacher.main_head.softmax.place.head
        assert {step.place.head for step in there} == {head, None}
        assert walk[-1].step == teacher.steps[-1].number
        weights = walk[kinds.index("softmax")].number
        assert weights
        row = found.values[weights.value.address].array[token]
        assert weights.at == (token, int(np.argmax(row)))


def test_numbers_of_features_stay_in_one_column() -> None:
    """Alex's largest one at the end is `cheap`: embedding, input, attention, sum, norm, FFN."""
    found = bundled("alex")
    walk = stops(Teacher(found, 3), steps(found.records))
    numbers = [stop.number for stop in walk if stop.number]
    labels = [number.value.axes[1].labels[number.at[1]] for number in numbers]
    assert labels.count("cheap") == 6
    assert not {"spicy", "cozy", "fast", "flavor", "vibe"} & set(labels)


def test_a_walk_through_chosen_steps_leads_through_their_head() -> None:
    found = bundled("alex")
    walk = stops(Teacher(found, 3), select(steps(found.records), "attention", 1, 2))
    assert [stop.title for stop in walk][:2] == ["Head 2 · Query", "Head 2 · Key"]
    assert all(stop.number for stop in walk)
