"""Check rows of numbers by their names: probabilities, normalized rows, repeated definitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tracer.audit.judging.evaluation import USUAL, Value, evaluate, face, window
from tracer.audit.judging.intervals import Interval, point, to_the_power
from tracer.audit.reading.equations import Named
from tracer.audit.reading.expression import Expression, Number, Vector, is_printed, numbers

SHARES = re.compile(
    r"softmax\}?\\?(?:left)?[(\[]|probabilit(?:y|ies)$|attention[_-]?weights?(?:\([^()]*\))?$",
    re.IGNORECASE,
)
NORMED = re.compile(r"layer_?norm\}?\\?(?:left)?[(\[]", re.IGNORECASE)
INDEXED = re.compile(r"[\w'′]+(?:_\{?.*|[₀-₉].*)")

FEWEST = 3
"""A row is compared with an earlier one if it has this many numbers of this many digits."""

ALIKE = Decimal("0.05")
"""Rows that differ by more than this part of their largest number are different quantities."""


def is_rounded_row(left: Expression, right: Expression) -> bool:
    """Return whether the right side is the left one with fewer decimals: [0.401, …] ≈ [0.40, …].

    At least half of the numbers must agree, or they are different rows.
    """
    if not (isinstance(left, Vector) and isinstance(right, Vector)):
        return False
    if not (is_printed(left) and is_printed(right)):
        return False
    pairs = list(zip(numbers(left), numbers(right), strict=False))
    if len(numbers(left)) != len(numbers(right)) or not all(b.unit > a.unit for a, b in pairs):
        return False
    return sum(face(a).meets(window(b)) for a, b in pairs) * 2 >= len(pairs)


def wrong_row(named: Named, earlier: dict[str, Named], *, gains: bool) -> tuple[str, str] | None:
    """Return what is wrong with a row and the evidence for it, or None.

    `earlier` holds the first row of each name. With `gains`, a norm may have any mean and scale.
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
    """Return whether the numbers may sum to 1; True if they are not probabilities."""
    if len(values) < 2 or any(not 0 <= x.low <= 1 for x in values):
        return True
    return sum(x.low for x in windows) <= 1 <= sum(x.high for x in windows)


def _may_be_normed(values: Sequence[Interval], windows: Sequence[Interval]) -> bool:
    """Return whether the mean may be 0 and the sum of squares may equal the number of entries."""
    if len(values) < FEWEST:
        return True
    if not sum(x.low for x in windows) <= 0 <= sum(x.high for x in windows):
        return False
    squares = [to_the_power(x, point(Decimal(2))) for x in windows]
    least, most = sum(x.low for x in squares), sum(x.high for x in squares)
    # The variance divides by n or by n - 1; ε makes the squares a little smaller.
    return least <= len(values) and most >= (len(values) - 1) * (1 - ALIKE)


def _is_known_again(printed: Sequence[Number]) -> bool:
    rounded = [number for number in printed if not number.is_whole and number.digits >= FEWEST]
    return len(rounded) >= FEWEST


def _differs(other: Named, windows: Sequence[Interval]) -> str | None:
    """Return the earlier row if it is close to this one and rounding cannot explain the gap."""
    before = _flat(evaluate(other.row.expression, window, USUAL))
    pairs = list(zip(before, windows, strict=False))
    if len(before) != len(windows) or all(a.meets(b) for a, b in pairs):
        return None
    largest = max(abs(x.middle) for x in before)
    if max(abs(a.middle - b.middle) for a, b in pairs) > largest * ALIKE:
        return None
    return f"[{', '.join(f'{x.middle.normalize():f}' for x in before)}]"
