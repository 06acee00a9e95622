"""The text of SwiGLU: its limits, its lines, and a page that is edited."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.every_part import WITH_SWIGLU
from tests.helpers.part_tests import joined, page_edits


@pytest.mark.parametrize("detail", ["normal", "full"])
def test_the_factor_of_the_gate_is_named_by_its_formula(detail: str) -> None:
    text = printed("run", "-", "--detail", detail, stdin=WITH_SWIGLU)
    assert "e^(-1.702×" in text
    assert violations(text) == []


@pytest.mark.parametrize(("token", "gate", "up"), [
    ("1", "The limit changes no number of “a”.", "For “a”, the limits change “h₁”."),
    ("2", "For “b”, the limit changes “h₂”.", "For “b”, the limits change “h₂”."),
])  # fmt: skip
def test_what_a_limit_changes(token: str, gate: str, up: str) -> None:
    """g is 1.25, 1, -1.875 of a and 0.5, 1.75, 1.5 of b; u is 2.35 of a in h₁, 2.5 of b in h₂."""
    text = joined(printed("run", "-", "--token", token, "--detail", "full", stdin=WITH_SWIGLU))
    before, after = text.split("FFN: gate", 1)
    assert gate in before and up in after


def test_the_lines_of_a_limit_and_of_the_gate() -> None:
    """At a limit of 1.5: 1.5 / (1 + e^(-2.553)) = 1.5 / 1.0778 = 1.392."""
    text = joined(printed("run", "-", "--detail", "full", stdin=WITH_SWIGLU))
    assert "min(1.5, 1.750) = 1.5" in text
    assert "1.500 / (1 + e^(-1.702×1.500)) = 1.500 / (1 + e^(-2.553))" in text


test_edits_of_a_page = page_edits({"limits": WITH_SWIGLU})
