"""Each step of a backward pass and of an optimizer from the file's own numbers before it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.buggy_training import BUGS, OPTIMIZERS, Bug, Training, scenario_of
from tracer.check.against import ComparedValue, Steps, compared
from tracer.check.causes import Cause, Search
from tracer.check.passes import Pass
from tracer.decoder.forward import PassOptions
from tracer.scenario.activations import DumpedArray
from tracer.scenario.loading import Origin, load_text

KINDS = ("float64", "float32", "bfloat16")


@cache
def ours(model: str, optimizer: str) -> Pass:
    """The first step of training of a model's scenario."""
    text = json.dumps(scenario_of(model, optimizer))
    loaded = load_text(text, Origin(model, f"{model}.yaml", Path()))
    return Pass(loaded, PassOptions.recording(["update.embeddings"]))


def wrong(
    training: Training,
) -> tuple[list[ComparedValue], tuple[Cause, ...]]:
    """The wrong values, and their causes."""
    own, kind = ours(training.model, training.optimizer), training.kind
    dump = {name: [DumpedArray(name, kind, array)] for name, array in training.run().items()}
    assert dump.keys() <= own.trace.values.keys()
    steps = Steps.of(own.on_demand, dump)
    found = [each for each in compared(own.trace, steps, dump, None) if each.is_wrong]
    return found, Search(steps.own, own, {kind}).causes(found)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", ["gpt", "llama"])
def test_a_training_that_is_right_agrees(model: str, optimizer: str) -> None:
    for kind in KINDS:
        found, _ = wrong(Training(model, optimizer, kind, is_detailed=True))
        assert [each.value.address for each in found] == []


def is_located(bug: Bug, found: list[ComparedValue]) -> bool:
    return [each.value.address for each in found][:1] == [bug.first]


def is_named(bug: Bug, causes: tuple[Cause, ...]) -> bool:
    names = [name for cause in causes[:1] for name in (cause.name, *cause.others)]
    return any(bug.cause in name for name in names)


EVERY_FOURTH = BUGS[::4]
"""Enough to see that the search works."""


@pytest.mark.parametrize(
    "bug",
    [bug if bug in EVERY_FOURTH else pytest.param(bug, marks=pytest.mark.fuzz) for bug in BUGS],
    ids=lambda bug: f"{bug.name}, {bug.model}",
)
def test_a_bug_of_training_is_found_where_it_is_with_its_cause(bug: Bug) -> None:
    found, causes = wrong(Training(bug.model, bug.optimizer, bug=bug.name))
    assert is_located(bug, found), [each.value.address for each in found[:3]]
    assert is_named(bug, causes), [cause.name for cause in causes]


@pytest.mark.fuzz
@pytest.mark.parametrize(("kind", "least"), [("float32", (52, 52)), ("bfloat16", (44, 42))])
def test_most_bugs_are_found_in_other_types(kind: str, least: tuple[int, int]) -> None:
    found = [(b, *wrong(Training(b.model, b.optimizer, kind, b.name))) for b in BUGS]
    located = sum(is_located(bug, values) for bug, values, _ in found)
    named = sum(is_named(bug, causes) for bug, _, causes in found)
    assert located >= least[0] and named >= least[1], (located, named)
