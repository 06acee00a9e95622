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
from typing import Any, Literal, NamedTuple, TypeVar

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
from tracer.renderers.picture.stack import Level

_K = TypeVar("_K")
_T = TypeVar("_T", float, Gap)


class Side(NamedTuple):
    """A side where lines pass rows: of a tower, by its lowest level, or of a head."""

    of: At
    side: Literal["left", "right"]


@dataclass(frozen=True)
class Lane:
    """Where a line passes other rows."""

    at: Side
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
        order = {step: (at.tower, at.level, at.row) for step, at in placing.at.items()}
        down = sum(order[wire.source] > order[wire.reader] for wire in wires)
        self.is_backward = 2 * down > len(wires)
        self.all = [self._route(wire) for wire in wires]
        self.spans = self._spans()
        self.numbers = {side: numbered(spans, _length) for side, spans in self.spans.items()}
        """The number of the lane of each lower box, from inside, by what it is beside."""
        for side, spans in self.spans.items():
            if side.of.head is not None:
                head = placing.head_of(side.of)
                head.lanes = max(head.lanes, len(spans))

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
            route.lanes.append(Lane(Side(_head(lower), "right"), first, last if within else outer))
            if within:
                return self._entered(route, lower, upper)
            first = outer
        around = (upper.tower, upper.level, 0)
        if first != around:
            route.lanes.append(Lane(self._around(lower, upper), first, around))
        if last != around:
            route.lanes.append(Lane(Side(_head(upper), "left"), around, last))
        return self._entered(route, lower, upper)

    def _entered(self, route: Route, lower: At, upper: At) -> Route:
        """The route, with the side at which it enters the upper box, if it does."""
        if route.lanes and lower.tower == upper.tower and len(self.placing.row(upper)) == 1:
            of, side = route.lanes[-1].at
            route.at_side = side if of == _head(upper) else None
        return route

    def _around(self, lower: At, upper: At) -> Side:
        """Around a sub-layer at the right; all else at the left."""
        adds = any(spot.adds for spot in self.placing.row(upper))
        within = lower.tower == upper.tower
        return Side(At(upper.tower, 0), "right" if adds and within else "left")

    def _above(self, at: At) -> Gap:
        if at.row + 1 < len(self.placing.level(at).rows):
            return at.tower, at.level, at.row + 1
        return at.tower, at.level + 1, 0

    def _below(self, at: At) -> Gap:
        if at.head is not None and at.row > min(self.placing.head_of(at).rows):
            return at.tower, at.level, at.row
        return at.tower, at.level, 0

    # --- lanes -----------------------------------------------------------------------------------

    def _spans(self) -> dict[Side, dict[int, tuple[Gap, Gap]]]:
        """What the lines from each lower box pass at each side, from gap to gap."""
        ends: dict[Side, dict[int, list[Gap]]] = defaultdict(lambda: defaultdict(list))
        for route in self.all:
            for lane in route.lanes:
                gaps = [lane.start, lane.end]
                if lane.start[0] != lane.end[0]:  # between two towers, it may go up or down
                    tower = lane.end[0]
                    gaps = [(tower, 0, 0), (tower, len(self.placing.stacks[tower].levels), 0)]
                ends[lane.at][route.lower] += gaps
        return stretches(ends)

    def beside_towers(self) -> list[dict[str, int]]:
        """The number of lanes at each side of each tower."""
        found = [{"left": 0, "right": 0} for _ in self.placing.stacks]
        for (of, side), numbers in self.numbers.items():
            if of.head is None:
                found[of.tower][side] = max(numbers.values()) + 1
        return found

    def lane_x(self, lane: Lane, box: int) -> float:
        """Where the line from a lower box goes up in a lane."""
        of, side = lane.at
        if of.head is None:
            middle = self.placing.stacks[of.tower].x
            half = max(map(width_of_level, self._levels_beside(lane.at, box))) / 2 + PADDING
        else:
            middle = self.placing.head_of(of).x
            half = self._half_beside(lane.at)
        away = half + LANE * (self.numbers[lane.at][box] + 1)
        return middle - away if side == "left" else middle + away

    def _levels_beside(self, at: Side, box: int) -> Sequence[Level]:
        """The levels that a lane at the left passes, or any lane beside it; at the right, all."""
        levels = self.placing.stacks[at.of.tower].levels
        if at.side == "right":
            return levels
        beside = self.spans[at].values()
        first, last = self.spans[at][box]
        for _ in beside:
            near = [span for span in beside if _meet(span, (first, last))]
            first, last = min(a for a, _ in near), max(b for _, b in near)
        return levels[first[1] : last[1] + 1]

    def _half_beside(self, at: Side) -> float:
        """Half the width of the rows of a head that any line at this side passes."""
        rows = [
            row if level == at.of.level else len(self.placing.level(at.of).rows)
            for span in self.spans[at].values()
            for _, level, row in span
        ]
        return half_of(self.placing.head_of(at.of), range(min(rows), max(rows) + 1))


def _head(at: At) -> At:
    """The head of a box, or its tower."""
    return At(at.tower, 0) if at.head is None else At(at.tower, at.level, at.head)


def _length(ends: tuple[Gap, Gap]) -> tuple[int, int]:
    """Levels and rows."""
    (_, level, row), (_, last_level, last_row) = ends
    return last_level - level, last_row - row


def stretches(ends: Mapping[_K, Mapping[int, list[_T]]]) -> dict[_K, dict[int, tuple[_T, _T]]]:
    """The least and the greatest of what the lines from each box reach in each place."""
    return {
        place: {box: (min(reached), max(reached)) for box, reached in by_box.items()}
        for place, by_box in ends.items()
    }


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
