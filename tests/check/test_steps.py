"""Each step from the file's own numbers: bugs of small programs, in several types of numbers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.buggy_models import BUGS, Bug, Program, scenario_of
from tracer.check.against import ComparedValue, Steps, compared
from tracer.check.causes import Cause, Search
from tracer.check.passes import Pass
from tracer.decoder.forward import PassOptions
from tracer.scenario.activations import DumpedArray
from tracer.scenario.loading import Origin, load_text

MODELS = tuple(dict.fromkeys(bug.model for bug in BUGS))
KINDS = ("float64", "float32", "float16", "bfloat16")


@cache
def ours(model: str, outlier: bool) -> Pass:
    """The pass of the scenario of a model."""
    text = json.dumps(scenario_of(model, outlier))
    return Pass(load_text(text, Origin(model, f"{model}.yaml", Path())), PassOptions())


def wrong(
    model: str, kind: str, bug: str = "", outlier: bool = False
) -> tuple[list[ComparedValue], tuple[Cause, ...]]:
    """The wrong values, and their causes."""
    own = ours(model, outlier)
    arrays = Program(model, kind, bug, outlier).run()
    dump = {address: [DumpedArray(address, kind, array)] for address, array in arrays.items()}
    assert dump.keys() <= own.trace.values.keys()
    steps = Steps.of(own.on_demand, dump)
    every = compared(own.trace, steps, dump, None)
    assert outlier or all(each.step for each in every)  # beside one, a sum may have no result
    found = [each for each in every if each.is_wrong]
    return found, Search(steps.own, own, {kind}).causes(found)


@pytest.mark.parametrize("outlier", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_program_that_is_right_agrees(model: str, kind: str, outlier: bool) -> None:
    found, _ = wrong(model, kind, outlier=outlier)
    assert [each.value.address for each in found] == []


def is_located(bug: Bug, found: list[ComparedValue]) -> bool:
    return bool(found) and found[0].value.address == bug.first


def is_named(bug: Bug, causes: tuple[Cause, ...]) -> bool:
    """Whether the cause of the first wrong value is the bug, or one that is the same here."""
    first = [cause for cause in causes if cause.value.value.address == bug.first]
    names = [name for cause in first for name in (cause.name, *cause.others)]
    return any(bug.cause.lower() in name.lower() for name in names)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_found_where_it_is_with_its_cause(bug: Bug) -> None:
    found, causes = wrong(bug.model, "float64", bug.name)
    assert is_located(bug, found), [each.value.address for each in found[:3]]
    assert is_named(bug, causes) or bug.cause == "none", [cause.name for cause in causes]
    if bug.cause == "none":
        assert causes == ()


LEAST = {
    ("float32", False): (73, 71),
    ("float16", False): (68, 62),
    ("bfloat16", False): (66, 60),
    ("float64", True): (73, 68),
    ("float32", True): (69, 62),
}
"""How many bugs are at least located, and named; by type, with an outlier or without."""


@pytest.mark.fuzz
@pytest.mark.parametrize(("kind", "outlier"), LEAST)
def test_most_bugs_are_found_in_other_types_and_beside_an_outlier(kind: str, outlier: bool) -> None:
    found = [(bug, *wrong(bug.model, kind, bug.name, outlier)) for bug in BUGS]
    located = sum(is_located(bug, values) for bug, values, _ in found)
    named = sum(is_named(bug, causes) for bug, _, causes in found)
    least = LEAST[kind, outlier]
    assert located >= least[0] and named >= least[1], (located, named)
