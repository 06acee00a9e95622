"""Two sides of an equation that do not agree, with what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from tracer.audit.judging.evaluation import evaluate, face
from tracer.audit.judging.intervals import Interval
from tracer.audit.judging.judgement import Judgement, Verdict
from tracer.audit.reading import expression as ex
from tracer.audit.reading.texts import Text

TELLING = 2
"""A mistake must reproduce at least this many digits, or the match may be a coincidence."""


def cause(expression: ex.Expression, found: Judgement) -> str | None:
    """Return the mistake that gives the printed figure, or None if no known mistake does."""
    if found.verdict is Verdict.SCALE:
        return _scale(found.factor)
    if found.verdict is not Verdict.FALSE or found.computed is None or not found.unit:
        return None
    digits = len(str(int(abs(found.printed) / found.unit)))
    if digits < TELLING:
        return None
    half = found.unit / 2
    figure = Interval(found.printed - half, found.printed + half)
    for mistake, value in _mistakes(expression, found):
        if figure.low <= value <= figure.high:
            return mistake
    if _are_swapped(found):
        return "two of its digits are swapped"
    return "one of its digits is left out" if _lacks_a_digit(found) else None


def _scale(factor: Decimal) -> str:
    if factor in (100, Decimal("0.01")):
        return "off by a factor of 100; is a % sign missing or extra?"
    times = f"{int(factor):,}" if factor > 1 else f"{int(1 / factor):,}"
    return f"{times} times too {'large' if factor > 1 else 'small'}"


def _mistakes(expression: ex.Expression, found: Judgement) -> Iterator[tuple[str, Decimal]]:
    """Yield mistakes that a person may have made, each with the value that it gives."""
    assert found.computed is not None
    if found.computed:
        yield "the sign is reversed", -found.computed
    if isinstance(expression, ex.Product) and expression.factors[-1][0] == "/":
        with suppress(ArithmeticError):
            undivided = evaluate(ex.Product(expression.factors[:-1]), face, found.meaning)
            if isinstance(undivided, Interval):
                yield "the division is left out", undivided.middle
    if isinstance(expression, ex.Sum) and 3 <= len(expression.terms) <= 50:
        terms = [evaluate(term, face, found.meaning) for term in expression.terms]
        numbers = [term.middle for term in terms if isinstance(term, Interval)]
        for i, term in enumerate(numbers if len(numbers) == len(terms) else [], 1):
            yield f"term {i} is left out", found.computed - term
            yield f"the sign of term {i} is reversed", found.computed - 2 * term


LONG = 5
"""In a number with at least so many digits, one that is left out is recognized."""


def _lacks_a_digit(found: Judgement) -> bool:
    """Return whether one more digit makes a whole figure correct."""
    assert found.computed is not None
    if found.computed != found.computed.to_integral_value():
        return False
    right, printed = str(abs(int(found.computed))), str(abs(int(found.printed)))
    is_shorter = len(right) >= LONG and len(printed) == len(right) - 1
    return is_shorter and any(right[:i] + right[i + 1 :] == printed for i in range(len(right)))


def _are_swapped(found: Judgement) -> bool:
    """Return whether swapping two adjacent digits makes the figure correct."""
    assert found.computed is not None
    right = str(int((found.computed / found.unit).to_integral_value()))
    printed = str(int((found.printed / found.unit).to_integral_value()))
    return len(right) >= TELLING and any(
        a != b and printed == right[:i] + b + a + right[i + 2 :]
        for i, (a, b) in enumerate(pairwise(right))
    )


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
