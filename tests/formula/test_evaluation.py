"""What written arithmetic comes to, and when one side is exactly the other."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from tracer.formula import expression as ex
from tracer.formula.evaluation import holds, relation, value


def n(number: str) -> ex.Number:
    return ex.Number(Decimal(number))


ONE, TWO, SIX = n("1"), n("2"), n("6")
THIRD, ROOT_2, X = ex.Quotient(ONE, n("3")), ex.Root(TWO), ex.Symbol("x")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (n("-2.50"), "-2.5"),
        (n("-Infinity"), "-Infinity"),
        (ex.Rest(58, n("1.2345")), "1.2345"),
        (ex.Sum((n("0.1"), n("0.2"), n("-0.4"))), "-0.1"),
        (ex.Sum((n("0.5"), ex.Rest(4, n("1.5")))), "2"),
        (ex.Sum((n("6.1"), n("-Infinity"))), "-Infinity"),
        (ex.Difference(ONE, n("-2")), "3"),
        (ex.Product((n("0.5"), n("-0.5"), TWO)), "-0.5"),
        (ex.Quotient(n("33.207"), SIX), "5.5345"),
        (ex.Product((ex.Quotient(n("-2.8"), n("2.4")), n("0.9"))), "-1.05"),  # multiplied first
        (ex.Power(n("-0.498"), TWO), "0.248004"),
        (ex.Power(n("10000"), ex.Quotient(n("0"), SIX)), "1"),
        (ex.Root(n("4")), "2"),
        (ex.Root(n("2.25")), "1.5"),
        (ex.Root(ex.Sum((n("0.19"), n("0.81")))), "1"),
        (ex.Root(n("0")), "0"),
        (ex.Exponential(n("0")), "1"),
        (ex.Exponential(n("-Infinity")), "0"),
        (ex.Call("max", (n("0"), n("-1.185"))), "0"),
        (ex.Call("max", (n("0"), n("1.185"))), "1.185"),
        (ex.Call("sin", (n("0"),)), "0"),
        (ex.Call("cos", (n("0.000"),)), "1"),
        (ex.Quotient(n("0"), ROOT_2), "0"),  # also by what does not come out
        (ex.Quotient(ex.Sum((n("1.5"), n("0.5"))), ex.Root(n("16"))), "0.5"),
    ],
)
def test_what_comes_out_is_exact(expression: ex.Expression, expected: str) -> None:
    assert value(expression) == (Decimal(expected), True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (ROOT_2, math.sqrt(2)),
        (ex.Root(n("1.998")), math.sqrt(1.998)),
        (THIRD, 1 / 3),
        (ex.Sum((THIRD, ONE)), 4 / 3),
        (ex.Difference(ONE, THIRD), 2 / 3),
        (ex.Product((TWO, THIRD)), 2 / 3),
        (ex.Power(THIRD, TWO), 1 / 9),
        (ex.Power(n("10000"), ex.Quotient(n("-2"), SIX)), 10000 ** (-1 / 3)),
        (ex.Exponential(ONE), math.e),
        (ex.Exponential(n("-0.5")), math.exp(-0.5)),
        (ex.Exponential(THIRD), math.exp(1 / 3)),
        (ex.Call("max", (n("0"), ROOT_2)), math.sqrt(2)),
        (ex.Call("sin", (ONE,)), math.sin(1)),
        (ex.Call("cos", (n("0.5"),)), math.cos(0.5)),
        (ex.Call("sin", (THIRD,)), math.sin(1 / 3)),
        (ex.Root(ex.Exponential(TWO)), math.e),
        (ex.Quotient(n("4.32"), ROOT_2), 4.32 / math.sqrt(2)),
    ],
)
def test_what_is_cut_off_somewhere_is_not_exact(expression: ex.Expression, expected: float) -> None:
    result, exact = value(expression)
    assert not exact
    assert float(result) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "symbolic",
    [
        X,
        ex.Sum((ONE, X)),
        ex.MatrixProduct(ONE, TWO),
        ex.Transposed(ONE),
        ex.Brackets((ONE,)),
        ex.Call("mean", (ONE,)),
        ex.Root(ex.Symbol("d", "k")),
    ],
)
def test_symbols_have_no_value(symbolic: ex.Expression) -> None:
    with pytest.raises(ValueError, match="has no value"):
        value(symbolic)


@given(st.lists(st.decimals(-99, 99, places=4), min_size=1, max_size=5), st.integers(1, 40))
def test_a_mean_is_exact_just_if_it_has_an_end(numbers: list[Decimal], divisor: int) -> None:
    total = ex.Sum(tuple(map(ex.Number, numbers)))
    result, exact = value(ex.Quotient(total, ex.Number.of(divisor)))
    mean = sum(map(Fraction, numbers), Fraction(0)) / divisor
    # A decimal ends where only twos and fives divide: 10^16 has more of them than 40×10^4.
    ends = 10**16 % mean.denominator == 0
    assert exact is ends
    assert Fraction(result) == mean if ends else abs(Fraction(result) - mean) < Fraction(1, 10**50)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (ex.Product((n("0.25"), n("0.5"))), n("0.125"), "="),
        (ex.Product((n("0.25"), n("0.5"))), n("0.13"), "≈"),
        (n("5.5345"), n("5.535"), "≈"),
        (n("1.080"), n("1.08"), "="),
        (ex.Root(n("4")), TWO, "="),
        (ROOT_2, n("1.414"), "≈"),
        (THIRD, n("0.333"), "≈"),
        (X, ROOT_2, "="),  # a symbol is what it is said to be
        (ex.Symbol("σ"), n("1.414"), "="),
        # Part by part: replaced by its exact value, or by less.
        (
            ex.Sum((ex.Product((TWO, ONE)), ex.Product((n("3"), ONE)))),
            ex.Sum((TWO, n("3"))),
            "=",
        ),
        (
            ex.Sum((ex.Product((n("2.589"), n("2.789"))), ONE)),
            ex.Sum((n("7.221"), ONE)),
            "≈",
        ),
        (ex.Quotient(n("4.32"), ROOT_2), ex.Quotient(n("4.32"), ROOT_2), "="),
        (ex.Quotient(ex.Sum((ONE, TWO)), ROOT_2), ex.Quotient(n("3"), ROOT_2), "="),
        (ex.Quotient(ONE, ROOT_2), ex.Quotient(ONE, n("1.414")), "≈"),
        (ex.Quotient(ONE, ex.Root(n("4"))), ex.Quotient(ONE, TWO), "="),
        (ex.Root(ex.Sum((ONE, TWO))), ex.Root(n("3")), "="),
        (ex.Exponential(ex.Sum((ONE, TWO))), ex.Exponential(n("3")), "="),
        (ex.Difference(THIRD, ONE), ex.Difference(n("0.3"), ONE), "≈"),
        (ex.Power(ex.Sum((ONE, ONE)), TWO), ex.Power(TWO, TWO), "="),
        (ex.Call("max", (n("0"), THIRD)), ex.Call("max", (n("0"), n("0.3"))), "≈"),
        (ex.Sum((ONE, ex.Rest(4, TWO))), ex.Sum((ONE, ex.Rest(4, n("2.0")))), "="),
        (ex.Sum((ONE, ex.Rest(4, TWO))), ex.Sum((ONE, ex.Rest(4, n("2.1")))), "≈"),
        # Equal in sum but not part by part: no `=` that a reader could not follow.
        (ex.Sum((ONE, TWO)), ex.Sum((TWO, ONE)), "≈"),
        (ex.Sum((ONE, TWO)), ex.Sum((ONE, ONE, ONE)), "≈"),
        (ex.Sum((ONE, TWO)), ex.Product((ONE, n("3"))), "≈"),
    ],
)
def test_relation(left: ex.Expression, right: ex.Expression, expected: str) -> None:
    assert relation(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "true"),
    [
        (ex.Root(n("1.998")), "1.414", True),  # 1.41350
        (ex.Root(n("1.998")), "1.413", False),
        (ex.Root(n("1.9978")), "1.413", True),  # 1.41343
        (ex.Quotient(n("11.254"), n("1.414")), "7.959", True),  # 7.95898
        (ex.Quotient(n("11.254"), n("1.414")), "7.956", False),
        (ex.Quotient(n("11.254"), n("1.414")), "7.9590", True),
        (ex.Quotient(n("11.254"), n("1.414")), "7.95900", False),
        (n("0.0005"), "0.001", True),
        (n("-0.0005"), "-0.001", True),
        (n("0.0005"), "0.000", False),
        (n("0.0004"), "0", True),
        (ex.Exponential(n("30")), "1.069E+13", True),  # 1.06865×10¹³
        (ex.Exponential(n("30")), "1.068E+13", False),
        (ex.Sum((n("6.1"), n("-Infinity"))), "-Infinity", True),
        (ex.Exponential(n("-Infinity")), "0", True),
        (n("2.4"), "2.40", True),
        (n("2.41"), "2.40", False),
        (ex.Sum((n("5.0545"), n("-1e-300"))), "5.054", True),
        (ex.Sum((n("5.0545"), n("-1e-300"))), "5.055", False),
    ],
)
def test_holds(left: ex.Expression, right: str, true: bool) -> None:
    assert holds(left, n(right), n(right).places) is true


def test_places_are_the_decimals_printed() -> None:
    printed = ("1.080", "5", "1.069E+13", "-Infinity")
    assert [n(number).places for number in printed] == [3, 0, -10, 0]


@pytest.mark.parametrize("x", ["-3000000", "-1000000000000"])
def test_a_huge_number_on_the_way_to_a_short_one(x: str) -> None:
    """The slope of SiLU: both sides of the second quotient are beyond 10^1000000."""
    number = ex.Number(Decimal(x))
    huge = ex.Exponential(ex.Negative(number))
    one_more = ex.Sum((ex.Number.of(1), huge))
    slope = ex.Sum(
        (
            ex.Quotient(ex.Number.of(1), one_more),
            ex.Quotient(ex.Product((number, huge)), ex.Power(one_more, ex.Number.of(2))),
        )
    )
    assert holds(slope, ex.Number(Decimal(0)), 3)
