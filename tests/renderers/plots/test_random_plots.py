"""Illustrations of random scenarios: everything in its frame, in every format that has pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any
from xml.etree import ElementTree

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

SVG = "{http://www.w3.org/2000/svg}"
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
    line = r"\\put\((-?[\d.]+),(-?[\d.]+)\)\{\\line\(([01]),([01])\)\{([\d.]+)\}"
    for found_line in re.findall(line, latex):
        x, y, across, up, length = map(float, found_line)
        yield x + across * length, y + up * length
    for way in re.findall(r"\\qbezier((?:\([^()]*\)){3})", latex):
        x1, y1, _, _, x2, y2 = map(float, re.findall(r"-?[\d.]+", way))
        yield from ((x1, y1), (x2, y2))


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
    assert "linethickness{0.00pt}" not in latex
    unescaped = re.sub(r"\\[{}]", "", latex)
    assert unescaped.count("{") == unescaped.count("}")
    assert figures.description(block).endswith(".")
    return True


@settings(max_examples=7, deadline=None)
@given(whole_scenarios())
def test_everything_is_inside_of_its_frame(spec: Scenario) -> None:
    assert all(map(is_whole, illustrations(spec)))
