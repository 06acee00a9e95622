"""How many digits a number keeps: for print, and for what is computed from it.

Rounding is decimal and half away from zero, as people round by hand.
"""

from decimal import ROUND_05UP, ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from tracer.scenario.carry import Carry
from tracer.scenario.fields import Frozen, OrNumber, WholeNumber, described

CONTEXT = Context(prec=60, rounding=ROUND_05UP)
"""More digits than any printed line; what is cut off stays seen.

The last digit is then neither 0 nor 5: 0.5 - 10⁻³⁰⁰ stays below 0.5, and is rounded down.
"""

SCIENTIFIC_FROM = 12
"""From 10^12 a number is written as 1.069×10¹³; its leading digits are what a reader wants."""

PLAIN_ZEROS = 4
"""Up to so many decimals in front of its first digit a small number is written without a power."""

MOST_DECIMALS = 12


class Zeros(StrEnum):
    """What becomes of the zeros at the end of a computed decimal."""

    KEEP = "keep"
    TRIM = "trim"


class Digits(Frozen):
    """Digits to show: behind the decimal point, or significant ones."""

    decimals: Annotated[WholeNumber, Field(ge=0, le=MOST_DECIMALS)] | None = described(
        "Digits behind the decimal point.", "3", None
    )
    significant: Annotated[WholeNumber, Field(ge=1, le=MOST_DECIMALS)] | None = described(
        "Digits from the first that is not 0.", "3", None
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.decimals is None) == (self.significant is None):
            raise ValueError("expected a number of decimals, or {significant: 3}")
        return self

    def places(self, number: Decimal) -> int:
        """Decimal places for `number`; negative where it is written as a power of ten."""
        exponent = number.adjusted()
        if exponent >= SCIENTIFIC_FROM:
            return (self.significant or 4) - 1 - exponent
        if self.significant is not None:
            # Digits in front of the decimal point are never zeros in place of others.
            return max(0, self.significant - 1 - exponent)
        assert self.decimals is not None
        return visible_places(number, self.decimals)


def _decimals(value: Any) -> Any:
    return value if isinstance(value, dict | Digits) else {"decimals": value}


class Rounding(Frozen):
    """The rounding of a scenario."""

    decimals: Annotated[WholeNumber, Field(ge=0, le=MOST_DECIMALS)] = described(
        "Digits behind the decimal point.", "3", 3
    )
    carry: Carry = described(
        "Which number the next calculation uses: the one that a line prints (line), the one "
        "rounded where its step ends (step), the unrounded one (never).",
        "step",
        Carry.STEP,
    )
    working: Annotated[WholeNumber, Field(ge=0, le=MOST_DECIMALS)] = described(
        "How many more decimals are kept inside a step with carry: step.", "2", 2
    )
    trailing_zeros: Zeros = described(
        "What becomes of the zeros at the end of a computed decimal.", "keep", Zeros.KEEP
    )
    digits: dict[str, Annotated[Digits, BeforeValidator(_decimals), OrNumber]] = described(
        "Other digits for the addresses that fit a pattern; the last that fits counts.",
        '{"*.scores": 2, "*.exp": {significant: 3}}',
        {},
    )


def visible_places(number: Decimal, decimals: int) -> int:
    """`decimals`, or as many as give two significant digits where those would tell too little.

    That is where they would show 0 of what is not zero, or as a power of ten a single rounded
    digit (1×10⁻⁵ of 5.1×10⁻⁶).
    """
    if not number or number.adjusted() >= -decimals:
        return decimals
    too_little = decimals > PLAIN_ZEROS or not round_half_away(number, decimals)
    return 1 - number.adjusted() if too_little else decimals


def round_half_away(number: Decimal, places: int) -> Decimal:
    """Round to `places` decimals, ties away from zero, no −0; infinities stay."""
    if not number.is_finite():
        return number
    rounded = number.quantize(_unit(places), ROUND_HALF_UP, CONTEXT)
    return rounded or rounded.copy_abs()


@cache
def _unit(places: int) -> Decimal:
    """0.001 for three decimals."""
    return Decimal(1).scaleb(-places)


def trimmed(number: Decimal) -> Decimal:
    """Without zeros at the end of its decimals: 1.080 → 1.08, 5.000 → 5, 120 → 120.

    What was rounded to a power of ten stays one: 1.50×10⁹ → 1.5×10⁹.
    """
    least = number.normalize(CONTEXT)
    power = _exponent(least)
    whole = power > 0 and _exponent(number) <= 0 and least.adjusted() < SCIENTIFIC_FROM
    return least.quantize(Decimal(1)) if whole else least


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent
