"""Many more random scenarios, for minutes: `pytest -m fuzz`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.helpers.command import run
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.readable_digits import needless_brackets, unread_digits
from tests.helpers.truth import false_equations, unreadable


@pytest.mark.fuzz
@settings(
    max_examples=2000,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(scenario=scenarios(all_digits=True), width=st.sampled_from([40, 80, 120]))
def test_every_line_of_every_scenario(scenario: dict[str, Any], width: int) -> None:
    ran = run("run", "-", width=width, stdin=to_yaml(scenario))
    if ran.exit_code:
        assert "a division by zero" in ran.stderr or "a number to work with" in ran.stderr
        return
    text, rounding = ran.stdout, scenario["rounding"]
    assert (unreadable(text), false_equations(text), needless_brackets(text)) == ([], [], [])
    if rounding["carry"] != "never":
        assert (violations(text), misplaced(text), two_forms(text)) == ([], [], [])
    if "digits" not in rounding:
        assert unread_digits(text, rounding["decimals"]) == []
