"""The lines of a picture's arrows in pixels, each along its route.

Lines from the same lower box run together; no others do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tracer.lesson.document import Picture, Wire
from tracer.renderers.picture.placing import Gap, Placing, SizeOf
from tracer.renderers.picture.routes import Route, Routes, numbered, stretches
from tracer.renderers.picture.stack import Spot

Point: TypeAlias = tuple[float, float]

BELOW, ABOVE, TRACK = 5, 11, 6
"""From a box up to the lowest line of a gap, from the highest to a box; from line to line."""

PORT, EDGE = 12, 10
"""From one entry of a box to the next; from an entry to the edge of the box."""


@dataclass(frozen=True)
class Line:
    """An arrow as the corners of its line, from the box at its source to that of its reader."""

    wire: Wire
    corners: tuple[Point, ...]


class Wires:
    """A picture's placing, with the lines of all its arrows."""

    def __init__(self, picture: Picture, size_of: SizeOf) -> None:
        self.placing = Placing(picture, size_of)
        spots = self.placing.spots
        shown = [a for a in picture.wires if a.source in spots and a.reader in spots]
        self.routes = Routes(self.placing, shown)
        self.placing.set_across(self.routes.beside_towers())
        self.ports = self._ports()
        self.tracks = self._tracks()
        self.bottoms = self.placing.set_upward(self._height)
        self.lines = [self._line(route) for route in self.routes.all]

    # --- entries ---------------------------------------------------------------------------------

    def _ports(self) -> dict[tuple[int, int], float]:
        """Where the line from a lower box enters an upper one from below."""
        found: dict[tuple[int, int], float] = {}
        entering: dict[int, dict[int, Route]] = defaultdict(dict)
        for route in self.routes.all:
            if not route.at_side:
                entering[route.upper][route.lower] = route
        for upper, by_box in entering.items():
            spot = self.placing.spots[upper]
            room = spot.width / 2 - EDGE
            comes = sorted((self._from(route), lower) for lower, route in by_box.items())
            straight = [
                x - spot.x
                for x, lower in comes
                if not by_box[lower].lanes and abs(x - spot.x) < room
            ]
            offsets = _entries([x - spot.x for x, _ in comes], straight, room)
            found |= {
                (lower, upper): spot.x + offset
                for (_, lower), offset in zip(comes, offsets, strict=True)
            }
        return found

    def _from(self, route: Route) -> float:
        """The `x` from which a line comes to its last gap."""
        if route.lanes:
            return self.routes.lane_x(route.lanes[-1], route.lower)
        return self.placing.spots[route.lower].x

    # --- corners ---------------------------------------------------------------------------------

    def _bends(self, route: Route) -> Iterator[tuple[Gap, float, float]]:
        """What a line runs across: in which gap, from where to where."""
        x = self.placing.spots[route.lower].x
        gap = route.first
        for lane in route.lanes:
            there = self.routes.lane_x(lane, route.lower)
            yield lane.start, x, there
            x, gap = there, lane.end
        if not route.at_side:
            yield gap, x, self.ports[route.lower, route.upper]

    def _tracks(self) -> dict[Gap, dict[int, int]]:
        """The height in each gap of the line of each lower box, counted from below."""
        ends: dict[Gap, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for route in self.routes.all:
            for gap, start, end in self._bends(route):
                ends[gap][route.lower] += [start, end]
        return {
            gap: numbered(across, lambda ends: ends[1] - ends[0])
            for gap, across in stretches(ends).items()
        }

    def _height(self, gap: Gap) -> float:
        return BELOW + ABOVE + TRACK * max(self.tracks.get(gap, {}).values(), default=0)

    def _line(self, route: Route) -> Line:
        lower, upper = self.placing.spots[route.lower], self.placing.spots[route.upper]
        corners = [(lower.x, lower.y + lower.height)]
        for gap, start, end in self._bends(route):
            y = self.bottoms[gap] + BELOW + TRACK * self.tracks[gap][route.lower]
            corners += [(start, y), (end, y)]
        if route.at_side:
            corners += self._into_side(route, upper, corners[-1][0])
        else:
            corners.append((corners[-1][0], upper.y))
        return Line(route.wire, _corners(corners[::-1] if self.routes.is_backward else corners))

    def _into_side(self, route: Route, upper: Spot, x: float) -> list[Point]:
        """From a lane into the side of a box; several lines enter below each other."""
        others = [
            r.lower for r in self.routes.all if (r.upper, r.at_side) == (route.upper, route.at_side)
        ]
        y = upper.y + upper.height * (others.index(route.lower) + 1) / (len(others) + 1)
        edge = upper.width / 2 * (-1 if route.at_side == "left" else 1)
        return [(x, y), (upper.x + edge, y)]


def _entries(comes: Sequence[float], straight: Sequence[float], room: float) -> list[float]:
    """Where lines that come from the left or the right enter a box, from its middle.

    Those that come straight stay so, if the others have room beside them.
    """
    if straight:
        left = sum(x < straight[0] for x in comes)
        right = sum(x > straight[-1] for x in comes)
        before = [straight[0] - PORT * (left - i) for i in range(left)]
        after = [straight[-1] + PORT * (i + 1) for i in range(right)]
        offsets = [*before, *straight, *after]
        if len(offsets) == len(comes) and max(map(abs, offsets)) <= room:
            return offsets
    step = min(PORT, 2 * room / len(comes))
    return [step * (i - (len(comes) - 1) / 2) for i in range(len(comes))]


def _corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points at which a line turns, with its ends."""
    found: list[Point] = []
    for point in points:
        if found and point == found[-1]:
            continue
        if len(found) > 1 and _straight(found[-2], found[-1], point):
            found.pop()
        found.append(point)
    return tuple(found)


def _straight(a: Point, b: Point, c: Point) -> bool:
    return a[0] == b[0] == c[0] or a[1] == b[1] == c[1]
