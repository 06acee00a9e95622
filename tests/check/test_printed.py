"""Numbers as texts print them: what they say, and how far off they are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tracer.check.printed import Printed, printed


def number(text: str) -> Printed:
    found = printed(text)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    ("text", "value", "places"),
    [
        ("0.964", "0.964", 3),
        ("-0.352", "-0.352", 3),
        ("−0.352", "-0.352", 3),
        ("+1.", "1", 0),
        (".5", "0.5", 1),
        ("1.080", "1.080", 3),
        ("96.4%", "0.964", 3),
        ("96.4 %", "0.964", 3),
        ("50,257", "50257", 0),
        ("1,048,576.5", "1048576.5", 1),
        ("2e6", "2000000", -6),
        ("2.1e-5", "0.000021", 6),
        ("2.1×10⁻⁵", "0.000021", 6),
        ("1.069×10^13", "10690000000000", -10),
        ("3.944×10²¹⁷⁷", "3.944e2177", -2174),
    ],
)
def test_a_number_is_read_with_its_digits(text: str, value: str, places: int) -> None:
    found = number(text)
    assert (found.text, found.value, found.places) == (text, Decimal(value), places)


@pytest.mark.parametrize("text", ["-inf", "-.inf", "-∞", "−∞"])
def test_minus_infinity_is_read_in_every_form(text: str) -> None:
    assert number(text).value == Decimal("-Infinity")
    assert number(text).rounds(Decimal("-Infinity"))
    assert not number(text).rounds(Decimal(-(10**9)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1.2.3",
        "1,2",
        "12,34",
        "0,964",
        "e5",
        "nan",
        "inf",
        "1_0",
        "٣",
        "--1",
        ".",
        "1e999999",
    ],
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert printed(text) is None


@pytest.mark.parametrize(
    ("text", "value", "rounds", "units"),
    [
        ("0.964", "0.96449", True, 0),
        ("0.964", "0.9645", False, 1),  # half away from zero
        ("-0.5", "-0.45", True, 0),
        ("5.535", "5.5345", True, 0),
        ("96.4%", "0.9644", True, 0),
        ("96.4%", "0.9646", False, 1),
        ("2850", "2853", False, 3),
        ("2e6", "2099712", True, 0),
        ("2e6", "2599712", False, 1),
        ("0", "-Infinity", False, None),
        ("0.0", "0E+90", True, 0),
        ("0.001", "1e300", False, None),
    ],
)
def test_it_is_held_against_a_number(
    text: str, value: str, rounds: bool, units: int | None
) -> None:
    assert number(text).rounds(Decimal(value)) is rounds
    assert number(text).units_from(Decimal(value)) == units


@pytest.mark.parametrize(
    ("text", "value", "near"),
    [
        ("5.65", "5.6407", True),
        ("2695", "2695.95", True),
        ("9.148", "9.146638", True),
        ("5.65", "5.63", False),
        ("0", "1.4", False),
        ("0.001", "0.0004", True),
        ("1e300", "11", False),
        ("1", "-Infinity", False),
    ],
)
def test_it_is_near_what_is_a_unit_away(text: str, value: str, near: bool) -> None:
    assert number(text).is_near(Decimal(value)) is near
