"""A finding: an error in an equation, its place and its"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from typing import NamedTuple

from tracer.audit.judging.judgement import Judgement, Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Side
from tracer.audit.reading.texts import Place, Text
from tracer.audit.reasons import Doubt

MORE = Decimal("0.01")
"""A computed number is reported with this many digits more than the printed one."""

MOST_DIGITS = 12
"""A number is reported with at most this many digits."""

FEWEST_DIGITS = 3

_EXACT = Context(prec=20)
"""Degrees, which are computed in radians, are exact to so many digits."""


def wrong(expression: ex.Expression, place: int) -> ex.Number | None:
    """Return the wrong number of a printed side."""
    found = ex.numbers(expression) if ex.is_printed(expression) else []
    return found[place] if place < len(found) else None


def place(figure: ex.Number, side: ex.Expression, text: Text) -> tuple[int, int]:
    """Return where a number of a side begins, with its minus sign, and where it ends."""
    if ex.Negative(figure) in ex.every(side):
        sign = _MINUS.search(text.content, max(0, figure.start - _FARTHEST), figure.start)
        return sign.start() if sign else figure.start, figure.end
    return figure.start, figure.end


_MINUS = re.compile(r"[-−][^\d−-]*\Z")
_FARTHEST = 10
"""A minus sign is so near before its number, with a currency or markup between."""


def source(start: int, end: int, text: Text) -> str:
    """Return a number as it is written in the text, with the brace that closes its exponent."""
    written = text.content[start:end]
    is_open = written.count("{") > written.count("}")
    return written + "}" if is_open else written


def written(judgement: Judgement, scale: Decimal) -> tuple[str | None, str | None]:
    """Return the correct value and the printed one, with enough digits to distinguish them."""
    if judgement.computed is None:
        return None, None
    value, other = judgement.computed * scale, judgement.printed * scale
    if not judgement.unit:
        sizes = [each.adjusted() for each in (value, other) if each]
        last = min(sizes, default=0) - FEWEST_DIGITS + 1
        step = Decimal(1).scaleb(min((value - other).adjusted() - 1, last))
        return _short(value, step, other), _short(other, step, value)
    step = _step(judgement, scale)
    if value and abs(value) < 100 * step:
        step = Decimal(1).scaleb(value.adjusted() - 3)
    return _short(value, step, other), None


def between(judgement: Judgement, scale: Decimal) -> str | None:
    """Return which values rounded inputs may stand for; None if no input is rounded."""
    values = judgement.values
    if values is None or values.low == values.high:
        return None
    step = _step(judgement, scale)
    low, high = (_short(end * scale, step, Decimal(0)) for end in (values.low, values.high))
    return f"unrounded inputs give {low} to {high}" if low != high else None


def _step(judgement: Judgement, scale: Decimal) -> Decimal:
    return min(_EXACT.plus(judgement.unit * scale), Decimal(1)) * MORE


def _short(value: Decimal, step: Decimal, other: Decimal) -> str:
    """Return a value in decimals, rounded; if it is long, with the digits that tell it apart."""
    plain = f"{(value / step).to_integral_value() * step:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    if sum(sign.isdigit() for sign in plain) <= MOST_DIGITS:
        return plain
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        short = f"{value:.{digits - 1}e}"
        if short != f"{other:.{digits - 1}e}":
            break
    is_near_one = -FEWEST_DIGITS <= value.adjusted() < MOST_DIGITS
    return f"{Decimal(short):f}" if is_near_one else short


CODES: dict[Verdict | str, tuple[str, str, str]] = {
    Verdict.FALSE: ("A01", "false", "error"),
    Verdict.LAST_DIGIT: ("A02", "last digit", "warning"),
    Verdict.SCALE: ("A03", "unit or scale", "warning"),
    Verdict.CUT: ("A04", "truncated", "note"),
    Verdict.CONSISTENT: ("A08", "unrounded", "note"),
    "two values": ("A05", "two values", "warning"),
    "sum": ("A06", "sum is not 1", "warning"),
    "softmax": ("A06", "not the softmax", "warning"),
    "norm": ("A07", "not normalized", "warning"),
    "rest": ("A09", "not read to the end", "warning"),
}


@dataclass(frozen=True, eq=False)
class Finding:
    """An error and its location."""

    text: Text
    code: str
    verdict: str
    level: str
    start: int
    end: int
    marks: tuple[int, int]
    """The start and end of the wrong figure, or of the right side if no single figure is wrong."""
    printed: str | None = None
    computed: str | None = None
    cause: str | None = None
    certain: str | None = None
    """Why rounding cannot explain it, where that is not obvious."""
    right: str | None = None
    """The value of the right side, if it is an expression to compute, too."""
    follows_from: Finding | None = None

    @cached_property
    def place(self) -> Place:
        """Where it stands."""
        return self.text.span(self.start, self.end)

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return self.text.on_one_line(self.start, self.end)


class Doubtful(NamedTuple):
    """Two sides that do not agree, with the reason for which they are not reported."""

    text: Text
    start: int
    end: int
    reason: Doubt

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return self.text.on_one_line(self.start, self.end)


def _scale(side: ex.Expression) -> Decimal:
    """Return what a printed number is, with the sign behind it: 14 % stands for 0.14."""
    of = side.of if isinstance(side, ex.Negative) else side
    return Decimal(100 if ex.is_percent(of) else 1)


def finding(left: Side, right: Side, pair: Pair) -> Finding:
    """Return the finding for two sides that do not agree with the digits as printed."""
    found, text = pair.found, pair.text
    if ex.is_printed(left.expression) and not ex.is_printed(right.expression):
        left, right = right, left
    figure = wrong(right.expression, found.place)
    scale = _scale(right.expression)
    computed, other = written(found, scale)
    marks = place(figure, right.expression, text) if figure else (right.start, right.end)
    return Finding(
        text,
        *CODES[found.verdict],
        *(pair.start, pair.end, marks),
        printed=source(*marks, text) if figure else None,
        computed=computed,
        cause=pair.cause,
        certain=between(found, scale),
        right=None if figure else other,
    )
