"""A number as a text prints it: what it says, and to how many digits."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.formula.numbers import round_half_away
from tracer.frozen import frozen
from tracer.scenario.fields import HIDDEN, MINUS_INFINITY

WRITTEN = re.compile(
    r"(?P<digits>[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,30})?(?:\.[0-9]{0,30})?)"
    r"(?:(?:[eE]|[×·]10\^?)(?P<power>[-+]?[0-9]{1,6}))?(?P<percent> ?%)?"
)
"""-0.352, 1,048,576, 2.1e-5, 2.1×10⁻⁵, 96.4 %."""

MOST_DIGITS, MOST_POWER, MOST_UNITS = 50, 900_000, 15

PLAIN = str.maketrans("−⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "--+0123456789")


@frozen
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

    def like(self, number: Decimal) -> Decimal:
        """A number rounded to as many digits; to fewer where so many cannot be worked with."""
        most = MOST_DIGITS - number.adjusted() if number and number.is_finite() else self.places
        return round_half_away(number, min(self.places, most))

    def rounds(self, number: Decimal) -> bool:
        """Whether it is this number, correctly rounded to the digits that it shows."""
        return self.like(number) == self.value

    def cuts(self, number: Decimal) -> bool:
        """Whether it is what is left of this number where the digits behind its last are cut."""
        if not (number.is_finite() and self.value.is_finite()) or number * self.value < 0:
            return False
        return 0 <= abs(number) - abs(self.value) < Decimal(1).scaleb(-self.places)

    def is_near(self, number: Decimal) -> bool:
        """Whether it is off by one unit in its last place at most, and of that size."""
        units = self.units_from(number)
        if units is None or units > 1:
            return False
        above = number.adjusted() + self.places  # places of its first digit above the last one
        return not number or (above >= -1 if self.value else above < 0)

    def units_from(self, number: Decimal) -> int | None:
        """How many units in its last place it is off; None where they are beyond comparison."""
        if not (number.is_finite() and self.value.is_finite()):
            return None
        off = abs(self.like(number) - self.value)
        if off.adjusted() + self.places > MOST_UNITS:
            return None
        return int(off.scaleb(self.places))


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
