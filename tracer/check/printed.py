"""A number as a text prints it: what it says, and to how many digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from tracer.scenario.fields import HIDDEN, MINUS_INFINITY
from tracer.scenario.rounding import round_half_away

WRITTEN = re.compile(
    r"(?P<digits>[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,30})?(?:\.[0-9]{0,30})?)"
    r"(?:(?:[eE]|[×·]10\^?)(?P<power>[-+]?[0-9]{1,6}))?(?P<percent> ?%)?"
)
"""-0.352, 1,048,576, 2.1e-5, 2.1×10⁻⁵, 96.4 %."""

MOST_DIGITS, MOST_POWER = 50, 900_000

PLAIN = str.maketrans("−⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "--+0123456789")


@dataclass(frozen=True)
class Printed:
    """A number of a text; `text` is how it stands there."""

    text: str
    value: Decimal
    """What it says; of 96.4 % that is 0.964."""

    @property
    def places(self) -> int:
        """Decimals of what it says; negative for 2×10⁶."""
        exponent = self.value.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0

    @cached_property
    def unit(self) -> Decimal:
        """One in its last place."""
        return Decimal(1).scaleb(-self.places)

    def rounds(self, number: Decimal) -> bool:
        """Whether it is this number, correctly rounded to the digits that it shows."""
        return self._is_comparable(number) and round_half_away(number, self.places) == self.value

    def units_from(self, number: Decimal) -> int | None:
        """How many units in its last place it is off; None where they are beyond comparison."""
        if not (number.is_finite() and self.value.is_finite() and self._is_comparable(number)):
            return None
        return abs(int((round_half_away(number, self.places) - self.value) / self.unit))

    def _is_comparable(self, number: Decimal) -> bool:
        """Whether a number has as few digits in front of the last place as can be worked with."""
        if not number or not number.is_finite():
            return True
        return number.adjusted() + self.places < MOST_DIGITS


def printed(text: str) -> Printed | None:
    """A number as texts print them; None where it is none."""
    if text in HIDDEN or text == "−∞":
        return Printed(text, MINUS_INFINITY)
    found = WRITTEN.fullmatch(text.strip().translate(PLAIN))
    if found is None or not any(c.isdigit() for c in found["digits"]):
        return None
    power = int(found["power"] or 0)
    if abs(power) > MOST_POWER:
        return None
    number = Decimal(found["digits"].replace(",", "")).scaleb(power)
    return Printed(text, number.scaleb(-2) if found["percent"] else number)
