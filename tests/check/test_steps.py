"""Each step from the file's own numbers: bugs of small programs, in several types of numbers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.buggy_models import BUGS, Bug, Program, scenario_of
from tracer.check.against import ComparedValue, Steps, compared
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
) -> tuple[list[ComparedValue], tuple[ComparedValue, ...]]:
    """The wrong values, and all."""
    own = ours(model, outlier)
    arrays = Program(model, kind, bug, outlier).run()
    dump = {address: [DumpedArray(address, kind, array)] for address, array in arrays.items()}
    assert dump.keys() <= own.trace.values.keys()
    found = compared(own.trace, Steps.of(own.on_demand, dump), dump, None)
    return [each for each in found if each.is_wrong], found


@pytest.mark.parametrize("outlier", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_program_that_is_right_agrees(model: str, kind: str, outlier: bool) -> None:
    found, every = wrong(model, kind, outlier=outlier)
    assert [each.value.address for each in found] == []
    assert all(each.step for each in every)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_found_where_it_is(bug: Bug) -> None:
    found, _ = wrong(bug.model, "float64", bug.name)
    assert found[0].value.address == bug.first
