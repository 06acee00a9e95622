"""Illustrations of random scenarios: everything in its frame, in every format that has pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import atan2, cos, degrees, dist, isfinite, radians, sin
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from tests.helpers.random_scenarios import Scenario
from tests.helpers.traces import traced_or_rejected
from tests.helpers.whole_scenarios import whole_scenarios
from tracer.lesson import document as doc
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.tutorial import tutorial
from tracer.node import found
from tracer.renderers import figures
from tracer.renderers.plots.illustrations import plot_of
from tracer.renderers.plots.in_latex import in_latex
from tracer.renderers.plots.marks import Path, Plot, Spot
from tracer.renderers.text import number_text

SVG = "{http://www.w3.org/2000/svg}"
BAR = (
    r"\\put\((-?[\d.]+),(-?[\d.]+)\)\{\\makebox\(0,0\)\{\\rotatebox\{(-?[\d.]+)\}"
    r"\{\\rule\{([\d.]+)pt\}\{([\d.]+)pt\}"
)
SLACK = 0.2
"""Coordinates are rounded."""


def illustrations(spec: Scenario) -> list[Any]:
    """Those of a tutorial, following its first and its last token."""
    run = traced_or_rejected(spec)
    chosen = steps(run.records)
    texts = (tutorial(run, chosen, token) for token in {0, len(run.tokens) - 1})
    parts = [(text.introduction, *(each.blocks for each in text.sections)) for text in texts]
    return [each for part in parts for each in found(part, doc.Illustration)]


def in_svg(image: str) -> Iterator[tuple[str, float, float]]:
    """The kind and the place of each corner that an image draws."""
    for element in ElementTree.fromstring(image).iter():
        kind = element.tag.removeprefix(SVG)
        if kind in ("rect", "text", "circle"):
            names = ("cx", "cy") if kind == "circle" else ("x", "y")
            x, y = (float(element.attrib[name]) for name in names)
            yield kind, x, y
            if kind == "rect":
                yield kind, x + float(element.attrib["width"]), y + float(element.attrib["height"])
        elif kind == "path":
            spots = re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.attrib["d"])
            bends = "Q" in element.attrib["d"]
            yield from (("path", float(x), float(y)) for x, y in (spots[::2] if bends else spots))


def in_picture(latex: str) -> Iterator[tuple[float, float]]:
    """Each place of a LaTeX picture."""
    for x, y in re.findall(r"\\put\((-?[\d.]+),(-?[\d.]+)\)", latex):
        yield float(x), float(y)
    for start, end, _ in bars(latex):
        yield from (start, end)


def bars(latex: str) -> Iterator[tuple[Spot, Spot, float]]:
    """The straight lines of a LaTeX picture, with their thickness."""
    unit = float(latex.split("unitlength}{")[1].split("pt")[0])
    for numbers in re.findall(BAR, latex):
        x, y, angle, length, thickness = map(float, numbers)
        across, up = (
            turn(radians(angle)) * (length - 0.1 * thickness) / unit / 2 for turn in (cos, sin)
        )
        yield (x - across, y - up), (x + across, y + up), thickness / unit


def is_whole(block: doc.Drawing) -> bool:
    """Whether all marks of both formats are finite and in the frame."""
    image = figures.image(block)
    left, top, width, height = map(float, ElementTree.fromstring(image).attrib["viewBox"].split())
    for _, x, y in in_svg(image):
        assert isfinite(x) and isfinite(y)
        assert left - SLACK <= x <= left + width + SLACK, image
        assert top - SLACK <= y <= top + height + SLACK, image
    latex = in_latex(plot_of(block))
    frame = re.search(r"\\begin\{picture\}\(([\d.]+),([\d.]+)\)\((-?[\d.]+),(-?[\d.]+)\)", latex)
    assert frame
    width, height, left, bottom = map(float, frame.groups())
    for x, y in in_picture(latex):
        assert left - SLACK <= x <= left + width + SLACK, latex
        assert bottom - SLACK <= y <= bottom + height + SLACK, latex
    assert all(line.startswith(r"\put(") for line in latex.split("\n")[2:-1])  # drops spaces
    unescaped = re.sub(r"\\[{}]", "", latex)
    assert unescaped.count("{") == unescaped.count("}")
    says_its_numbers(block, figures.description(block))
    return True


def says_its_numbers(block: doc.Drawing, said: str) -> None:
    """Whether the alternative has the numbers that a reader of the picture sees first."""
    assert said.endswith(".")
    match block:
        case doc.Plane(followed=followed, others=others):
            points = [point for trail in (followed, *others) for point in trail.points]
            ends = [f"({number_text(p.x)}, {number_text(p.y)})" for p in points]
            assert all(said.count(end) >= ends.count(end) for end in ends)
        case doc.HeatMaps(figure=figure, maps=maps, followed=row) if figure.scale is None:
            largest = [max(each.cells[row], key=lambda number: number.value) for each in maps]
            places = [said.index(f"in head {i} ") for i in range(1, len(maps) + 1)]
            parts = [said[i:j] for i, j in pairwise([*places, len(said)])]
            for number, part in zip(largest, parts, strict=True):
                assert part.rstrip("; .").endswith(f"({number_text(number)})")
        case doc.HeatMaps(maps=maps):
            for column in zip(*(row for each in maps for row in each.cells), strict=True):
                ordered = sorted(column, key=lambda number: number.value)
                low, high = map(number_text, (ordered[0], ordered[-1]))
                assert f" {low} and {high}" in said


@settings(max_examples=7, deadline=None)
@given(whole_scenarios())
def test_everything_is_inside_of_its_frame(spec: Scenario) -> None:
    assert all(map(is_whole, illustrations(spec)))


@pytest.mark.parametrize("control", [(5.0, 82.0), (38.0, -40.0), (70.0, 60.0)])
def test_a_curve_has_no_corners(control: Spot) -> None:
    """On paper a curve is many bars: each begins where the one before ends, nearly as it points."""
    arc = Path("positive", ((0.0, 0.0), control, (76.0, 0.0)), 16, bends=True)
    pieces = list(bars(in_latex(Plot("", "", 0, -100, 600, 200, (arc,)))))
    assert dist(pieces[0][0], (0, 0)) < SLACK > dist(pieces[-1][1], (76, 0))
    for (start, end, thickness), (begins, ends, _) in pairwise(pieces):
        assert thickness == pytest.approx(16, abs=SLACK)
        assert dist(end, begins) < SLACK
        turn = atan2(ends[1] - begins[1], ends[0] - begins[0]) - atan2(
            end[1] - start[1], end[0] - start[0]
        )
        assert abs(degrees(turn)) < 15
