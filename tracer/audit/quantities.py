"""Rows of numbers that cannot be what their names say: shares, normed rows, one thing twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tracer.audit.equations import Named
from tracer.audit.evaluation import USUAL, Value, evaluate, face, window
from tracer.audit.expression import Number, numbers
from tracer.audit.intervals import Interval, point, to_the_power

SHARES = re.compile(r"softmax\}?\\?(?:left)?[(\[]|probabilit(?:y|ies)$", re.IGNORECASE)
NORMED = re.compile(r"layer_?norm\}?\\?(?:left)?[(\[]", re.IGNORECASE)
INDEXED = re.compile(r"[\w'′]+(?:_\{?.*|[₀-₉].*)")

FEWEST = 3
"""Numbers of a row, and digits of a number, by which it is known again."""

ALIKE = Decimal("0.05")
"""Two rows that differ by a larger share of their largest number are two different things."""


def doubt(named: Named, earlier: dict[str, Named], *, gains: bool) -> tuple[str, str] | None:
    """What is wrong with a row that cannot be right, and what its numbers come to.

    `earlier` are the first rows of each name. With `gains`, a norm may come out otherwise.
    """
    shares, normed = SHARES.search(named.name), not gains and NORMED.search(named.name)
    again = INDEXED.fullmatch(named.name)
    if not (shares or normed or again):
        return None
    printed = numbers(named.row.expression)
    values, windows = (_flat(evaluate(named.row.expression, f, USUAL)) for f in (face, window))
    if len(values) != len(printed) or not values:
        return None  # rows of a matrix
    if shares and not _may_be_shares(values, windows):
        return "sum", f"{sum(x.low for x in values)}"
    if normed and not _may_be_normed(values, windows):
        return "norm", f"{sum((x.low for x in values), Decimal(0)) / len(values):.4f}"
    if again and _is_known_again(printed):
        differing = _differs(earlier.setdefault(named.name, named), windows)
        return ("two values", differing) if differing else None
    return None


def _flat(value: Value) -> list[Interval]:
    rows = value if isinstance(value, tuple) else (value,)
    return [row for row in rows if isinstance(row, Interval)]


def _may_be_shares(values: Sequence[Interval], windows: Sequence[Interval]) -> bool:
    """Whether they may come to 1; what is no row of shares may, too."""
    if len(values) < 2 or any(not 0 <= x.low <= 1 for x in values):
        return True
    return sum(x.low for x in windows) <= 1 <= sum(x.high for x in windows)


def _may_be_normed(values: Sequence[Interval], windows: Sequence[Interval]) -> bool:
    """Whether their mean may be 0, and their squares come to as many as they are."""
    if len(values) < FEWEST:
        return True
    if not sum(x.low for x in windows) <= 0 <= sum(x.high for x in windows):
        return False
    squares = [to_the_power(x, point(Decimal(2))) for x in windows]
    least, most = sum(x.low for x in squares), sum(x.high for x in squares)
    # A deviation is of all numbers, or of all but one; ε makes it a little smaller.
    return least <= len(values) and most >= (len(values) - 1) * (1 - ALIKE)


def _is_known_again(printed: Sequence[Number]) -> bool:
    rounded = [number for number in printed if not number.is_whole and number.digits >= FEWEST]
    return len(rounded) >= FEWEST


def _differs(other: Named, windows: Sequence[Interval]) -> str | None:
    """The earlier row, where it is nearly this one, and not only rounded otherwise."""
    before = _flat(evaluate(other.row.expression, window, USUAL))
    pairs = list(zip(before, windows, strict=False))
    if len(before) != len(windows) or all(a.meets(b) for a, b in pairs):
        return None
    largest = max(abs(x.middle) for x in before)
    if max(abs(a.middle - b.middle) for a, b in pairs) > largest * ALIKE:
        return None
    return f"[{', '.join(f'{x.middle.normalize():f}' for x in before)}]"
