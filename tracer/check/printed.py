"""A number as a text prints it: its value and its digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from tracer.formula.numbers import round_half_away
from tracer.scenario.fields import HIDDEN, MINUS_INFINITY

WRITTEN = re.compile(
    r"(?P<digits>[-+]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,30})?(?:\.[0-9]{0,30})?)"
    r"(?:(?:[eE]|[×·]10\^?)(?P<power>[-+]?[0-9]{1,6}))?(?P<percent> ?%)?"
)
"""-0.352, 1,048,576, 2.1e-5, 2.1×10⁻⁵, 96.4 %."""

MOST_DIGITS, MOST_POWER, MOST_UNITS = 50, 900_000, 15

PLAIN = str.maketrans("−⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "--+0123456789")


@dataclass(frozen=True)
class Printed:
    """A number of a text; `text` is its printed form."""

    text: str
    value: Decimal
    """Its value; 0.964 for 96.4 %."""

    @property
    def places(self) -> int:
        """The decimals of its value; negative for 2×10⁶."""
        exponent = self.value.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0

    @property
    def unit(self) -> Decimal:
        """One unit of its last place."""
        return Decimal(1).scaleb(-self.places)

    def like(self, number: Decimal) -> Decimal:
        """Return a number rounded to as many digits, or to fewer if those are too many."""
        most = MOST_DIGITS - number.adjusted() if number and number.is_finite() else self.places
        return round_half_away(number, min(self.places, most))

    def rounds(self, number: Decimal) -> bool:
        """Return whether it is a number, correctly rounded to the printed digits."""
        return self.like(number) == self.value

    def cuts(self, number: Decimal) -> bool:
        """Return whether it is a number truncated after the last printed digit."""
        if not (number.is_finite() and self.value.is_finite()) or number * self.value < 0:
            return False
        return 0 <= abs(number) - abs(self.value) < self.unit

    def is_near(self, number: Decimal) -> bool:
        """Return whether it is at most one unit in the last place off, and of the number's size."""
        units = self.units_from(number)
        if units is None or units > 1:
            return False
        above = number.adjusted() + self.places  # places of its first digit above the last one
        return not number or (above >= -1 if self.value else above < 0)

    def units_from(self, number: Decimal) -> int | None:
        """Return the difference in units of the last place; None if they cannot be compared."""
        if not (number.is_finite() and self.value.is_finite()):
            return None
        off = abs(self.like(number) - self.value)
        if off.adjusted() + self.places > MOST_UNITS:
            return None
        return int(off.scaleb(self.places))


def printed(text: str) -> Printed | None:
    """Parse a printed number; None if it is not a number."""
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
