"""Vectors in a plane: a query and keys as arrows from the origin, paths of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from math import dist
from statistics import fmean

from tracer.lesson.document import Plane, Point, Trail
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

SIDE, ROOMY, BEYOND = 230, 340, 14
"""The longer side of what arrows and what paths cover; how far the axes go beyond them."""

LONGEST, OUTWARD = 16, 9
"""The letters of a name, and from the head of an arrow to it."""


def plot_of(plane: Plane) -> Plot:
    """The plane, the other vectors, and the followed one above them."""
    return Plot.of(plane.figure.title, description(plane), _Plane(plane).marks())


def description(plane: Plane) -> str:
    """The coordinates in words."""
    written = map(_in_words, (plane.followed, *plane.others))
    axes = " and ".join(", ".join(map(name_text, names)) for names in plane.axes)
    title, note = name_text(plane.figure.title), plane.note and f" {plane.note}."
    words = ", ".join(name_text(region.word) for region in plane.regions)
    regions = words and f" {REGIONS}: {words}."
    return f"{title}, as arrows, by {axes}: {'; '.join(written)}.{note}{regions}"


REGIONS = "Regions of the next word that an output there would predict, before rounding"


def _in_words(trail: Trail) -> str:
    points = ", ".join(
        f"{point.name} ({number_text(point.x)}, {number_text(point.y)})".lstrip()
        for point in trail.points
    )
    return f"{name_text(trail.name)}{':' * (len(trail.points) > 1)} {points}"


class _Plane:
    """Where the points are, and which places names take already."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self.trails = (*plane.others, plane.followed)
        self.are_paths = len(plane.followed.points) > 1
        points = [_floats(point) for trail in self.trails for point in trail.points]
        points += [corner for region in plane.regions for corner in region.corners]
        extents = [max(0.0, *along) - min(0.0, *along) for along in zip(*points, strict=True)]
        self.scale = (ROOMY if self.are_paths else SIDE) / (max(extents) or 1)
        self.spots = [self.spot(*point) for point in points]
        self.taken: list[tuple[Spot, float]] = []

    def spot(self, x: float, y: float) -> Spot:
        return self.scale * x, -self.scale * y

    def marks(self) -> Iterator[Mark]:
        frame = [*self.regions(), *self.axes()]
        yield from frame
        # The names of words and axes stand first.
        labels = [mark for mark in frame if isinstance(mark, Label)]
        self.taken = [((box_of(label)[0], label.y), width_of(label.words)) for label in labels]
        for trail in self.trails:
            yield from self.arrows(trail)
        for trail in reversed(self.trails):
            yield from self.names(trail)

    def regions(self) -> Iterator[Mark]:
        """The borders of each region, and its word in it, away from the points."""
        for region in self.plane.regions:
            corners = tuple(self.spot(*corner) for corner in region.corners)
            yield Path("axis", (*corners, corners[0]), 1)
            middle = _between(*corners)
            free = max(
                (_between(middle, middle, middle, each) for each in corners), key=self.distance
            )
            yield Label((f"“{shortened(region.word, LONGEST)}”",), *free, color="faint")

    def distance(self, spot: Spot) -> float:
        """How far it is to the nearest point of a trail."""
        points = (self.spot(*_floats(p)) for trail in self.trails for p in trail.points)
        return min(dist(spot, each) for each in points)

    def axes(self) -> Iterator[Mark]:
        """The axes through the origin, each with its name at its end, and the note below."""
        (left, right), (top, bottom) = (
            (min(0, *ends) - BEYOND, max(0, *ends) + BEYOND)
            for ends in zip(*self.spots, strict=True)
        )
        yield Path("other", ((left, 0), (right, 0)), 1)
        yield Path("other", ((0, top), (0, bottom)), 1)
        across, upward = map(_lines, self.plane.axes)
        for i, name in enumerate(across, 1):
            yield Label((name,), right, LINE * i, "middle", "faint")
        for i, name in enumerate(reversed(upward), 1):
            yield Label((name,), 0, top - LINE * i, "middle", "faint")
        notes = [self.plane.note, f"{REGIONS}." if self.plane.regions else ""]
        for i, note in enumerate(filter(None, notes), 2):
            yield Label((note,), left, bottom + LINE * i, "start", "faint")

    def color(self, trail: Trail) -> Color:
        return "positive" if trail is self.plane.followed else "negative"

    def arrows(self, trail: Trail) -> Iterator[Mark]:
        """Arrows from the origin or from the first point to the last one."""
        color, width = self.color(trail), 3 if trail is self.plane.followed else 1.5
        spots = [self.spot(*_floats(point)) for point in trail.points]
        if self.are_paths:
            yield Dot(color, *spots[0], trail.points[0].x)
        else:
            spots = [(0.0, 0.0), *spots]
        for ends, point in zip(pairwise(spots), trail.points[-len(spots) + 1 :], strict=True):
            yield from arrow(color, *ends, width, point.x)
        if not self.are_paths and not any(spots[-1]):
            yield Dot(color, *spots[-1], trail.points[-1].x)

    def names(self, trail: Trail) -> Iterator[Label]:
        """The name at the last point, and along the followed path those of the others."""
        *before, last = trail.points
        yield self.name(trail, shortened(trail.name, LONGEST), last)
        for point in before if trail is self.plane.followed else ():
            yield self.name(trail, point.name, point)

    def name(self, trail: Trail, name: str, at: Point) -> Label:
        """A name outside of a point, moved away from the names that stand there."""
        width, tip = LETTER * cells(name), self.spot(*_floats(at))
        left = tip[0] + OUTWARD if tip[0] >= 0 else tip[0] - OUTWARD - width
        away = -1 if tip[1] <= 0 else 1
        places = ((left, tip[1] + away * (4 + LINE * i)) for i in count())
        place = next(p for p in places if not any(_meet(p, width, *other) for other in self.taken))
        self.taken.append((place, width))
        bold = trail is self.plane.followed
        return Label((name,), place[0], place[1], "start", self.color(trail), bold=bold)


def _floats(point: Point) -> Spot:
    return float(point.x.value), float(point.y.value)


def _between(*spots: Spot) -> Spot:
    """The middle of some spots."""
    return fmean(x for x, _ in spots), fmean(y for _, y in spots)


def _lines(names: Sequence[str]) -> list[str]:
    """The names of an axis, below each other if they are too long for one line."""
    together = ", ".join(map(name_text, names))
    return [together] if cells(together) <= LONGEST_NAME else list(map(shortened, names))


def _meet(a: Spot, width: float, b: Spot, other: float) -> bool:
    """Whether two names overlap."""
    return abs(a[1] - b[1]) < LINE - 1 and a[0] < b[0] + other and b[0] < a[0] + width
