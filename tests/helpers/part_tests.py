"""Tests that a part of a model has in common with others: a test file assigns them to names.

    test_what_does_not_fit = refusals(SMALL, ("gate: 0.5", "gate: 1.5", 7, "gate: expected"))
    test_every_text_is_written = texts({"gated": GATED}, "lens -")
    test_edits_of_a_page = page_edits({"gated": GATED})
    test_programs_compute_the_numbers = programs({"gated": GATED})
    test_a_cache_changes_no_number = cached_generations({"gated": GATED})
    test_gradients_are_slopes_of_the_loss = slopes({"gated": drawn(0)})

The scenarios have names, which the tests show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.decoder.test_gradients import assert_slope
from tests.helpers import learning
from tests.helpers.command import printed, problems, run
from tests.helpers.continuity import violations
from tests.helpers.evaluated import Compared, compare
from tests.helpers.programs import differences, with_loss
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.script_in_node import Script, needs_node
from tests.helpers.traces import traced
from tests.helpers.truth import false_equations
from tracer.decoder.generation import GenerationOptions, generate
from tracer.lesson.code.library import Library
from tracer.scenario.loading import parse

Scenarios = Mapping[str, str]
"""By a name for the test, the text of a scenario."""
Refusal = tuple[str, str, str] | tuple[str, str, int, str]
"""What is replaced in a scenario's text, by what, the line of the error, and words of it."""

CARRIES = ("line", "step", "never")

TEXTS = (
    "run - --vary 1",
    "tutorial - --format latex --standalone",
    "tutorial - --train --blanks",
)


def in_carry(carry: str, text: str) -> str:
    """The text of a scenario with this carry mode."""
    text = text.replace("rounding: {}\n", "")
    changed, found = re.subn(r"\bcarry: \w+", f"carry: {carry}", text)
    assert found == 1 or "rounding" not in text
    return changed if found else f"{text}rounding: {{carry: {carry}}}\n"


def joined(text: str) -> str:
    """A printed text in one line."""
    return " ".join(text.split())


def each_of(scenarios: Mapping[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("scenario", scenarios.values(), ids=scenarios)


@cache
def is_valid(scenario: str) -> bool:
    return run("run", "-", stdin=scenario).exit_code == 0


def refusals(scenario: str, *changes: Refusal) -> Callable[..., None]:
    """Test that a scenario is valid, and that each change of it is refused with an error."""

    @pytest.mark.parametrize("change", changes, ids=[change[-1] for change in changes])
    def test(change: Refusal) -> None:
        old, new, *line, told = change
        assert old in scenario and is_valid(scenario)
        ran = run("run", "-", stdin=scenario.replace(old, new, 1))
        assert ran.exit_code == 2
        at = f":{line[0]}:" if line else ""
        assert any(at in each and str(told) in each for each in problems(ran)), ran.stderr

    return test


def refusals_of(old: str, scenario: str, told: Mapping[str, str]) -> Callable[..., None]:
    """The same of other texts in place of one: what is said of each, at the line of this one."""
    assert scenario.count(old) == 1
    line = scenario.partition(old)[0].count("\n") + 1
    return refusals(scenario, *((old, new, line, words) for new, words in told.items()))


def texts(scenarios: Scenarios, *more: str) -> Callable[..., None]:
    """Test that commands print texts of these scenarios without an error."""

    @pytest.mark.parametrize("command", [*TEXTS, *more])
    @each_of(scenarios)
    def test(command: str, scenario: str) -> None:
        assert printed(*command.split(), stdin=scenario)

    return test


def page_edits(scenarios: Scenarios, states: int = 6) -> Callable[..., None]:
    """Test that after random edits the script of a page computes what the program computes."""

    @needs_node
    @each_of(scenarios)
    def test(scenario: str, script: Script) -> None:
        found = Compared()
        compare(script, scenario, Random(1), states, found)
        assert found.faults == [] and found.states == states + 1

    return test


def programs(scenarios: Scenarios) -> Callable[..., None]:
    """Test that programs print the numbers of the text, in each carry mode."""

    @pytest.mark.parametrize("library", Library)
    @pytest.mark.parametrize("carry", CARRIES)
    @each_of(scenarios)
    def test(scenario: str, carry: str, library: Library) -> None:
        if library is Library.PYTORCH:
            pytest.importorskip("torch", reason="PyTorch is not installed")
        found = with_loss(traced(in_carry(carry, scenario)))
        assert list(differences(found, library)) == []

    return test


def cached_generations(
    scenarios: Scenarios, start: tuple[str, ...] = ("a",), addresses: Sequence[str] = ("logits",)
) -> Callable[..., None]:
    """Test that a cache changes neither the text nor the new rows of these values."""

    @each_of(scenarios)
    def test(scenario: str) -> None:
        parsed = parse(scenario, "f.yaml")
        options = [GenerationOptions(start, 4, cached=cached) for cached in (False, True)]
        whole, cached = (generate("f", parsed, each) for each in options)
        assert whole.text == cached.text
        for one, other in zip(whole.steps, cached.steps, strict=True):
            for address in addresses:
                row = one.trace[address].array[-1]
                assert row.tolist() == other.trace[address].array[-1].tolist()

    return test


def slopes(specs: Mapping[str, Scenario], *addresses: str) -> Callable[..., None]:
    """Test that each gradient is the slope of the loss; some are of these addresses."""

    @each_of(specs)
    def test(scenario: Scenario) -> None:
        batch = learning.batch_of(scenario)
        found = learning.way_back(batch)
        gradients = learning.gradients_of(found)
        assert gradients.keys() >= {*addresses}
        for address in gradients.keys() - {"embeddings"}:
            assert_slope(batch, found[address], gradients[address])

    return test


def true_texts(spec: Scenario) -> Callable[..., None]:
    """A test: in each carry mode, equations are true and numbers known; of `step`, sentences."""

    @pytest.mark.parametrize("carry", CARRIES)
    def test(carry: str) -> None:
        from tests.lesson.test_every_claim import wrong  # which reads the parts itself

        rounded = {**spec, "rounding": {"carry": carry}}
        text = printed("run", "-", stdin=to_yaml(rounded))
        assert false_equations(text) == []
        assert carry == "never" or violations(text) == []
        if carry == "step":
            assert wrong("tutorial", rounded) == []

    return test
