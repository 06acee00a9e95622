"""A query and keys as arrows from the origin of a plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import count

from tracer.lesson.document import Arrow, Arrows
from tracer.names import name_text
from tracer.renderers.plots.marks import (
    LETTER,
    LINE,
    Color,
    Dot,
    Label,
    Mark,
    Path,
    Plot,
    Spot,
    arrow,
    box_of,
    width_of,
)
from tracer.renderers.rows import LONGEST_NAME, cells, shortened
from tracer.renderers.text import number_text

SIDE, BEYOND = 230, 14
"""The longer side of what the arrows cover, and how far the axes go beyond them."""

LONGEST, OUTWARD = 16, 9
"""The letters of a name, and from the head of an arrow to it."""


def plot_of(arrows: Arrows) -> Plot:
    """The plane, the keys, and the query above them."""
    return Plot.of(arrows.figure.title, description(arrows), _marks(arrows))


def description(arrows: Arrows) -> str:
    """The coordinates in words."""
    written = (
        f"{name_text(each.name)} ({number_text(each.x)}, {number_text(each.y)})"
        for each in (arrows.query, *arrows.keys)
    )
    axes = " and ".join(", ".join(map(name_text, names)) for names in arrows.axes)
    title, note = name_text(arrows.figure.title), arrows.note and f" {arrows.note}."
    return f"{title}, as arrows, by {axes}: {'; '.join(written)}.{note}"


def _marks(arrows: Arrows) -> Iterator[Mark]:
    every = (*arrows.keys, arrows.query)
    across, upward = ([getattr(each, axis).value for each in every] for axis in ("x", "y"))
    longest = max(map(_extent, (across, upward))) or Decimal(1)
    spots = [
        (SIDE * float(x / longest), -SIDE * float(y / longest))
        for x, y in zip(across, upward, strict=True)
    ]
    axes = list(_axes(arrows, spots))
    yield from axes
    # So do the names of the axes.
    labels = [mark for mark in axes if isinstance(mark, Label)]
    taken = [((box_of(label)[0], label.y), width_of(label.words)) for label in labels]
    for each, tip in zip(every, spots, strict=True):
        color: Color = "positive" if each is arrows.query else "negative"
        yield from arrow(color, (0, 0), tip, 3 if each is arrows.query else 1.5, each.x)
        if not any(tip):
            yield Dot(color, *tip, each.x)
    for each, tip in reversed(list(zip(every, spots, strict=True))):
        yield _name(each, tip, "positive" if each is arrows.query else "negative", taken)


def _extent(numbers: Sequence[Decimal]) -> Decimal:
    return max(Decimal(0), *numbers) - min(Decimal(0), *numbers)


def _axes(arrows: Arrows, spots: Sequence[Spot]) -> Iterator[Mark]:
    """The axes through the origin, each with its name at its end, and the note below."""
    (left, right), (top, bottom) = (
        (min(0, *ends) - BEYOND, max(0, *ends) + BEYOND) for ends in zip(*spots, strict=True)
    )
    yield Path("other", ((left, 0), (right, 0)), 1)
    yield Path("other", ((0, top), (0, bottom)), 1)
    across, upward = map(_lines, arrows.axes)
    for i, name in enumerate(across, 1):
        yield Label((name,), right, LINE * i, "middle", "faint")
    for i, name in enumerate(reversed(upward), 1):
        yield Label((name,), 0, top - LINE * i, "middle", "faint")
    if arrows.note:
        yield Label((arrows.note,), left, bottom + 2 * LINE, "start", "faint")


def _lines(names: Sequence[str]) -> list[str]:
    """The names of an axis, below each other if they are too long for one line."""
    together = ", ".join(map(name_text, names))
    return [together] if cells(together) <= LONGEST_NAME else list(map(shortened, names))


def _name(of: Arrow, tip: Spot, color: Color, taken: list[tuple[Spot, float]]) -> Label:
    """A name outside of a tip, moved away from the names that stand there."""
    name = shortened(of.name, LONGEST)
    width = LETTER * cells(name)
    left = tip[0] + OUTWARD if tip[0] >= 0 else tip[0] - OUTWARD - width
    away = -1 if tip[1] <= 0 else 1
    places = ((left, tip[1] + away * (4 + LINE * i)) for i in count())
    place = next(p for p in places if not any(_meet(p, width, *other) for other in taken))
    taken.append((place, width))
    return Label((name,), place[0], place[1], "start", color, bold=color == "positive")


def _meet(a: Spot, width: float, b: Spot, other: float) -> bool:
    """Whether two names overlap."""
    return abs(a[1] - b[1]) < LINE - 1 and a[0] < b[0] + other and b[0] < a[0] + width
