"""Guess what mistake led to a printed number; only mistakes that give exactly its digits count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import pairwise

from tracer.audit.judging.evaluation import evaluate, face
from tracer.audit.judging.intervals import Interval
from tracer.audit.judging.judgement import Judgement, Verdict
from tracer.audit.reading import expression as ex

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
