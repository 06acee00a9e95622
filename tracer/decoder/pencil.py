"""The digits that a computed number keeps for the next calculation.

`carry: line` keeps what is printed; `carry: step` rounds at the end of a step, and keeps some
more digits inside it; `carry: never` keeps all.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fnmatch import fnmatchcase

import numpy as np

from tracer.decoder.roles import Role, RoundingRule
from tracer.formula.arithmetic import Array, RoundPart, no_rounding
from tracer.formula.numbers import (
    SCIENTIFIC_FROM,
    exponent_of,
    round_half_away,
    trimmed,
    visible_places,
)
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import MOST_DECIMALS, Digits, Rounding, Zeros

GUARD_OF_LARGEST = 3
"""The largest exponential of a row has `decimals` plus this many significant digits."""

LARGE_POWER, SCIENTIFIC_DECIMALS = 7, 3
"""In full precision, exponentials from 10⁷ on are printed as 1.456×10⁹."""

OF_TRAINING = {"gradient.": Digits(significant=4), "update.": Digits(significant=4)}
"""Gradients span magnitudes. Only patterns of the author with the same prefix apply to them."""

OF_ATTRIBUTION = "attribution."

FLOAT_DIGITS = 13
"""Significant digits of a float that are certainly correct after one rounding to float."""

DECIMALS_OF_NEW_WEIGHTS = 6
"""The least decimals, since an update may be small compared to the weight."""


class Pencil:
    """The rounding of a scenario."""

    def __init__(self, rounding: Rounding, *, decimal: bool = True) -> None:
        """Keep the rounding; numbers that are not `decimal` keep all digits between operations."""
        self.rounding = rounding
        self.decimal = decimal
        self.carry = rounding.carry if decimal else Carry.NEVER
        self.rounds = self.carry is not Carry.NEVER
        """Whether any intermediate number is rounded."""
        self._usual = Digits(decimals=rounding.decimals)
        self._of_new = Digits(decimals=max(rounding.decimals, DECIMALS_OF_NEW_WEIGHTS))
        self._chosen: dict[str, Digits | None] = {}

    def chosen(self, address: str) -> Digits | None:
        """The digits that the author sets for an address, if any; an attribution has the usual."""
        if address.startswith(OF_ATTRIBUTION):
            return None
        if address not in self._chosen:
            phase = next((begin for begin in OF_TRAINING if address.startswith(begin)), "")
            patterns = self.rounding.digits.items()
            found = [OF_TRAINING.get(phase)] + [
                digits
                for pattern, digits in patterns
                if fnmatchcase(address, pattern) and pattern.startswith(phase)
            ]
            self._chosen[address] = found[-1]
        return self._chosen[address]

    def chosen_for(self, role: Role, address: str) -> Digits | None:
        """The author's digits, if any; by default a new weight has more digits than its update."""
        chosen = self.chosen(address)
        unsaid = role.derivation == "new" and chosen is OF_TRAINING["update."]
        return self._of_new if unsaid else chosen

    def digits(self, address: str) -> Digits:
        """The digits with which results are shown at an address."""
        return self.chosen(address) or self._usual

    def kept(self, role: Role, address: str, numbers: Array, operand: Array | None) -> Array | None:
        """Return the numbers to compute with; None if they are not rounded.

        Exponentials and their sums share the decimals of their row of `operand`, the first input.
        """
        if not self.rounds:
            return None
        if role.rounding_rule is RoundingRule.WHOLE:
            return numbers
        if role.rounding_rule is RoundingRule.ALL:
            return np.asarray(np.frompyfunc(self._readable, 1, 1)(numbers), object)
        chosen = self.chosen_for(role, address)
        if role.significant and not chosen:
            return self._rounded(numbers, lambda x: self._significant_places(role, x))
        if chosen or self.carry is Carry.LINE:
            return self._rounded(numbers, (chosen or self._usual).places)
        match role.rounding_rule:
            case RoundingRule.EXACT | RoundingRule.ALL | RoundingRule.WHOLE:
                return None
            case RoundingRule.RESULT:
                return self._rounded(numbers, self._usual.places)
            case RoundingRule.WORKING:
                return self._rounded(numbers, self._working_places)
            case RoundingRule.SHARED:
                sources = numbers if numbers.ndim == 2 or operand is None else operand
                rows = [
                    self._rounded(np.asarray(row, object), _sharing(self._shared_decimals(source)))
                    for row, source in zip(numbers, sources, strict=True)
                ]
                return np.array([row if row.ndim else row.item() for row in rows], object)

    @property
    def rounds_copies(self) -> bool:
        """Whether a copied value may have other digits than the original."""
        return self.rounds and bool(self.rounding.digits)

    def chosen_copy(self, role: Role, address: str, numbers: Array) -> Array | None:
        """A copied value, rounded if the author sets its digits; else None.

        What stands only inside the lines of another value keeps the digits that were printed.
        """
        is_printed = role.rounding_rule not in (RoundingRule.EXACT, RoundingRule.WHOLE)
        digits = self.chosen(address) if self.rounds and is_printed else None
        return self._rounded(numbers, digits.places) if digits else None

    def places(self, role: Role, address: str, number: Decimal) -> int:
        """The decimals with which a number in full precision is printed."""
        if role.rounding_rule is RoundingRule.WHOLE:
            return 0
        chosen = self.chosen_for(role, address)
        places = (chosen or self._usual).places(number)
        if role.significant and not chosen:
            places = self._significant_places(role, number)
        if not self.decimal:
            places = min(places, FLOAT_DIGITS - 1 - number.adjusted())
        if chosen or role.rounding_rule is not RoundingRule.SHARED:
            return places
        # A large exponential has more digits than a reader needs, and so would its exponent.
        exponent = number.adjusted()
        if exponent >= LARGE_POWER:
            return SCIENTIFIC_DECIMALS - exponent
        return min(places, max(0, self.rounding.decimals + GUARD_OF_LARGEST - 1 - exponent))

    def part(self, address: str) -> RoundPart:
        """How to round the intermediate numbers of a line for the value at `address`."""
        if self.carry is not Carry.LINE:
            return no_rounding
        return lambda numbers: self._rounded(numbers, lambda x: self.part_places(address, x))

    def part_places(self, address: str, number: Decimal) -> int:
        """The decimals of an intermediate number in a line: never fewer than usual."""
        usual, chosen = self._usual.places(number), self.chosen(address)
        if chosen is None:
            return usual
        places = chosen.places(number)
        return usual if number.adjusted() >= SCIENTIFIC_FROM else max(places, usual)

    def printed(self, number: Decimal, places: int) -> Decimal:
        """`number` with the digits that are printed: rounded, no −0, zeros kept or trimmed."""
        rounded = round_half_away(number, places)
        if not rounded:
            return Decimal(0)
        return trimmed(rounded) if self.rounding.trailing_zeros is Zeros.TRIM else rounded

    def _working_places(self, number: Decimal) -> int:
        """More decimals, but no zeros behind an exact number: 5.5345 is not 5.53450."""
        if number.adjusted() >= SCIENTIFIC_FROM:
            return self._usual.places(number)
        most = visible_places(number, self.rounding.decimals + self.rounding.working)
        return self._without_zeros(number, most)

    def _significant_places(self, role: Role, number: Decimal) -> int:
        """The usual decimals, or as many as give the least significant digits of a role."""
        usual = self._usual.places(number)
        if not number or number.adjusted() >= SCIENTIFIC_FROM:
            return usual
        return self._without_zeros(number, max(usual, role.significant - 1 - number.adjusted()))

    def _without_zeros(self, number: Decimal, most: int) -> int:
        """The decimals of a number, at most so many; the usual ones of an exact number."""
        if not number or round_half_away(number, most) != number:
            return most
        return max(self.rounding.decimals, -exponent_of(trimmed(number)))

    def _readable(self, number: Decimal) -> Decimal:
        """A sum, rounded if it has too many decimals to read: 1.000 + 3.5×10⁻⁵⁷ is 1.000."""
        too_long = -exponent_of(number) > MOST_DECIMALS
        return self.printed(number, self._usual.places(number)) if too_long else number

    def _shared_decimals(self, row: Array) -> int:
        largest = max((x for x in row.flat if x.is_finite()), default=Decimal(0))
        significant = self.rounding.decimals + GUARD_OF_LARGEST
        return max(0, significant - 1 - largest.adjusted()) if largest else self.rounding.decimals

    def _rounded(self, numbers: Array, places: Callable[[Decimal], int]) -> Array:
        def rounded(number: Decimal) -> Decimal:
            return self.printed(number, places(number)) if number.is_finite() else number

        return np.asarray(np.frompyfunc(rounded, 1, 1)(numbers), object)


def _sharing(decimals: int) -> Callable[[Decimal], int]:
    digits = Digits(decimals=0)

    def places(number: Decimal) -> int:
        large = number.adjusted() >= SCIENTIFIC_FROM
        return digits.places(number) if large else visible_places(number, decimals)

    return places
