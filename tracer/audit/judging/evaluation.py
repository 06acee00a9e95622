"""Evaluate an expression: to an interval, or to a row of intervals."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial, reduce
from itertools import product
from typing import TypeAlias

from tracer.audit.judging import intervals
from tracer.audit.judging.intervals import Interval, UndefinedError, point, rising
from tracer.audit.reading import expression as ex
from tracer.audit.reading.vocabulary import OF_ANGLES

Value: TypeAlias = "Interval | tuple[Value, ...]"
"""A number, a vector, or a matrix as a vector of rows."""

StandsFor: TypeAlias = Callable[[ex.Number], Interval]
"""Maps a printed number to the interval of values it may stand for."""


def face(number: ex.Number) -> Interval:
    """Return the printed number itself, as an interval of one point."""
    return point(number.value)


def window(number: ex.Number) -> Interval:
    """Return all values that round to the printed number, ties in either direction included."""
    half = number.unit / 2
    return Interval(number.value - half, number.value + half)


def window_of_whole(number: ex.Number) -> Interval:
    """Return the same for a result of whole numbers, of which a single final zero is exact."""
    if number.is_whole and number.unit <= 10:
        half = Decimal("0.5")
        return Interval(number.value - half, number.value + half)
    return window(number)


def as_input(number: ex.Number) -> Interval:
    """Return the values before rounding, if the number looks rounded; else the number itself."""
    return window(number) if number.is_rounded else face(number)


def as_part(number: ex.Number) -> Interval:
    """Return the same for an intermediate result, where every number with decimals is rounded."""
    return face(number) if number.is_whole else window(number)


def as_decimals(number: ex.Number) -> Interval:
    """Return the same, but 3×10⁵, with few digits and a power, is exact."""
    is_power = "e" in number.printed.lower() and number.digits < ex.SIGNIFICANT
    return face(number) if is_power else as_part(number)


@dataclass(frozen=True)
class Meaning:
    """The meanings chosen for ambiguous notation, such as the base of log."""

    log: str = "ln"
    turn: str = "radians"
    gelu: str = "gelu"
    vectors: str = "dot"


USUAL = Meaning()


def meanings(*expressions: ex.Expression) -> Iterator[Meaning]:
    """Yield all combinations of meanings in some expressions, the usual one first."""
    found = [part for expression in expressions for part in ex.every(expression)]
    named = {part.name for part in found if isinstance(part, ex.Call)}
    rows = any(isinstance(part, ex.Vector) for part in found)
    logs = ("ln", "log10", "log2") if "log" in named else ("ln",)
    turns = ("radians", "degrees") if named & OF_ANGLES else ("radians",)
    gelus = ("gelu", "gelu_by_tanh") if "gelu" in named else ("gelu",)
    for each in product(logs, turns, gelus, ("dot", "each") if rows else ("dot",)):
        yield Meaning(*each)


def evaluate(expression: ex.Expression, stands_for: StandsFor, meaning: Meaning) -> Value:
    """Return the value of an expression.

    Raises:
        ArithmeticError: it has no value, or its shapes do not fit.
    """
    if isinstance(expression, ex.Number):  # most are
        return stands_for(expression)

    def of(part: ex.Expression) -> Value:
        return evaluate(part, stands_for, meaning)

    match expression:
        case ex.Constant(name):
            return point(intervals.PI if name == "π" else Decimal(1).exp())
        case ex.Negative(positive):
            return _each(operator.neg, of(positive))
        case ex.Sum(terms):
            value = of(terms[0])
            for term in map(of, terms[1:]):
                if _is_matrix(value) != _is_matrix(term):
                    raise UndefinedError
                value = _pair(operator.add, value, term)
            return value
        case ex.Product(factors):
            value = of(factors[0][1])
            for sign, factor in factors[1:]:
                value = _times(sign, value, of(factor), meaning)
            return value
        case ex.Power(base, exponent):
            power, value = scalar(of(exponent)), of(base)
            if _is_matrix(value):
                raise UndefinedError
            return _each(lambda x: intervals.to_the_power(x, power), value)
        case ex.Vector(items):
            return tuple(map(of, items))
        case ex.Call(name, arguments):
            return _called(name, list(map(of, arguments)), meaning)


def plain_value(expression: ex.Expression) -> Decimal | None:
    """Return the value of sums, products and powers of numbers; None if it has others, or x/0.

    It is computed without intervals, because most equations hold so.

    Raises:
        ArithmeticError: it is too large.
    """
    match expression:
        case ex.Number(number):
            return number
        case ex.Negative(of):
            part = plain_value(of)
            return None if part is None else -part
        case ex.Sum(terms):
            values = [part for term in terms if (part := plain_value(term)) is not None]
            return sum(values, Decimal(0)) if len(values) == len(terms) else None
        case ex.Product(factors):
            result = Decimal(1)
            for sign, factor in factors:
                if (part := plain_value(factor)) is None or (sign == "/" and not part):
                    return None
                result = result / part if sign == "/" else result * part
            return result
        case ex.Power(base, ex.Number(exponent) as power) if power.is_whole and (
            0 < exponent <= intervals.LARGEST_EXPONENT
        ):
            part = plain_value(base)
            return None if part is None else part ** int(exponent)
    return None


def scalar(value: Value) -> Interval:
    """Return a value that must be a single number.

    Raises:
        UndefinedError: it is a row.
    """
    if isinstance(value, tuple):
        raise UndefinedError
    return value


def _integral(direction: str) -> Callable[[Decimal], Decimal]:
    return lambda x: round(x, intervals.DIGITS - 10).to_integral_value(direction)  # ⌈log₂ 8⌉


_RISING: dict[str, Callable[[Interval], Interval]] = {
    "exp": rising(intervals.exp),
    "ln": rising(intervals.ln),
    "log10": rising(intervals.log10),
    "log2": rising(lambda x: intervals.ln(x) / Decimal(2).ln()),
    "sqrt": rising(Decimal.sqrt),
    "sigmoid": rising(lambda x: 1 / (1 + intervals.exp(-x))),
    "tanh": rising(lambda x: 1 - 2 / (intervals.exp(2 * x) + 1)),
    "relu": rising(lambda x: max(x, Decimal(0))),
    "gelu": rising(intervals.gelu),
    "gelu_by_tanh": rising(intervals.gelu_by_tanh),
    "floor": rising(_integral(ROUND_FLOOR)),
    "ceil": rising(_integral(ROUND_CEILING)),
    "sin": intervals.sine,
    "cos": intervals.cosine,
    "tan": lambda x: intervals.sine(x) / intervals.cosine(x),
    "abs": intervals.absolute,
    "percent": lambda x: x / point(Decimal(100)),
}
"""Functions of one number; they apply to each number of a row."""


def _each(of: Callable[[Interval], Interval], value: Value) -> Value:
    return tuple(_each(of, item) for item in value) if isinstance(value, tuple) else of(value)


def _pair(of: Callable[[Interval, Interval], Interval], a: Value, b: Value) -> Value:
    """Combine two numbers, two rows of equal length, or each number of a row with one number."""
    if isinstance(a, Interval) and isinstance(b, Interval):
        return of(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            raise UndefinedError
        return tuple(_pair(of, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, tuple):
        return tuple(_pair(of, x, b) for x in a)
    assert isinstance(b, tuple)
    return tuple(_pair(of, a, y) for y in b)


def _times(sign: str, a: Value, b: Value, meaning: Meaning) -> Value:
    """Multiply by shape: two vectors give their dot product, a matrix and a vector a vector."""
    in_pairs = sign == "/" or (sign == "*" and meaning.vectors == "each")
    if in_pairs or not (isinstance(a, tuple) and isinstance(b, tuple)):
        return _pair(operator.truediv if sign == "/" else operator.mul, a, b)
    if _is_matrix(b):
        columns = _columns(b)
        if _is_matrix(a):
            return tuple(tuple(_dot(row, column) for column in columns) for row in a)
        return tuple(_dot(a, column) for column in columns)
    if _is_matrix(a):
        return tuple(_dot(row, b) for row in a)
    return _dot(a, b)


def _is_matrix(value: Value) -> bool:
    return isinstance(value, tuple) and all(isinstance(row, tuple) for row in value)


def _columns(matrix: Value) -> tuple[Value, ...]:
    return tuple(zip(*matrix, strict=False))  # type: ignore[misc]


def _dot(a: Value, b: Value) -> Value:
    if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and a):
        raise UndefinedError
    return _sum([scalar(x) * scalar(y) for x, y in zip(a, b, strict=True)])


def _sum(items: Sequence[Interval]) -> Interval:
    return sum(items, point(Decimal(0)))


_OF_ROWS = ("max", "min", "mean", "sum", "norm", "softmax")
LARGEST_FACTORIAL = 30
LARGEST_SET = 1000
"""Larger factorials, and binomial coefficients of more elements, are not computed."""


def _called(name: str, given: Sequence[Value], meaning: Meaning) -> Value:
    if name in _OF_ROWS:
        row = given[0] if len(given) == 1 else tuple(given)
        if not isinstance(row, tuple):
            raise UndefinedError
        if name == "max" and any(isinstance(item, tuple) for item in row):
            return reduce(partial(_pair, _larger), row)  # max(0, [1, -2])
        return _of_a_row(name, [scalar(item) for item in row])
    if name == "choose":
        numbers = list(map(_whole, given))
        if len(numbers) != 2 or numbers[0] > LARGEST_SET:
            raise UndefinedError
        return point(Decimal(math.comb(*numbers)))
    if name == "transpose":
        return _columns(given[0]) if _is_matrix(given[0]) else given[0]
    if len(given) > 1:
        if name == "log":
            raise UndefinedError  # the base in log(8, 2) may come second or first
        return _called(name, [tuple(given)], meaning)
    x = given[0]
    if name == "factorial":
        if (number := _whole(x)) > LARGEST_FACTORIAL:
            raise UndefinedError
        return point(Decimal(math.factorial(number)))
    if name in OF_ANGLES and meaning.turn == "degrees":
        x = _each(lambda angle: angle * point(intervals.PI / 180), x)
    name = {"log": meaning.log, "gelu": meaning.gelu}.get(name, name)
    return _each(_RISING[name], x)


def _of_a_row(name: str, row: Sequence[Interval]) -> Value:
    if not row:
        raise UndefinedError
    match name:
        case "max":
            return reduce(_larger, row)
        case "min":
            return Interval(min(x.low for x in row), min(x.high for x in row))
        case "sum":
            return _sum(row)
        case "mean":
            return _sum(row) / point(Decimal(len(row)))
        case "norm":
            squares = _sum([intervals.to_the_power(x, point(Decimal(2))) for x in row])
            return _RISING["sqrt"](squares)
    return _softmax(row)


def _larger(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def _softmax(row: Sequence[Interval]) -> Value:
    """Bound each share: largest where its own score is highest and all other scores are lowest."""
    least = [intervals.exp(x.low) for x in row]
    most = [intervals.exp(x.high) for x in row]
    return tuple(
        Interval(low / (sum(most) - high + low), high / (sum(least) - low + high))
        for low, high in zip(least, most, strict=True)
    )


def _whole(value: Value) -> int:
    x = scalar(value)
    if x.low != x.high or x.low != x.low.to_integral_value() or x.low < 0:
        raise UndefinedError
    return int(x.low)
