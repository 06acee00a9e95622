"""Figures that are a trace's own agree, whatever is carried on; one with another digit is found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.figures import checked
from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.traces import traced_or_rejected
from tracer.check.verdicts import Verdict
from tracer.data.quote import printed
from tracer.decoder.forward import Trace

CARRY = ("line", "step", "never")

few = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=150)


def figures_of(trace: Trace) -> list[dict[str, Any]]:
    """Every number of a trace as texts print it."""
    return [
        {"address": address, "printed": texts(trace, address)}
        for address, value in trace.values.items()
        if not value.role.words and 0 not in value.shape
    ]


def texts(trace: Trace, address: str) -> Any:
    value = trace[address]

    def below(index: tuple[int, ...]) -> Any:
        if len(index) == len(value.shape):
            return printed(trace, value, index)
        return [below((*index, i)) for i in range(value.shape[len(index)])]

    return below(())


def change(figures: Sequence[dict[str, Any]], chance: random.Random) -> tuple[int, str]:
    """Change a digit of one number; which number it is among all, and what it was."""
    places: list[tuple[Any, Any]] = []

    def note(holder: Any, key: Any) -> None:
        if isinstance(holder[key], list):
            for i in range(len(holder[key])):
                note(holder[key], i)
        else:
            places.append((holder, key))

    for figure in figures:
        note(figure, "printed")
    numbers = [i for i, (holder, key) in enumerate(places) if holder[key] != "-∞"]
    number = chance.choice(numbers)
    holder, key = places[number]
    text = holder[key]
    mantissa = text.partition("×")[0]
    at = chance.choice([i for i, sign in enumerate(mantissa) if sign.isdigit()])
    digit = chance.choice([d for d in "0123456789" if d != text[at]])
    holder[key] = text[:at] + digit + text[at + 1 :]
    return number, text


def assert_its_own_figures_agree_and_a_changed_one_is_found(
    spec: Scenario, seed: int, folder: Path
) -> None:
    trace, scenario = traced_or_rejected(spec), to_yaml(spec)
    figures = figures_of(trace)
    report = checked(folder, scenario, *figures)
    assert [finding.figure.name for finding in report.findings if finding.verdict != "agrees"] == []
    number, text = change(figures, random.Random(seed))
    findings = checked(folder, scenario, *figures).findings
    differs = [i for i, finding in enumerate(findings) if finding.verdict is not Verdict.AGREES]
    assert differs == [number], (findings[number].figure.name, findings[number].figure.text, text)


@pytest.mark.parametrize("carry", CARRY)
def test_a_changed_digit_is_found(carry: str, tmp_path: Path) -> None:
    @few
    @given(scenarios(carry=carry, max_layers=1, max_tokens=3), st.integers(0, 2**32))
    def held(spec: Scenario, seed: int) -> None:
        assert_its_own_figures_agree_and_a_changed_one_is_found(spec, seed, tmp_path)

    held()


@pytest.mark.fuzz
@pytest.mark.parametrize("carry", CARRY)
def test_a_changed_digit_is_found_in_many_scenarios(carry: str, tmp_path: Path) -> None:
    @many
    @given(scenarios(carry=carry, max_layers=2, all_digits=True), st.integers(0, 2**32))
    def held(spec: Scenario, seed: int) -> None:
        assert_its_own_figures_agree_and_a_changed_one_is_found(spec, seed, tmp_path)

    held()
