"""Sine and cosine against another series, with more digits of π."""

from __future__ import annotations

from decimal import ROUND_05UP, ROUND_HALF_EVEN, Context, Decimal, Overflow, localcontext

import pytest

from tests.helpers.truth import _PI as PI, _sine
from tracer.formula.arithmetic import FLOAT64
from tracer.formula.waves import cosine, sine

DIGITS = 60
ROUNDINGS = (ROUND_05UP, ROUND_HALF_EVEN)

ANGLES = (
    *("1", "-1", "0.5", "0.001", "3", "-4.75", "100", "12345.678", "-99999999999999999999.5"),
    *("7e59", "1e-15", "2.5e-30", "-5e-41", "3e-300"),
    # near a quarter turn, a half turn, many turns
    *("1.5707963267948966", "3.14159265358979323846264338327950288419716939937511"),
    *("-7853.981633974483096156608458198757210492923498437764552",),
)


def by_another_series(angle: Decimal, rounding: str) -> Decimal:
    with localcontext(prec=760):  # so that nothing is cut off 3·10⁻³⁰⁰ before it is rounded
        exact = _sine(angle) if abs(angle) < 1 else _far_sine(angle)
    return Context(DIGITS, rounding).plus(exact)


def _far_sine(angle: Decimal) -> Decimal:
    with localcontext(prec=190):  # as many as the digits of π are good for
        return _sine(angle)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("angle", ANGLES)
def test_a_sine_is_correctly_rounded(angle: str, rounding: str) -> None:
    with localcontext(prec=DIGITS, rounding=rounding):
        assert sine(Decimal(angle)) == by_another_series(Decimal(angle), rounding)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("angle", [angle for angle in ANGLES if abs(Decimal(angle)) > 1e-9])
def test_a_cosine_is_the_sine_of_a_quarter_turn_more(angle: str, rounding: str) -> None:
    with localcontext(prec=DIGITS, rounding=rounding):
        with localcontext(prec=190):
            turned = Decimal(angle) + PI / 2
        assert cosine(Decimal(angle)) == by_another_series(turned, rounding)


def test_what_is_nearly_a_tie_is_on_its_side_of_it() -> None:
    """The sine of x is below x, and a cosine below 1, by less than 60 digits show."""
    with localcontext(prec=DIGITS, rounding=ROUND_05UP):
        assert sine(Decimal("5e-41")) < Decimal("5e-41")
        assert sine(Decimal("-5e-41")) > Decimal("-5e-41")
        assert cosine(Decimal("1e-300")) < 1


@pytest.mark.parametrize("zero", ["0", "0.000", "-0"])
def test_at_0_both_are_exact(zero: str) -> None:
    assert [str(sine(Decimal(zero))), str(cosine(Decimal(zero)))] == ["0", "1"]


@pytest.mark.parametrize("angle", ["1e60", "-2e300000", "Infinity"])
def test_an_angle_too_far_away_has_none(angle: str) -> None:
    for wave in (sine, cosine):
        with pytest.raises(Overflow):
            wave(Decimal(angle))


def test_a_float_is_the_nearest_to_the_exact_wave() -> None:
    angles = FLOAT64.array([position / 7 for position in range(1, 300)])
    with FLOAT64.context():
        found = [FLOAT64.stored(wave(angles)) for wave in (FLOAT64.sin, FLOAT64.cos)]
    for angle, *waves in zip(angles, *found, strict=True):
        with localcontext(prec=190):
            exact = _sine(angle), _sine(angle + PI / 2)
        assert [float(wave) for wave in waves] == [float(wave) for wave in exact]
