"""What the digits of an equation can tell."""

from __future__ import annotations

from decimal import localcontext

import pytest

from tests.audit.conftest import audited
from tracer.audit.judging.evaluation import USUAL, evaluate, face, plain_value
from tracer.audit.judging.intervals import CONTEXT, point
from tracer.audit.reading.equations import equations
from tracer.audit.reading.passages import passages
from tracer.audit.reading.texts import Markup, Text
from tracer.audit.reports.results import message


def told(content: str) -> list[tuple[str, str | None, str | None]]:
    """Code, computed value and cause of each finding."""
    return [(each.code, each.computed, each.cause) for each in audited(content).findings]


@pytest.mark.parametrize(
    "line",
    [
        "2.64 + 1.68 = 4.32",  # exact
        "0.1 + 0.2 = 0.3",
        "1/3 = 0.333",  # rounded
        "1/8 = 0.12 and 1/8 = 0.13",  # a tie goes either way
        "2.589×2.565 + 1.589×1.577 = 9.148",  # 9.1466; consistent, 9.1427 to 9.1506
        "√1.998 = 1.413",  # 1.41351; consistent, from √1.9975
        "e^7.956 = 2851",  # 2852.6; consistent, from 2851.2
        "e^(-11.50079) ≈ 1×10⁻⁵",  # 1.0122×10⁻⁵: one number, with one digit
        "50,257 × 768 ≈ 38,600,000",  # zeros at the end of a whole number are no digits
        "2/3 × 6.0 = 0.67 × 6.0 = 4.0",  # the unrounded number goes on
    ],
)
def test_nothing_is_said_of_what_holds(line: str) -> None:
    assert told(line) == []


@pytest.mark.parametrize(
    ("line", "code", "computed", "cause"),
    [
        ("2.4×1.1 = 2.84", "A01", "2.64", None),
        ("6 × 2 = 13", "A01", "12", None),
        ("6 × 2 = 10", "A01", "12", None),  # its zero is a digit: nothing was rounded
        ("30 × 0.3 = 10", "A01", "9", None),  # nor here
        ("100 / 100,000 = 1%", "A03", "0.1", "10 times too large"),
        ("2^24 = 1677216", "A01", "16777216", "one of its digits is left out"),
        ("2^-50 = 2^-51", "A01", "8.88e-16", None),
        ("e^11.563 = 104800", "A01", "105134.95", None),
        ("0.0096 + 0.0028 + 0.1144 + 3.5948 ≈ 3.73", "A02", "3.7216", None),
        ("7 / 6 = 1.18", "A02", "1.1667", None),
        ("7 / 6 = 1.16", "A04", "1.1667", None),
        ("21.3 + 5.65 + 119 + 2550 = 2695", "A04", "2695.95", None),
        ("1200 / 7 = 1714", "A03", "171.43", "10 times too large"),
        ("7/50 = 14", "A03", "0.14", "off by a factor of 100; is a % sign missing or extra?"),
        ("2,048 × 4 = 8.192", "A03", "8192", "1,000 times too small"),
        ("2.5 - 7.5 = 5.0", "A01", "-5", "the sign is reversed"),
        ("the loss is -ln(0.25) = 1.963", "A01", "1.38629", None),
        ("-1/789 = -1/3 * 1/7 * 1/47", "A01", "-0.00127", None),
        ("16.35 / 1.41 = 16.35", "A01", "11.5957", "the division is left out"),
        ("0.75 + 0.35 + 0.15 = 1.10", "A01", "1.25", "term 3 is left out"),
        ("7.25 + 3.5 - 1.4 = 12.15", "A01", "9.35", "the sign of term 3 is reversed"),
        ("1000/0.1*(1*0.1) = 10000", "A03", "1000", "10 times too large"),
        ("1000/10^6 = 1", "A03", "0.001", "1,000 times too large"),
        ("19 × 100 / 1 = 1000", "A01", "1900", None),
        ("51/79 × 100 = 66%", "A02", "64.56", None),
        ("51/79 × 100 = 74%", "A01", "64.56", None),
        ("7^60 = 3^105", "A01", "5.08e+50", None),
        ("7 / 2e9 = 9e-9", "A01", "0.0000000035", None),
        ("125 × 43 = 5735", "A01", "5375", "two of its digits are swapped"),
    ],
)
def test_what_is_said(line: str, code: str, computed: str, cause: str | None) -> None:
    assert told(line) == [(code, computed, cause)]


def test_two_sides_to_be_worked_out_are_told_with_the_digits_that_differ() -> None:
    content = "1 / (1 + e^(-0.3775)) = 1 / (1 + 0.68566)"
    (finding,) = audited(content).findings
    assert (finding.computed, finding.right) == ("0.59327", "0.593239")


def test_a_logarithm_may_have_any_base_that_is_usual() -> None:
    assert told("log(100) = 2, log(8) = 2.08, log(8) = 3") == []


def test_a_row_is_false_where_one_of_its_numbers_is() -> None:
    content = "[0.25, 0.5] × 4 = [1, 3]"
    (finding,) = audited(content).findings
    assert (finding.printed, finding.computed) == ("3", "2")
    assert content[slice(*finding.marks)] == "3"


def test_in_a_text_that_computes_with_what_it_prints_another_last_digit_is_told() -> None:
    lines = [
        f"{a}.37×1.23 + 2.345×1.111 = {a * 1.23 + 0.4551 + 2.605295:.3f}" for a in range(3, 20)
    ]
    assert told("\n\n".join(lines)) == []
    # 17.37×1.23 + 2.345×1.111 is 23.970395; with the unrounded numbers it could be 23.95 as well.
    lines[14] = "17.37×1.23 + 2.345×1.111 = 23.962"
    assert told(lines[14]) == []
    assert [code for code, _, _ in told("\n\n".join(lines))] == ["A02"]


def test_messages_tell_what_rounded_numbers_may_be_and_long_ones_as_powers_of_ten() -> None:
    for line, told_of_it in (
        (
            "11.57 × 3.141 = 37.34",
            "computed 36.3414, printed 37.34; unrounded inputs give 36.3199 to 36.3629",
        ),
        ("$3987^{12} = 4472^{12}$", "the left side is ≈ 1.61×10⁴³, the right side ≈ 6.40×10⁴³"),
    ):
        [finding] = audited(line).findings
        assert message(finding).startswith(f"false: {told_of_it}")


def test_a_repeated_equation_is_reported_at_each_of_its_places() -> None:
    found = audited("6 × 2 = 13\n\nso 6 × 2 = 13\n").findings
    assert [finding.place[2:6] for finding in found] == [(1, 1, 1, 11), (3, 4, 3, 14)]


@pytest.mark.parametrize(
    "written",
    ["-2 + 3 × 0.67", "(46 - 1.25) / (0 + 3)", "(2.50 / 3)^2 × 600", "-(-(1e3))^2"],
)
def test_plain_arithmetic_has_the_value_of_its_interval(written: str) -> None:
    with localcontext(CONTEXT):
        [passage] = passages(Text("text", f"{written} = 1", Markup.MARKDOWN))
        expression = equations(passage).equations[0].sides[0].expression
        value = plain_value(expression)
        assert value is not None and point(value) == evaluate(expression, face, USUAL)
