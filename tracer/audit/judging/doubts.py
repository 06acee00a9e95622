"""Doubts: why an equation that does not hold may still be right, so that it is not reported.

Some doubts are found while an equation is read, all others here: `CHECKS` is the table. Each of
them decides about findings in tests/audit/judged.csv; what decided nothing is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from tracer.audit.judging import rounding, surroundings
from tracer.audit.judging.evaluation import USUAL, evaluate, face
from tracer.audit.judging.intervals import Interval
from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reasons import Doubt


def doubt(pair: Pair, *while_read: Doubt | None) -> Doubt | None:
    """Return the first doubt that two sides leave; those found while they were read go first."""
    found = (reason for reason in while_read if reason)
    return next(found, None) or next((reason for reason, may_be in CHECKS if may_be(pair)), None)


def _is_binary(pair: Pair) -> bool:
    """Return whether all numbers may be binary: 101 + 1 = 110; or a fraction is: 0.101 · 2²."""
    sources = list(map(pair.source, pair.numbers))
    fractions = sum(_FRACTION.fullmatch(source) is not None for source in sources)
    are_binary = fractions > 1 and not re.search("[2-9]", pair.sources[0])
    if are_binary or (fractions and "2" in sources):
        return True
    if not sources or not all(set(source) <= {"0", "1"} for source in sources):
        return False
    is_sum = isinstance(pair.left, ex.Sum)  # 100 · 10 = 1000 is decimal
    return is_sum or len(sources) == 1 or any(source.count("1") > 1 for source in sources)


_FRACTION = re.compile(r"[01]\.[01]{3,}")


def _are_shapes(pair: Pair) -> bool:
    """Return whether sizes are combined: (2×3) · (3×4) = (2×4)."""
    sizes, others = _factors(pair.left), _factors(pair.right)
    return pair.is_whole and isinstance(pair.right, ex.Product) and set() < others <= sizes


def _factors(side: ex.Expression) -> set[Decimal]:
    """Return the factors of a product of numbers, or of products of them, else nothing."""
    match side:
        case ex.Number(value):
            return {value}
        case ex.Product(factors) if all(sign in "*@" for sign, _ in factors):
            found = [_factors(of) for _, of in factors]
            return set[Decimal]().union(*found) if all(found) else set()
    return set()


def _is_percent_of(pair: Pair) -> bool:
    """Return whether a percentage stands for a number, as in 1.6% = 8/5, or for a change to 1."""
    if not any(map(ex.is_percent, pair.parts)):
        return False
    found = pair.found
    change = abs((found.computed or Decimal(0)) - 1 - found.printed)
    is_change = ex.is_percent(pair.right) and change <= found.unit
    return is_change or pair.ratio in (100, Decimal("0.01"))


def _is_of_one_digit(pair: Pair) -> bool:
    """Return whether a power of ten is concluded from one digit that is not exact: 5 + 4 = 1."""
    found = pair.found
    if found.verdict is not Verdict.SCALE or not isinstance(pair.right, ex.Number):
        return False
    computed = found.computed
    return pair.right.digits == 1 and (computed is None or computed * found.factor != found.printed)


_OUTSIDE = re.compile(r"[^\W\d]|[\n<>:;，。；：（）「」、`|]")
"""What no formula without letters contains."""
_LONGEST_FORMULA = 1000
_UNPRINTED = re.compile(r"[\s√―.·]")


def _is_doubled(pair: Pair) -> bool:
    """Return whether a formula is there twice, as a page is copied: 6 =1 +2 +36=1+2+3."""
    content, start = pair.text.content, pair.start
    first = max(0, start - _LONGEST_FORMULA)
    while start > first and not _OUTSIDE.match(content, start - 1):
        start -= 1
    behind = _OUTSIDE.search(content, pair.end, pair.end + _LONGEST_FORMULA)
    end = behind.start() if behind else pair.end + _LONGEST_FORMULA
    equation = _UNPRINTED.sub("", content[pair.start : pair.end])
    formula = _UNPRINTED.sub("", content[start:end]).removesuffix("![](")
    half = len(formula) // 2
    return formula == 2 * formula[:half] or formula.count(equation) > 1


def _is_copied(pair: Pair) -> bool:
    """Return whether zero-width spaces show that fraction bars are lost: 41\u200b for 1/4."""
    return "\u200b" in "".join(pair.sources)


def _is_by_steps(pair: Pair) -> bool:
    """Return whether the computation goes on from a result: 2 + 3 = 5 + 4 = 9."""
    if any(map(surroundings.adds_rows, pair.sources)):
        return True
    left, right = pair.left, pair.right
    if not ex.is_printed(right):
        if isinstance(left, ex.Number):
            return any(number.value == left.value for number in ex.numbers(right))
        if _parts(left)[: len(_parts(right))] == _parts(right):
            return True
        value = _value(left)
        return any(_is_rounded(value, beginning) for beginning in _beginnings(right))
    if pair.previous is None:
        return False
    value = _value(pair.previous)
    return any(_is_rounded(value, beginning) for beginning in _beginnings(left))


def _value(expression: ex.Expression) -> Decimal | None:
    """Return the value of a side; None if it is no single number."""
    try:
        value = evaluate(expression, face, USUAL)
    except ArithmeticError:
        return None
    return value.middle if isinstance(value, Interval) else None


def _is_rounded(value: Decimal | None, to: ex.Expression) -> bool:
    """Return whether a side has a value, or is a number with some digits that it rounds to."""
    if value is None:
        return False
    if isinstance(to, ex.Number) and to.digits > 1:
        return abs(value - to.value) <= to.unit / 2
    return value == _value(to)


def _parts(expression: ex.Expression) -> tuple[object, ...]:
    """Return the terms or factors of an expression, without their places in the text."""

    def of(part: ex.Expression) -> ex.Expression:
        return ex.Number(part.value, "", 0, 0) if isinstance(part, ex.Number) else part

    match ex.mapped(expression, of):
        case ex.Sum(parts) | ex.Product(parts):
            return parts
        case other:
            return (other,)


def _beginnings(expression: ex.Expression) -> Iterator[ex.Expression]:
    match expression:
        case ex.Sum(terms):
            yield from (ex.Sum(terms[:i]) if i > 1 else terms[0] for i in range(1, len(terms)))
        case ex.Product(factors):
            for i in range(1, len(factors)):
                yield ex.Product(factors[:i]) if i > 1 else factors[0][1]


CHECKS: tuple[tuple[Doubt, Callable[[Pair], bool]], ...] = (
    (Doubt.BEFORE, surroundings.begins_within),
    (Doubt.BINARY, _is_binary),
    (Doubt.SHAPE, _are_shapes),
    (Doubt.PERCENT, _is_percent_of),
    (Doubt.MAGNITUDE, rounding.is_magnitude),
    (Doubt.FLOAT, rounding.is_float),
    (Doubt.APPROXIMATION, rounding.is_approximation),
    (Doubt.DELIBERATE, surroundings.is_deliberate),
    (Doubt.STEPS, _is_by_steps),
    (Doubt.WHOLE_QUOTIENT, rounding.has_whole_quotient),
    (Doubt.TWICE, _is_doubled),
    (Doubt.TWICE, _is_copied),
    (Doubt.FEW_DIGITS, rounding.has_few_digits),
    (Doubt.FEW_DIGITS, rounding.are_rounded),
    (Doubt.APART, _is_of_one_digit),
)
"""The doubts, cheap ones first."""
