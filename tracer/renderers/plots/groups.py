"""Groups of bars beside each other, with a row for each label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracer.formula.expression import Number
from tracer.lesson.document import Bars, Group, Groups
from tracer.names import name_text
from tracer.renderers import bars as of_bars
from tracer.renderers.plots.marks import (
    LETTER,
    LINE,
    Color,
    Label,
    Mark,
    Path,
    Plot,
    Rect,
    plain,
    width_of,
)
from tracer.renderers.rows import cells, shortened
from tracer.renderers.signed import BarScale
from tracer.renderers.text import number_text

ROW, BAR = 24, 14
"""The heights of a row and of its bar."""

SPAN, ALONE, GAP = 110, 300, 18
"""The lengths of the longest bars of both signs together; between numbers and bars."""


def plot_of(groups: Groups) -> Plot:
    """A column of labels, and for each group one of numbers and one of bars."""
    rows = slice(len(groups.labels))
    return Plot.of(groups.figure.title, description(groups), _columns(groups, rows))


def pages_of(bars: Bars, rows: int) -> Iterator[Plot]:
    """Bars as one group, so many of them in a plot."""
    numbers = tuple(bar.number for bar in bars.bars)
    labels = tuple(bar.label for bar in bars.bars)
    groups, words = Groups(bars.figure, labels, (Group((), numbers),)), of_bars.description(bars)
    for first in range(0, len(labels), rows):
        yield Plot.of(bars.figure.title, words, _columns(groups, slice(first, first + rows)))


def _columns(groups: Groups, rows: slice) -> Iterator[Mark]:
    labels = [shortened(label) for label in groups.labels]
    left = LETTER * max(map(cells, labels))
    span = SPAN if len(groups.groups) > 1 else ALONE
    numbers = [number for group in groups.groups for number in group.numbers]
    for i, label in enumerate(labels[rows]):
        yield Label((label,), 0, ROW * (i + 0.5), "start")
    for group in groups.groups:
        scale = BarScale(numbers if groups.alike else group.numbers)
        stub = max(LETTER * max(len(number_text(n)) for n in group.numbers), 4 * LETTER)
        right_of_numbers = left + GAP + stub
        start = right_of_numbers + GAP / 2
        if group.title:
            yield Label(group.title, left + GAP, -LINE, "start", color="faint")
        yield from _column(group.numbers[rows], scale, (right_of_numbers, start, span))
        left = max(start + span, left + GAP + width_of(group.title))


def _column(
    numbers: Sequence[Number], scale: BarScale, at: tuple[float, float, float]
) -> Iterator[Mark]:
    right_of_numbers, start, span = at
    zero = start + span * scale.zero
    bottom = ROW * len(numbers)
    for i, number in enumerate(numbers):
        length = span * scale.length(number)
        middle = ROW * (i + 0.5)
        yield Label((number,), right_of_numbers, middle, "end", of=number)
        color: Color = "negative" if length < 0 else "positive"
        yield Rect(color, zero + min(length, 0), middle - BAR / 2, abs(length), BAR, number)
    yield Path("axis", ((zero, 0), (zero, bottom)), 1)


def description(groups: Groups) -> str:
    """All numbers in words, one label after the other."""
    titles = ", ".join(plain(group.title) for group in groups.groups)
    rows = [
        f"{name_text(label)}: {', '.join(number_text(g.numbers[i]) for g in groups.groups)}"
        for i, label in enumerate(groups.labels)
    ]
    return f"{name_text(groups.figure.title)}. {titles} of {'; '.join(rows)}."
