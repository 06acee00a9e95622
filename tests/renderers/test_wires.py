"""The lines of a picture's arrows: each from its box to its box, through none and over none."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise, product

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import Scenario, scenarios
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tests.lesson.texts.test_wires import drawn, learned, pairs
from tests.renderers.test_picture import with_heads
from tracer.lesson.document import Box, Picture
from tracer.lesson.texts.picture import picture_back
from tracer.node import found
from tracer.renderers.picture.boxes import sign
from tracer.renderers.picture.stack import Spot
from tracer.renderers.picture.wires import Point, Wires

several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def size(box: Box, alone: bool) -> tuple[float, float]:
    return 8 * len(sign(box)) + 30 + box.step % 7, 40 if alone else 60


def inside(spot: Spot, one: Point, other: Point) -> bool:
    """Whether a straight piece of a line goes through the inside of a box."""
    (x1, x2), (y1, y2) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    across = x1 < spot.x + spot.width / 2 - 0.1 and x2 > spot.x - spot.width / 2 + 0.1
    return across and y1 < spot.y + spot.height - 0.1 and y2 > spot.y + 0.1


def on_edge(spot: Spot, point: Point) -> bool:
    x, y = point[0] - spot.x, point[1] - spot.y
    beside = abs(abs(x) - spot.width / 2) < 0.01 and 0 < y < spot.height
    return beside or (abs(x) < spot.width / 2 and min(abs(y), abs(y - spot.height)) < 0.01)


def overlaps(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two straight pieces run along each other."""
    for along, beside in ((0, 1), (1, 0)):
        if one[0][beside] == one[1][beside] == other[0][beside] == other[1][beside]:
            (a, b), (c, d) = (sorted(p[along] for p in piece) for piece in (one, other))
            return min(b, d) - max(a, c) > 0.01
    return False


def assert_drawn(picture: Picture, *, forward: bool = True) -> None:
    """Only lines from the same box, or in a backward pass to the same box, run together."""
    wires = Wires(picture, size)
    spots = wires.placing.spots
    for one, other in combinations(spots.values(), 2):
        assert (
            abs(one.x - other.x) >= (one.width + other.width) / 2
            or one.y >= other.y + other.height
            or other.y >= one.y + one.height
        )
    lines = {(w.wire.source, w.wire.reader): w.corners for w in wires.lines}
    assert set(lines) == {(a, b) for a, b in pairs(picture) if a in spots and b in spots}
    pieces = defaultdict(list)
    for (source, reader), corners in lines.items():
        assert on_edge(spots[source], corners[0]), (source, reader)
        assert on_edge(spots[reader], corners[-1]), (source, reader)
        for piece in pairwise(corners):
            (x1, y1), (x2, y2) = piece
            assert x1 == x2 or y1 == y2
            through = [step for step, spot in spots.items() if inside(spot, *piece)]
            assert through == [], (source, reader)
            pieces[source if forward else reader].append(piece)
    for (_, of_one), (_, of_other) in combinations(pieces.items(), 2):
        assert not [each for each in product(of_one, of_other) if overlaps(*each)]


@several
@given(scenario=scenarios(epsilons=("0.1",)) | scenarios(epsilons=("0.1",), alike=True))
def test_lines_lead_from_box_to_box_around_the_others(scenario: Scenario) -> None:
    assert_drawn(drawn(traced_or_rejected(scenario)))


@several
@given(scenario=learning_scenarios())
def test_gradients_run_together_only_where_they_are_added(scenario: Scenario) -> None:
    assert_drawn(drawn(learned(scenario), picture_back), forward=False)


@pytest.mark.parametrize("name", ["alex", "pizza", "picture", "experts", "comics", "lora"])
def test_so_they_do_in_bundled_scenarios(name: str) -> None:
    assert_drawn(drawn(bundled(name)))


@pytest.mark.parametrize(("heads", "shown"), [(1, 1), (4, 4), (5, 3), (12, 3)])
def test_of_many_heads_a_few_are_drawn(heads: int, shown: int) -> None:
    picture = drawn(traced(with_heads(heads)))
    assert_drawn(picture)
    wires = Wires(picture, size)
    signs = [sign(spot.box) for spot in wires.placing.spots.values()]
    assert signs.count("A · V") == shown
    assert len(list(found(picture.decoder, Box))) - len(signs) == 7 * (heads - shown)
