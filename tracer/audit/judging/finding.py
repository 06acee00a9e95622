"""A finding: an error in an equation, its place and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from tracer.audit.judging import figures
from tracer.audit.judging.causes import cause
from tracer.audit.judging.judgement import Judgement, Verdict
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Side
from tracer.audit.reading.texts import Text
from tracer.audit.reasons import Doubt

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


@dataclass(frozen=True)
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

    @property
    def region(self) -> tuple[int, int, int, int]:
        """The first line and column, the last line, and the column after the end."""
        return *self.text.place(self.start), *self.text.place(self.end)

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return _on_one_line(self.text, self.start, self.end)


def _on_one_line(text: Text, start: int, end: int) -> str:
    return " ".join(text.content[start:end].split())


class Doubtful(NamedTuple):
    """Two sides that do not agree, with the reason for which they are not reported."""

    text: Text
    start: int
    end: int
    reason: Doubt

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return _on_one_line(self.text, self.start, self.end)


def _scale(side: ex.Expression) -> Decimal:
    """Return what a printed number is, with the sign behind it: 14 % stands for 0.14."""
    of = side.of if isinstance(side, ex.Negative) else side
    return Decimal(100 if ex.is_percent(of) else 1)


def finding(left: Side, right: Side, found: Judgement, text: Text) -> Finding:
    """Return the finding for two sides that do not agree with the digits as printed."""
    start, end = left.start, right.end
    if ex.is_printed(left.expression) and not ex.is_printed(right.expression):
        left, right = right, left
    figure = figures.wrong(right.expression, found.place)
    scale = _scale(right.expression)
    computed, other = figures.written(found, scale)
    marks = figures.place(figure, right.expression, text) if figure else (right.start, right.end)
    return Finding(
        text,
        *CODES[found.verdict],
        start=start,
        end=end,
        marks=marks,
        printed=figures.source(*marks, text) if figure else None,
        computed=computed,
        cause=cause(left.expression, found),
        certain=figures.between(found, scale),
        right=None if figure else other,
    )
