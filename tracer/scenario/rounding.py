"""How many digits a number keeps when printed and in later calculations.

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
    """Whether to keep or trim trailing zeros of computed numbers."""

    KEEP = "keep"
    TRIM = "trim"


class Digits(Frozen):
    """Digits to print: after the decimal point, or significant ones."""

    decimals: Decimals | None = described("Digits after the decimal point.", "3", None)
    significant: Annotated[WholeNumber, Field(ge=1, le=MOST_DECIMALS)] | None = described(
        "Significant digits.", "3", None
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.decimals is None) == (self.significant is None):
            raise ValueError("expected a number of decimals, or {significant: 3}")
        return self

    def places(self, number: Decimal) -> int:
        """Return the decimal places for `number`; negative for a power of ten."""
        exponent = number.adjusted()
        if exponent >= SCIENTIFIC_FROM:
            return (self.significant or 4) - 1 - exponent
        if self.significant is not None:
            # Digits before the decimal point are never replaced by zeros.
            return max(0, self.significant - 1 - exponent)
        assert self.decimals is not None
        return visible_places(number, self.decimals)


def _decimals(value: Any) -> Any:
    return value if isinstance(value, dict | Digits) else {"decimals": value}


NUMBER = {"type": "integer", "minimum": 0}
"""A number of decimals instead of `Digits`, in the JSON schema."""


class Rounding(Frozen):
    """The rounding of a scenario."""

    decimals: Decimals = described("Digits after the decimal point.", "3", 3)
    carry: Carry = described(
        "Which number the next calculation uses: the printed one (line), the one rounded at the "
        "end of its step (step), or the unrounded one (never).",
        "step",
        Carry.STEP,
    )
    working: Decimals = described("Extra decimals to keep inside a step with carry: step.", "2", 2)
    trailing_zeros: Zeros = described(
        "Whether to keep or trim trailing zeros of computed numbers.", "keep", Zeros.KEEP
    )
    digits: dict[str, Annotated[Digits, BeforeValidator(_decimals), Or(NUMBER)]] = described(
        "Other digits for the addresses that match a pattern; the last match counts.",
        '{"*.scores": 2, "*.exp": {significant: 3}}',
        {},
    )


def never_carried(numbers: str) -> AfterValidator:
    """Return a validator that requires `carry: never`."""

    def checked(rounding: Rounding) -> Rounding:
        if rounding.carry is not Carry.NEVER:
            raise ValueError(f"{numbers} go with carry: never only")
        return rounding

    return AfterValidator(checked)


NOTHING_CARRIED = described(
    "How many digits are printed; calculations use all digits.",
    "{decimals: 4, carry: never}",
    Rounding.model_construct(carry=Carry.NEVER),
)
