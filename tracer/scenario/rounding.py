"""How many digits a number keeps: for print, and for what is computed from it.

Rounding is decimal and half away from zero, as people round by hand.
"""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from tracer.formula.numbers import SCIENTIFIC_FROM, visible_places
from tracer.scenario.carry import Carry
from tracer.scenario.fields import Frozen, Or, WholeNumber, described

MOST_DECIMALS = 12

Decimals = Annotated[WholeNumber, Field(ge=0, le=MOST_DECIMALS)]


class Zeros(StrEnum):
    """What becomes of the zeros at the end of a computed decimal."""

    KEEP = "keep"
    TRIM = "trim"


class Digits(Frozen):
    """Digits to show: behind the decimal point, or significant ones."""

    decimals: Decimals | None = described("Digits behind the decimal point.", "3", None)
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


NUMBER = {"type": "integer", "minimum": 0}
"""A number of decimals in place of `Digits`, in the JSON schema."""


class Rounding(Frozen):
    """The rounding of a scenario."""

    decimals: Decimals = described("Digits behind the decimal point.", "3", 3)
    carry: Carry = described(
        "Which number the next calculation uses: the one that a line prints (line), the one "
        "rounded where its step ends (step), the unrounded one (never).",
        "step",
        Carry.STEP,
    )
    working: Decimals = described(
        "How many more decimals are kept inside a step with carry: step.", "2", 2
    )
    trailing_zeros: Zeros = described(
        "What becomes of the zeros at the end of a computed decimal.", "keep", Zeros.KEEP
    )
    digits: dict[str, Annotated[Digits, BeforeValidator(_decimals), Or(NUMBER)]] = described(
        "Other digits for the addresses that fit a pattern; the last that fits counts.",
        '{"*.scores": 2, "*.exp": {significant: 3}}',
        {},
    )


def never_carried(numbers: str) -> AfterValidator:
    """Refuses a rounding that carries rounded numbers on."""

    def checked(rounding: Rounding) -> Rounding:
        if rounding.carry is not Carry.NEVER:
            raise ValueError(f"{numbers} go with carry: never only")
        return rounding

    return AfterValidator(checked)


NOTHING_CARRIED = described(
    "How many digits are shown; all are carried on.",
    "{decimals: 4, carry: never}",
    Rounding.model_construct(carry=Carry.NEVER),
)
