"""Two sides of an equation that do not agree, with what a doubt about them can ask."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from tracer.audit.judging.causes import cause
from tracer.audit.judging.judgement import Judgement, Verdict
from tracer.audit.reading import expression as ex
from tracer.audit.reading.texts import Text

NEAR = 300
"""So many characters before an equation, and half as many after it, are near it."""


@dataclass(frozen=True)
class Pair:
    """Two sides that do not agree, and the text around."""

    left: ex.Expression
    right: ex.Expression
    found: Judgement
    text: Text
    start: int
    end: int
    sign: int
    """The position of the sign between the sides."""
    previous: ex.Expression | None = None
    """The side before the left one in a chain of equations."""
    following: ex.Expression | None = None
    """The side after the right one."""

    @cached_property
    def parts(self) -> list[ex.Expression]:
        """Both sides and all their parts."""
        return [*ex.every(self.left), *ex.every(self.right)]

    @cached_property
    def numbers(self) -> list[ex.Number]:
        """The numbers of both sides."""
        return [part for part in self.parts if isinstance(part, ex.Number)]

    @cached_property
    def before(self) -> str:
        """The text that ends where the left side begins."""
        return self.text.content[max(0, self.start - NEAR) : self.start]

    @cached_property
    def after(self) -> str:
        """The text that begins where the right side ends."""
        return self.text.content[self.end : self.end + NEAR // 2]

    @cached_property
    def behind(self) -> str:
        """The text behind the right side, or within it behind its only number, as its unit is."""
        of = self.right.of if isinstance(self.right, ex.Negative) else self.right
        end = of.end if isinstance(of, ex.Number) else self.end
        return self.text.content[end : self.end + NEAR // 2]

    @cached_property
    def sources(self) -> tuple[str, str]:
        """Both sides as they are written, without the sign between them."""
        content = self.text.content
        return content[self.start : self.sign], content[self.sign + 1 : self.end]

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        return all(number.is_whole for number in self.numbers)

    @property
    def is_approximate(self) -> bool:
        """Whether the sign between the sides is ≈, or = before a ~."""
        content = self.text.content[self.sign : self.sign + 3]
        return content[0] != "=" or content[1:].lstrip(" ")[:1] == "~"

    @property
    def is_between_numbers(self) -> bool:
        """Whether there is nothing to compute on either side."""
        return ex.is_printed(self.left) and ex.is_printed(self.right)

    @property
    def is_between_expressions(self) -> bool:
        """Whether both sides have to be computed."""
        return not (ex.is_printed(self.left) or ex.is_printed(self.right))

    @cached_property
    def ratio(self) -> Decimal | None:
        """The printed number divided by the computed one; None if one of them is 0 or unknown."""
        found = self.found
        if found.verdict is Verdict.SCALE:
            return found.factor
        if not found.computed or not found.printed:
            return None
        return found.printed / found.computed

    @cached_property
    def cause(self) -> str | None:
        """The mistake that gives exactly the printed figure, if a known one does."""
        swaps = ex.is_printed(self.left) and not ex.is_printed(self.right)
        return cause(self.right if swaps else self.left, self.found)

    def source(self, number: ex.Number) -> str:
        """Return a number as it is written in the text."""
        return self.text.content[number.start : number.end]

    def is_off_by_less_than(self, share: str) -> bool:
        """Return whether the sides differ by less than this share."""
        return self.ratio is not None and abs(self.ratio - 1) < Decimal(share)
