"""Computations that go on from a result: 2 + 3 = 5 + 4 = 9."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from tracer.audit.judging import boundaries
from tracer.audit.judging.evaluation import USUAL, evaluate, face
from tracer.audit.judging.intervals import Interval
from tracer.audit.judging.judgement import judge
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex


def is_by_steps(pair: Pair) -> bool:
    """Return whether the computation goes on from a result: 2 + 3 = 5 + 4 = 9."""
    if any(map(boundaries.adds_rows, pair.sources)):
        return True
    left, right = pair.left, pair.right
    match left:
        case ex.Product((("*", first), ("*", ex.Call(name)))) if (
            first == right and name != "percent"
        ):
            return True  # a formula was copied twice: ln 2 = 0.693 ln 2 = 0.693
    if re.search(r"[^\\&]\n", pair.sources[0]) and _are_two(pair):
        return True
    if not ex.is_printed(right):
        one = left.of if isinstance(left, ex.Negative) else left
        if isinstance(one, ex.Number):
            return any(number.value == one.value for number in ex.numbers(right))
        if _parts(left)[: len(_parts(right))] == _parts(right):
            return True
        value = _value(left)
        return any(_is_rounded(value, beginning) for beginning in _beginnings(right))
    if pair.previous is None:
        return False
    value = _value(pair.previous)
    return any(
        _is_rounded(value, beginning) and _is_rounded(_value(rest), right)
        for beginning, rest in zip(_beginnings(left), _ends(left), strict=True)
    )


def _are_two(pair: Pair) -> bool:
    """Return whether both sides belong to other equations that hold: formulas of a spreadsheet."""
    if pair.previous is None or pair.following is None:
        return False
    found = judge(pair.previous, pair.left), judge(pair.right, pair.following)
    return all(each is not None and each.verdict.holds for each in found)


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
        case ex.Sum(terms):
            return terms
        case ex.Product(factors):
            return factors
        case other:
            return (other,)


def _beginnings(expression: ex.Expression) -> Iterator[ex.Expression]:
    """Yield the sums of the first terms, or the products of the first factors."""
    match expression:
        case ex.Sum(terms):
            yield from (ex.Sum(terms[:i]) if i > 1 else terms[0] for i in range(1, len(terms)))
        case ex.Product(factors):
            for i in range(1, len(factors)):
                yield ex.Product(factors[:i]) if i > 1 else factors[0][1]


def _ends(expression: ex.Expression) -> Iterator[ex.Expression]:
    """Yield what follows each of the beginnings."""
    match expression:
        case ex.Sum(terms):
            yield from (ex.Sum(terms[i:]) for i in range(1, len(terms)))
        case ex.Product(factors):
            for i in range(1, len(factors)):
                yield ex.Product((("*", factors[i][1]), *factors[i + 1 :]))
