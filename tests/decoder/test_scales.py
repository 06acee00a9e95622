"""The divisor of the logits: refusals and texts."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed, run
from tests.helpers.scaled import SCALED
from tests.helpers.sentences import unbroken


@pytest.mark.parametrize(("number", "message"), [
    ("0", "expected more than 0, got '0'"),
    ("-3", "expected more than 0, got '-3'"),
    ("high", "expected a number, such as "),
])  # fmt: skip
def test_the_divisor_is_a_positive_number(number: str, message: str) -> None:
    ran = run("run", "-", stdin=SCALED.replace(", scale: 8", f", scale: {number}"))
    assert ran.exit_code == 2
    assert f"scale: {message}" in ran.stderr


def test_the_lines_of_a_divided_logit() -> None:
    text = unbroken(printed("step", "logits", "-s", "-", stdin=SCALED))
    assert "All logits are divided by 8, a constant of the model." in text
    assert "z (2 × 2) = z_raw / 8" in text


def test_a_given_product_has_no_parts() -> None:
    given = ("--given", "logits.unscaled=[[1,2],[3,4]]")
    ran = run("attribute", "logits[b,x]", "-s", "-", *given, stdin=SCALED)
    assert (ran.exit_code, ran.stderr) == (2, "logits: given, so it has no parts\n")
