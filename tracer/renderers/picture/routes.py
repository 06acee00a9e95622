"""Which way the lines of a picture's arrows go: in which gaps, and in which lanes they pass rows.

A line leaves the top of its lower box. In the gap above it turns to the lane in which it passes
other rows, if it has to; in the gap below its upper box it turns to the box. A box that is alone
in its row is entered at its side from a lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from tracer.lesson.document import Wire
from tracer.renderers.picture.placing import (
    LANE,
    PADDING,
    At,
    Gap,
    Placing,
    half_of,
    width_of_level,
)

_T = TypeVar("_T", float, Gap)


@dataclass(frozen=True)
class Lane:
    """Where a line passes other rows: beside a tower, or beside the rows of a head."""

    of: At
    """The tower, by its lowest level; or the head."""
    side: str
    start: Gap
    end: Gap


@dataclass(eq=False)
class Route:
    """A line with its lower and its upper box, and its lanes; `at_side`: where it enters."""

    wire: Wire
    lower: int
    upper: int
    first: Gap
    """The gap above its lower box."""
    lanes: list[Lane]
    at_side: str | None = None


class Routes:
    """The routes of arrows between placed boxes.

    `is_backward`: whether they lead down, as in a backward pass.
    """

    def __init__(self, placing: Placing, wires: Sequence[Wire]) -> None:
        self.placing = placing
        order = {step: _order(at) for step, at in placing.at.items()}
        down = sum(order[wire.source] > order[wire.reader] for wire in wires)
        self.is_backward = 2 * down > len(wires)
        self.all = [self._route(wire) for wire in wires]
        self.spans: dict[tuple[At, str, int], tuple[Gap, Gap]] = {}
        self.in_lane = self._assigned()

    def _route(self, wire: Wire) -> Route:
        """Which gaps and lanes a line goes through."""
        ends = wire.source, wire.reader
        steps = ends[::-1] if self.is_backward else ends
        lower, upper = (self.placing.at[step] for step in steps)
        first, last = self._above(lower), self._below(upper)
        route = Route(wire, steps[0], steps[1], first, [])
        if first == last:
            return route
        outer = lower.tower, lower.level + 1, 0
        if lower.head is not None and first != outer:
            within = (lower.tower, lower.level) == (upper.tower, upper.level)
            route.lanes.append(Lane(_head(lower), "right", first, last if within else outer))
            if within:
                return self._entered(route, lower, upper)
            first = outer
        around = (upper.tower, upper.level, 0)
        if first != around:
            side = self._side(lower, upper)
            tower = At(upper.tower, 0)
            route.lanes.append(Lane(tower, side, first, around))
        if last != around:
            route.lanes.append(Lane(_head(upper), "left", around, last))
        return self._entered(route, lower, upper)

    def _entered(self, route: Route, lower: At, upper: At) -> Route:
        """The route, with the side at which it enters the upper box, if it does."""
        if route.lanes and lower.tower == upper.tower and len(self.placing.row(upper)) == 1:
            last = route.lanes[-1]
            route.at_side = last.side if last.of == _head(upper) else None
        return route

    def _side(self, lower: At, upper: At) -> str:
        """Around a sub-layer at the right; all else at the left."""
        if lower.tower != upper.tower:
            return "left"
        spots = self.placing.row(upper)
        return "right" if any(spot.adds for spot in spots) else "left"

    def _above(self, at: At) -> Gap:
        if at.row + 1 < len(self.placing.level(at).rows):
            return at.tower, at.level, at.row + 1
        return at.tower, at.level + 1, 0

    def _below(self, at: At) -> Gap:
        if at.head is not None and at.row > min(self.placing.head_of(at).rows):
            return at.tower, at.level, at.row
        return at.tower, at.level, 0

    # --- lanes -----------------------------------------------------------------------------------

    def _assigned(self) -> dict[tuple[At, str, int], int]:
        """The number of the lane of each lower box, from inside, by what it is beside."""
        spans: dict[tuple[At, str], dict[int, list[Gap]]] = defaultdict(lambda: defaultdict(list))
        for route in self.all:
            for lane in route.lanes:
                ends = [lane.start, lane.end]
                if lane.start[0] != lane.end[0]:  # between two towers, it may go up or down
                    tower = lane.end[0]
                    ends = [(tower, 0, 0), (tower, len(self.placing.stacks[tower].levels), 0)]
                spans[lane.of, lane.side][route.lower] += ends
        found: dict[tuple[At, str, int], int] = {}
        for (of, side), by_box in spans.items():
            stretches = {box: (min(ends), max(ends)) for box, ends in by_box.items()}
            for box, number in numbered(stretches, _length).items():
                found[of, side, box] = number
                self.spans[of, side, box] = stretches[box]
            if of.head is not None:
                self.placing.head_of(of).lanes[side] = list(by_box)
        return found

    def beside_towers(self) -> list[dict[str, int]]:
        """The number of lanes at each side of each tower."""
        found = [{"left": 0, "right": 0} for _ in self.placing.stacks]
        for (of, side, _), number in self.in_lane.items():
            if of.head is None:
                found[of.tower][side] = max(found[of.tower][side], number + 1)
        return found

    def lane_x(self, lane: Lane, box: int) -> float:
        """Where the line from a lower box goes up in a lane."""
        number = self.in_lane[lane.of, lane.side, box] + 1
        sign = -1 if lane.side == "left" else 1
        if lane.of.head is None:
            stack = self.placing.stacks[lane.of.tower]
            levels = stack.levels[self._levels_beside(lane, box)]
            half = max(map(width_of_level, levels)) / 2 + PADDING
            return stack.x + sign * (half + LANE * number)
        head = self.placing.head_of(lane.of)
        return head.x + sign * (self._half_beside(lane) + LANE * number)

    def _levels_beside(self, lane: Lane, box: int) -> slice:
        """The levels that a lane at the left passes, or any lane beside it; at the right, all."""
        if lane.side == "right":
            return slice(None)
        first, last = self.spans[lane.of, lane.side, box]
        place = lane.of, lane.side
        beside = [span for (*other, _), span in self.spans.items() if tuple(other) == place]
        for _ in beside:
            near = [span for span in beside if _meet(span, (first, last))]
            first, last = min(a for a, _ in near), max(b for _, b in near)
        return slice(first[1], last[1] + 1)

    def _half_beside(self, lane: Lane) -> float:
        """Half the width of the rows of a head that any line in its lanes passes."""
        ends = [
            gap
            for route in self.all
            for other in route.lanes
            if (other.of, other.side) == (lane.of, lane.side)
            for gap in (other.start, other.end)
        ]
        level = self.placing.level(lane.of)
        rows = [gap[2] if gap[1] == lane.of.level else len(level.rows) for gap in ends]
        return half_of(self.placing.head_of(lane.of), range(min(rows), max(rows) + 1))


def _order(at: At) -> tuple[int, int, int]:
    return at.tower, at.level, at.row


def _head(at: At) -> At:
    """The head of a box, or its tower."""
    return At(at.tower, 0) if at.head is None else At(at.tower, at.level, at.head)


def _length(ends: tuple[Gap, Gap]) -> tuple[int, int]:
    """Levels and rows."""
    (_, level, row), (_, last_level, last_row) = ends
    return last_level - level, last_row - row


def numbered(
    stretches: Mapping[int, tuple[_T, _T]], length: Callable[[tuple[_T, _T]], Any]
) -> dict[int, int]:
    """A number for each stretch, the short ones first; those that meet have different ones."""
    found: dict[int, int] = {}
    for box, stretch in sorted(stretches.items(), key=lambda each: length(each[1])):
        taken = {found[other] for other in found if _meet(stretch, stretches[other])}
        found[box] = next(number for number in count() if number not in taken)
    return found


def _meet(one: tuple[_T, _T], other: tuple[_T, _T]) -> bool:
    """Whether two stretches have a point in common."""
    return one[0] <= other[1] and other[0] <= one[1]
