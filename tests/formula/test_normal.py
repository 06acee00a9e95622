"""Φ against other ways to work it out: a series, a continued fraction, what is published."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from tests.helpers.truth import _PI as PI
from tracer.formula.normal import normal

DIGITS = 50


def by_series(x: Decimal) -> Decimal:
    """½ + (x - x³/(2·3) + x⁵/(4·2!·5) - …) / √(2π), with digits for all that cancels."""
    with localcontext(prec=2 * DIGITS + int(x * x)):
        power = total = x
        n = 0
        while abs(power) > Decimal(10) ** (-2 * DIGITS - int(x * x)):
            n += 1
            power *= -x * x / (2 * n)
            total += power / (2 * n + 1)
        return Decimal("0.5") + total / (2 * PI).sqrt()


def by_continued_fraction(x: Decimal) -> Decimal:
    """Of a negative x: φ(x) / (-x + 1 / (-x + 2 / (-x + 3 / …)))."""
    with localcontext(prec=2 * DIGITS):
        below = -x
        for n in range(1500, 0, -1):
            below = -x + n / below
        return (-x * x / 2).exp() / (2 * PI).sqrt() / below


def assert_alike(found: Decimal, expected: Decimal) -> None:
    assert abs(found - expected) <= abs(expected) * Decimal(10) ** (2 - DIGITS)


@pytest.mark.parametrize(
    "x",
    ["0", "1", "-1", "0.001", "-0.735", "2.5", "-4", "6.25", "-9", "12.5", "-15.9", "16", "-20"],
)
def test_it_has_all_digits_that_decimals_have(x: str) -> None:
    with localcontext(prec=DIGITS):
        assert_alike(normal(Decimal(x)), by_series(Decimal(x)))


@pytest.mark.parametrize("x", ["-8", "-15.99", "-16", "-16.01", "-25", "-40", "-150.5"])
def test_where_hardly_anything_lies_below(x: str) -> None:
    with localcontext(prec=DIGITS):
        assert_alike(normal(Decimal(x)), by_continued_fraction(Decimal(x)))


@pytest.mark.parametrize("x", ["0.1", "1.96", "7", "15.5", "30"])
def test_what_lies_below_and_above_is_all(x: str) -> None:
    with localcontext(prec=DIGITS):
        assert_alike(normal(Decimal(x)) + normal(-Decimal(x)), Decimal(1))


@pytest.mark.parametrize(
    ("x", "published"),
    [("1.96", "0.9750021"), ("1.645", "0.9500151"), ("-2.33", "0.0099031"), ("3", "0.9986501")],
)
def test_tables_have_the_same(x: str, published: str) -> None:
    assert normal(Decimal(x)).quantize(Decimal("1e-7")) == Decimal(published)


@pytest.mark.parametrize("x", ["1e12", "-1e12"])
def test_far_away_it_is_0_or_1(x: str) -> None:
    assert normal(Decimal(x)) == (x == "1e12")
