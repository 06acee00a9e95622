"""What written arithmetic comes to, and when one side is exactly the other."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.formula.evaluation import holds, relation, value
from tracer.formula.expression import (
    Brackets,
    Call,
    Difference,
    Exponential,
    Expression,
    MatrixProduct,
    Number,
    Power,
    Product,
    Quotient,
    Rest,
    Root,
    Sum,
    Symbol,
    Transposed,
)


def n(number: str) -> Number:
    return Number(Decimal(number))


ONE, TWO, SIX = n("1"), n("2"), n("6")
THIRD, ROOT_2, X = Quotient(ONE, n("3")), Root(TWO), Symbol("x")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (n("-2.50"), "-2.5"),
        (n("-Infinity"), "-Infinity"),
        (Rest(58, n("1.2345")), "1.2345"),
        (Sum((n("0.1"), n("0.2"), n("-0.4"))), "-0.1"),
        (Sum((n("0.5"), Rest(4, n("1.5")))), "2"),
        (Sum((n("6.1"), n("-Infinity"))), "-Infinity"),
        (Difference(ONE, n("-2")), "3"),
        (Product((n("0.5"), n("-0.5"), TWO)), "-0.5"),
        (Quotient(n("33.207"), SIX), "5.5345"),
        (Power(n("-0.498"), TWO), "0.248004"),
        (Power(n("10000"), Quotient(n("0"), SIX)), "1"),
        (Root(n("4")), "2"),
        (Root(n("2.25")), "1.5"),
        (Root(Sum((n("0.19"), n("0.81")))), "1"),
        (Root(n("0")), "0"),
        (Exponential(n("0")), "1"),
        (Exponential(n("-Infinity")), "0"),
        (Call("max", (n("0"), n("-1.185"))), "0"),
        (Call("max", (n("0"), n("1.185"))), "1.185"),
        (Call("sin", (n("0"),)), "0"),
        (Call("cos", (n("0.000"),)), "1"),
        (Quotient(n("0"), ROOT_2), "0"),  # also by what does not come out
        (Quotient(Sum((n("1.5"), n("0.5"))), Root(n("16"))), "0.5"),
    ],
)
def test_what_comes_out_is_exact(expression: Expression, expected: str) -> None:
    assert value(expression) == (Decimal(expected), True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (ROOT_2, math.sqrt(2)),
        (Root(n("1.998")), math.sqrt(1.998)),
        (THIRD, 1 / 3),
        (Sum((THIRD, ONE)), 4 / 3),
        (Difference(ONE, THIRD), 2 / 3),
        (Product((TWO, THIRD)), 2 / 3),
        (Power(THIRD, TWO), 1 / 9),
        (Power(n("10000"), Quotient(n("-2"), SIX)), 10000 ** (-1 / 3)),
        (Exponential(ONE), math.e),
        (Exponential(n("-0.5")), math.exp(-0.5)),
        (Exponential(THIRD), math.exp(1 / 3)),
        (Call("max", (n("0"), ROOT_2)), math.sqrt(2)),
        (Call("sin", (ONE,)), math.sin(1)),
        (Call("cos", (n("0.5"),)), math.cos(0.5)),
        (Call("sin", (THIRD,)), math.sin(1 / 3)),
        (Root(Exponential(TWO)), math.e),
        (Quotient(n("4.32"), ROOT_2), 4.32 / math.sqrt(2)),
    ],
)
def test_what_is_cut_off_somewhere_is_not_exact(expression: Expression, expected: float) -> None:
    result, exact = value(expression)
    assert not exact
    assert float(result) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "symbolic",
    [
        X,
        Sum((ONE, X)),
        MatrixProduct(ONE, TWO),
        Transposed(ONE),
        Brackets((ONE,)),
        Call("mean", (ONE,)),
        Root(Symbol("d", "k")),
    ],
)
def test_symbols_have_no_value(symbolic: Expression) -> None:
    with pytest.raises(ValueError, match="has no value"):
        value(symbolic)


@given(st.lists(st.decimals(-99, 99, places=4), min_size=1, max_size=5), st.integers(1, 40))
def test_a_mean_is_exact_just_if_it_has_an_end(numbers: list[Decimal], divisor: int) -> None:
    total = Sum(tuple(map(Number, numbers)))
    result, exact = value(Quotient(total, Number.of(divisor)))
    mean = sum(map(Fraction, numbers), Fraction(0)) / divisor
    # A decimal ends where only twos and fives divide: 10^16 has more of them than 40×10^4.
    ends = 10**16 % mean.denominator == 0
    assert exact is ends
    assert Fraction(result) == mean if ends else abs(Fraction(result) - mean) < Fraction(1, 10**50)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Product((n("0.25"), n("0.5"))), n("0.125"), "="),
        (Product((n("0.25"), n("0.5"))), n("0.13"), "≈"),
        (n("5.5345"), n("5.535"), "≈"),
        (n("1.080"), n("1.08"), "="),
        (Root(n("4")), TWO, "="),
        (ROOT_2, n("1.414"), "≈"),
        (THIRD, n("0.333"), "≈"),
        (X, ROOT_2, "="),  # a symbol is what it is said to be
        (Symbol("σ"), n("1.414"), "="),
        # Part by part: replaced by its exact value, or by less.
        (
            Sum((Product((TWO, ONE)), Product((n("3"), ONE)))),
            Sum((TWO, n("3"))),
            "=",
        ),
        (
            Sum((Product((n("2.589"), n("2.789"))), ONE)),
            Sum((n("7.221"), ONE)),
            "≈",
        ),
        (Quotient(n("4.32"), ROOT_2), Quotient(n("4.32"), ROOT_2), "="),
        (Quotient(Sum((ONE, TWO)), ROOT_2), Quotient(n("3"), ROOT_2), "="),
        (Quotient(ONE, ROOT_2), Quotient(ONE, n("1.414")), "≈"),
        (Quotient(ONE, Root(n("4"))), Quotient(ONE, TWO), "="),
        (Root(Sum((ONE, TWO))), Root(n("3")), "="),
        (Exponential(Sum((ONE, TWO))), Exponential(n("3")), "="),
        (Difference(THIRD, ONE), Difference(n("0.3"), ONE), "≈"),
        (Power(Sum((ONE, ONE)), TWO), Power(TWO, TWO), "="),
        (Call("max", (n("0"), THIRD)), Call("max", (n("0"), n("0.3"))), "≈"),
        (Sum((ONE, Rest(4, TWO))), Sum((ONE, Rest(4, n("2.0")))), "="),
        (Sum((ONE, Rest(4, TWO))), Sum((ONE, Rest(4, n("2.1")))), "≈"),
        # Equal in sum but not part by part: no `=` that a reader could not follow.
        (Sum((ONE, TWO)), Sum((TWO, ONE)), "≈"),
        (Sum((ONE, TWO)), Sum((ONE, ONE, ONE)), "≈"),
        (Sum((ONE, TWO)), Product((ONE, n("3"))), "≈"),
    ],
)
def test_relation(left: Expression, right: Expression, expected: str) -> None:
    assert relation(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "true"),
    [
        (Root(n("1.998")), "1.414", True),  # 1.41350
        (Root(n("1.998")), "1.413", False),
        (Root(n("1.9978")), "1.413", True),  # 1.41343
        (Quotient(n("11.254"), n("1.414")), "7.959", True),  # 7.95898
        (Quotient(n("11.254"), n("1.414")), "7.956", False),
        (Quotient(n("11.254"), n("1.414")), "7.9590", True),
        (Quotient(n("11.254"), n("1.414")), "7.95900", False),
        (n("0.0005"), "0.001", True),
        (n("-0.0005"), "-0.001", True),
        (n("0.0005"), "0.000", False),
        (n("0.0004"), "0", True),
        (Exponential(n("30")), "1.069E+13", True),  # 1.06865×10¹³
        (Exponential(n("30")), "1.068E+13", False),
        (Sum((n("6.1"), n("-Infinity"))), "-Infinity", True),
        (Exponential(n("-Infinity")), "0", True),
        (n("2.4"), "2.40", True),
        (n("2.41"), "2.40", False),
        (Sum((n("5.0545"), n("-1e-300"))), "5.054", True),
        (Sum((n("5.0545"), n("-1e-300"))), "5.055", False),
    ],
)
def test_holds(left: Expression, right: str, true: bool) -> None:
    assert holds(left, n(right), n(right).places) is true


def test_places_are_the_decimals_printed() -> None:
    printed = ("1.080", "5", "1.069E+13", "-Infinity")
    assert [n(number).places for number in printed] == [3, 0, -10, 0]
