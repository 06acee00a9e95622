"""The promise: every equation that is printed is true as printed, of numbers that stood before.

The parsers of `truth` and `continuity` share no code with the program.
"""

from __future__ import annotations

import re
from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.command import Ran, printed, run
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.every_judge import faults_of_terminal
from tests.helpers.random_scenarios import Scenario, odd_tokens, scenarios, to_yaml
from tests.helpers.truth import false_equations, unreadable

few = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
CARRY_MODES = ["line", "step", "never"]


def assert_true(text: str, carry: str = "never") -> None:
    """Its equations; and, where numbers are carried on as printed, that they stood before."""
    assert unreadable(text) == []
    assert false_equations(text) == []
    if carry != "never":
        assert violations(text) == []
        assert misplaced(text) == []
        assert two_forms(text) == []


DRAWN = ("--seed", "3", "--temperature", "1.5", "--top-k", "4", "--top-p", "0.9")


@pytest.mark.parametrize(("carry", "decimals"), [*zip(cycle(CARRY_MODES), [0, 1, 2, 5, 8])])
def test_any_number_of_decimals(carry: str, decimals: int) -> None:
    assert_true(printed("run", "alex", "--carry", carry, "--decimals", str(decimals)))


REFUSED = (
    "a division by zero|too (large|small)|no position has a next token|have no mask|"
    "the mask shows later tokens|has no slope"
)
"""What may be said of random numbers: equal ones have no LayerNorm without an epsilon, the next
token may be outside the vocabulary or only fill up, and no cache helps if later ones are seen."""


def assert_true_or_refused(ran: Ran, scenario: Scenario) -> None:
    """What is printed of a random scenario."""
    if ran.exit_code:
        assert re.search(REFUSED, ran.stderr), ran.stderr
        return
    assert_true(ran.stdout, scenario["rounding"]["carry"])


@few
@given(scenario=scenarios(), width=st.sampled_from([40, 80, 120, 200]), data=st.data())
def test_random_scenarios(scenario: Scenario, width: int, data: st.DataObject) -> None:
    """And of no digit and no bracket that nobody needs."""
    token = str(data.draw(st.integers(1, len(scenario["tokens"]))))
    ran = run("run", "-", "--token", token, width=width, stdin=to_yaml(scenario))
    assert_true_or_refused(ran, scenario)
    assert faults_of_terminal(ran.stdout, scenario) == []


@few
@given(scenario=scenarios(names=odd_tokens(), epsilons=("0.1",), max_layers=1))
def test_random_scenarios_with_odd_names(scenario: Scenario) -> None:
    ran = run("run", "-", "--token", "1", stdin=to_yaml(scenario))
    assert ran.exit_code == 0, ran.stderr
    assert_true(ran.stdout)


small = scenarios(epsilons=("0.1",), speaks=True, max_layers=1, max_tokens=3)
MOVED = (
    (),
    ("--optimizer", "adam", "--weight-decay", "0.1"),
    ("--optimizer", "adamw", "--clip", "0.5"),
    ("--momentum", "0.5", "--weight-decay", "0.1", "--clip", "1000"),
)


@few
@given(scenario=small, moved=st.sampled_from(MOVED))
def test_random_training(scenario: Scenario, moved: tuple[str, ...]) -> None:
    assert_true_or_refused(run("train", "-", *moved, stdin=to_yaml(scenario)), scenario)


@pytest.mark.fuzz
@settings(few, max_examples=500)
@given(scenario=scenarios(epsilons=("0.1",), speaks=True), moved=st.sampled_from(MOVED))
def test_much_random_training(scenario: Scenario, moved: tuple[str, ...]) -> None:
    assert_true_or_refused(run("train", "-", *moved, stdin=to_yaml(scenario)), scenario)


OF_ONE_THAT_SPEAKS = (
    ("loss",),
    ("generate", "--worked", "--max-tokens", "2"),
    ("generate", "--worked", "--max-tokens", "2", "--kv-cache"),
    ("generate", *DRAWN, "--max-tokens", "3", "--kv-cache"),
    ("run", "--no-mask", "--token", "1"),
)


@few
@given(scenario=small, command=st.sampled_from(OF_ONE_THAT_SPEAKS))
def test_random_other_commands(scenario: Scenario, command: tuple[str, ...]) -> None:
    name, *options = command
    assert_true_or_refused(run(name, "-", *options, stdin=to_yaml(scenario)), scenario)
