"""Attention weights as arcs, each as wide as its weight is large."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.formula.expression import Number
from tracer.lesson.document import Arcs
from tracer.names import name_text
from tracer.renderers.plots.marks import LETTER, LINE, Color, Label, Mark, Path, Plot
from tracer.renderers.rows import cells, shortened
from tracer.renderers.text import number_text

WIDEST = 16
"""The width of the arc of a weight of 1."""

LEAST, GAP, LOOP = 76, 16, 14
"""From token to token at least, and between their names; half of an arc back to its token."""

RISE, APART = 24, 120
"""How much higher an arc is for each token farther; between two towers."""

LONGEST = 14
"""Letters of a name."""


def plot_of(arcs: Arcs) -> Plot:
    """The tokens in a row, or of two towers in two rows; the followed token's arcs on top."""
    return Plot.of(arcs.figure.title, description(arcs), _Tokens(arcs).marks())


def description(arcs: Arcs) -> str:
    """The followed token's weights in words."""
    row = arcs.weights[arcs.followed]
    seen = [
        f"{name_text(label)} ({number_text(weight)})"
        for label, weight in zip(arcs.columns, row, strict=True)
        if weight.value
    ]
    who, whom = name_text(arcs.rows[arcs.followed]), ", ".join(seen) or "no token"
    return f"{name_text(arcs.figure.title)}, as arcs: {who} attends to {whom}."


class _Tokens:
    """The tokens of the keys in a row, and what is drawn above and below them.

    Those of the queries are among them, or of another tower in a row below.
    """

    def __init__(self, arcs: Arcs) -> None:
        self.arcs = arcs
        self.columns = [shortened(label, LONGEST) for label in arcs.columns]
        self.rows = [shortened(label, LONGEST) for label in arcs.rows]
        numbers = map(number_text, arcs.weights[arcs.followed])
        widest = max(map(cells, [*self.columns, *self.rows, *numbers]))
        self.apart = max(LEAST, GAP + LETTER * widest)
        self.before = 0 if arcs.crosses else len(arcs.columns) - len(arcs.rows)

    def marks(self) -> Iterator[Mark]:
        followed = self.arcs.followed
        others = (row for row in range(len(self.rows)) if row != followed)
        for row in (*others, followed):
            color: Color = "positive" if row == followed else "other"
            for column, weight in enumerate(self.arcs.weights[row]):
                if weight.value:
                    draw = self.straight if self.arcs.crosses else self.arc
                    yield draw(row, column, color, weight)
        yield from self.names()

    def names(self) -> Iterator[Label]:
        """The tokens, with the followed token's weights."""
        arcs, followed = self.arcs, self.arcs.followed
        first = -1.9 if arcs.crosses else 1.0
        for column, (name, weight) in enumerate(
            zip(self.columns, arcs.weights[followed], strict=True)
        ):
            x, bold = self.across(column), not arcs.crosses and column == followed + self.before
            yield Label((name,), x, first * LINE, bold=bold)
            yield Label((weight,), x, (first + 1) * LINE, color="positive", of=weight)
        for row, name in enumerate(self.rows if arcs.crosses else ()):
            yield Label((name,), self.across(row), APART + LINE, bold=row == followed)

    def arc(self, row: int, column: int, color: Color, weight: Number) -> Path:
        """From a token to one before it or itself, above the names; to one behind it, below."""
        row += self.before
        floor, up = (2.9 * LINE, 1) if column > row else (0, -1)
        start, end = self.across(row), self.across(column)
        if row == column:
            start, end = start - LOOP, end + LOOP
        middle = ((start + end) / 2, floor + up * 2 * RISE * (abs(column - row) + 0.7))
        return _path(color, ((start, floor), middle, (end, floor)), weight, bends=True)

    def straight(self, row: int, column: int, color: Color, weight: Number) -> Path:
        """From a token of the lower row to one of the upper row."""
        return _path(color, ((self.across(row), APART), (self.across(column), 0)), weight)

    def across(self, column: int) -> float:
        return self.apart * column


def _path(
    color: Color, points: tuple[tuple[float, float], ...], weight: Number, *, bends: bool = False
) -> Path:
    width = WIDEST * min(max(float(weight.value), 0.0), 1.0)
    return Path(color, points, width, bends, weight)
