"""Rounding as people do it by hand, and how many digits a number is given."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from tracer.formula.numbers import round_half_away, trimmed, visible_places
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Digits, Rounding, Zeros

THREE, NONE = Digits(decimals=3), Digits(decimals=0)


@pytest.mark.parametrize(
    ("number", "places", "expected"),
    [
        ("5.5345", 3, "5.535"),
        ("-5.5345", 3, "-5.535"),
        ("5.5344999999", 3, "5.534"),
        ("-5.5345000001", 3, "-5.535"),
        ("0.5", 0, "1"),
        ("-0.5", 0, "-1"),
        ("1.5", 0, "2"),
        ("2.5", 0, "3"),
        ("1.005", 2, "1.01"),  # as a float it lies below the tie
        ("0.0004", 3, "0.000"),
        ("-0.0004", 3, "0.000"),
        ("-0.0", 1, "0.0"),
        ("9.9996", 3, "10.000"),
        ("2", 3, "2.000"),
        ("12345", -2, "1.23E+4"),
        ("12350", -2, "1.24E+4"),
        ("-49", -2, "0E+2"),
        ("Infinity", 3, "Infinity"),
        ("-Infinity", 3, "-Infinity"),
        ("-2.5E-510998", 511060, "-2.5E-510998"),
        ("1.5E+70", 0, "1.5E+70"),
    ],
)
def test_round_half_away(number: str, places: int, expected: str) -> None:
    assert str(round_half_away(Decimal(number), places)) == expected


@given(st.decimals(-(10**12), 10**12, places=9), st.integers(-4, 10))
def test_round_half_away_is_the_nearest_and_of_two_the_one_away_from_zero(
    number: Decimal, places: int
) -> None:
    unit = Fraction(10) ** -places
    size = math.floor(abs(Fraction(number)) / unit + Fraction(1, 2)) * unit
    rounded = round_half_away(number, places)
    assert Fraction(rounded) == (size if number > 0 else -size)
    assert rounded.as_tuple().exponent == -places
    assert not (rounded == 0 and rounded.is_signed())


@pytest.mark.parametrize(
    ("digits", "number", "places"),
    [
        (THREE, "1.5", 3),
        (THREE, "0", 3),
        (THREE, "-123456.7", 3),
        (THREE, "0.0005", 3),  # rounds to 0.001
        (THREE, "0.00049", 5),  # would be 0.000: 0.00049
        (THREE, "-0.000021345", 6),  # -0.000021
        (THREE, "0.00000000000000000001234", 21),
        (NONE, "0.5", 0),
        (NONE, "0.4", 2),  # 0.40
        (NONE, "105134.9", 0),
        (THREE, "999999999999.9", 3),
        (THREE, "1000000000000", -9),  # 1.000×10¹²
        (THREE, "10686474581524.46", -10),  # 1.069×10¹³
        (Digits(significant=3), "21.3275", 1),
        (Digits(significant=3), "5.6406", 2),
        (Digits(significant=3), "2540.2", 0),  # 2540, where 2540.2 has five
        (Digits(significant=3), "7331973.5", 0),  # never 7330000
        (Digits(significant=3), "0.00123456", 5),
        (Digits(significant=3), "-0.00123456", 5),
        (Digits(significant=2), "10686474581524.46", -12),  # 1.1×10¹³
        (Digits(significant=1), "0.96", 1),
    ],
)
def test_places(digits: Digits, number: str, places: int) -> None:
    assert digits.places(Decimal(number)) == places


@given(
    st.decimals(-(10**15), 10**15, places=20).filter(bool),
    st.one_of(
        st.integers(0, 12).map(lambda n: Digits(decimals=n)),
        st.integers(1, 12).map(lambda n: Digits(significant=n)),
    ),
)
def test_what_is_not_zero_is_not_printed_as_zero(number: Decimal, digits: Digits) -> None:
    printed = round_half_away(number, digits.places(number))
    assert printed and printed.is_signed() == number.is_signed()
    # The last digit shown is right to half of its worth, and worth at most a twentieth of it all.
    unit = Fraction(10) ** -digits.places(number)
    assert abs(Fraction(printed) - Fraction(number)) <= unit / 2
    if digits.decimals is not None and abs(number) < Decimal(5).scaleb(-digits.decimals - 1):
        assert len(printed.as_tuple().digits) in (2, 3)  # 3 where 0.0996 becomes 0.100


@pytest.mark.parametrize("wrong", [{}, {"decimals": 1, "significant": 1}])
def test_digits_are_decimals_or_significant_ones(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="expected a number of decimals"):
        Digits(**wrong)


def test_what_is_not_said_of_rounding() -> None:
    found = Rounding()
    assert (found.decimals, found.carry, found.working) == (3, Carry.STEP, 2)
    assert (found.trailing_zeros, found.digits) == (Zeros.KEEP, {})


def test_digits_of_an_address_are_decimals_or_significant_ones() -> None:
    found = Rounding.model_validate({"digits": {"*.exp": {"significant": 3}, "*.scores": 2}})
    assert found.digits == {"*.exp": Digits(significant=3), "*.scores": Digits(decimals=2)}


@pytest.mark.parametrize("name", ["decimals", "working"])
@pytest.mark.parametrize("wrong", [-1, 13, 2.5, "2.0", " 2", "two"])
def test_decimals_are_counted_from_0_to_12(name: str, wrong: object) -> None:
    with pytest.raises(ValidationError):
        Rounding.model_validate({name: wrong})
    assert [getattr(Rounding.model_validate({name: n}), name) for n in (0, "12")] == [0, 12]


@pytest.mark.parametrize(
    ("number", "decimals", "places"),
    [
        ("0", 3, 3),
        ("1.5", 3, 3),
        ("0.001", 3, 3),
        ("0.0009", 3, 3),  # 0.001
        ("0.0005", 3, 3),  # 0.001
        ("0.00049", 3, 5),  # 0.00049, where 0.000 would stand
        ("-0.0000123", 3, 6),
        ("0.4", 0, 2),
        # From five decimals on a power of ten is written: 5.1×10⁻⁶, and not 1×10⁻⁵.
        ("0.0000051", 5, 7),
        ("0.0000099", 5, 7),
        ("0.00001", 5, 5),
        ("0.0000499", 4, 6),
        ("0.00005", 4, 4),
    ],
)
def test_visible_places(number: str, decimals: int, places: int) -> None:
    assert visible_places(Decimal(number), decimals) == places


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("1.080", "1.08"),
        ("5.000", "5"),
        ("120", "120"),
        ("120.0", "120"),
        ("100000000000", "100000000000"),
        ("1000", "1000"),
        ("1000000000000", "1E+12"),
        # What was rounded to a power of ten stays one.
        ("1E+3", "1E+3"),
        ("1.50E+9", "1.5E+9"),
        ("0.000", "0"),
        ("-0.50", "-0.5"),
        ("999E+9", "9.99E+11"),
        ("999000000000.00", "999000000000"),
        ("1.000E+12", "1E+12"),
    ],
)
def test_trimmed(number: str, expected: str) -> None:
    assert str(trimmed(Decimal(number))) == expected
