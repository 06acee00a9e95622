"""The diagram in the file of a page: its boxes, links, arrows, words and heat maps."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers import diagram
from tests.helpers.command import printed, run_json
from tests.helpers.diagram import SVG
from tests.helpers.page_data import values_of_page
from tests.helpers.traces import bundled, traced
from tests.lesson.texts.test_wires import drawn, expected
from tests.renderers.page.conftest import Saved
from tracer.decoder.forward import Trace
from tracer.lesson.texts.selection import steps

PARALLEL = """\
title: In parallel
tokens: [a, b]
embeddings: [[1, 2], [3, 4]]
layers:
  - parallel: true
    attention: {heads: [{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}]}
    ffn: {W_1: [[1], [2]], W_2: [[1, 2]]}
"""


NAMES = ("alex", "picture", "experts", "parallel", pytest.param("pizza", marks=pytest.mark.fuzz))


@pytest.fixture(scope="module", params=NAMES)
def page(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Trace]:
    """A scenario, its page with every step, and its pass."""
    name = request.param
    is_bundled = name != "parallel"
    html = tmp_path_factory.mktemp(name) / "page.html"
    scenario, stdin = (name, "") if is_bundled else ("-", PARALLEL)
    printed("page", scenario, "--detail", "full", "-o", str(html), stdin=stdin)
    found = bundled(name) if is_bundled else traced(PARALLEL)
    return name, html.read_text(encoding="utf-8"), found


def test_each_step_is_a_box_that_links_to_it(page: tuple[str, str, Trace]) -> None:
    """In the order of the computation, which is that of the keyboard."""
    _, html, trace = page
    svg = diagram.diagrams(html)[0]
    every = range(1, len(steps(trace.records)) + 1)
    boxes = diagram.boxes(svg)
    assert [int(box.get("data-step") or 0) for box in boxes] == list(every)
    assert [box.get("href") for box in boxes] == [f"#step-{number}" for number in every]
    assert all(f'id="step-{number}"' in html for number in every)


def test_boxes_lead_to_sections_of_several_steps(saved: Saved) -> None:
    html = saved("alex", "--detail", "normal").read_text(encoding="utf-8")
    boxes = diagram.boxes(diagram.diagrams(html)[0])
    assert len(boxes) == 27 and ">11–17. Head 2</h" in html
    assert all(f'id="{str(box.get("href")).removeprefix("#")}"' in html for box in boxes)
    assert all(html.count(f'id="step-{number}"') == 1 for number in range(1, 28))


def test_a_part_of_a_pass_has_the_diagram_of_its_own_steps(saved: Saved) -> None:
    """Not that of the first layer, which is drawn for all that are built alike."""
    html = saved("pizza", "--layer", "2", "--head", "1", "--detail", "full").read_text(
        encoding="utf-8"
    )
    title = '"I like pizza" becomes "Me gusta la pizza": layer 2, head 1'
    assert unescape(re.findall("<title>(.*?)</title>", html)[0]) == title
    (svg,) = diagram.diagrams(html)
    sections = re.findall(r'<section class="step" id="(step-\d+)"', html)
    assert [box.get("href") for box in diagram.boxes(svg)] == [f"#{name}" for name in sections]
    assert len(sections) > 10


def test_its_arrows_are_those_of_the_tape(page: tuple[str, str, Trace]) -> None:
    """Also in words: each box names the steps that it reads."""
    _, html, trace = page
    svg = diagram.diagrams(html)[0]
    arrows = diagram.arrows(svg)
    assert len(arrows) == len(set(arrows))
    assert set(arrows) == expected(trace, drawn(trace))
    for box in diagram.boxes(svg):
        words = (box.findtext(f"{SVG}title") or "").partition(", from step")[2]
        read = sorted(source for source, reader in arrows if str(reader) == box.get("data-step"))
        assert [int(number) for number in re.findall(r"\d+", words)] == read


def test_a_parallel_ffn_reads_what_attention_reads(page: tuple[str, str, Trace]) -> None:
    name, html, trace = page
    if name == "parallel":
        w_1 = next(s for s in steps(trace.records) if s.last.output.address == "layer1.ffn.hidden")
        read = [a for a, b in diagram.arrows(diagram.diagrams(html)[0]) if b == w_1.number]
        assert [steps(trace.records)[n - 1].last.output.address for n in read] == ["input"]


def test_lines_begin_and_end_at_their_boxes(page: tuple[str, str, Trace]) -> None:
    svg = diagram.diagrams(page[1])[0]
    places = {}
    for box in diagram.boxes(svg):
        x, y = map(float, numbers(box.get("transform")))
        edge = box.find(f"{SVG}rect")
        assert edge is not None
        places[int(box.get("data-step") or 0)] = x, y, *(float(edge.get(s) or 0) for s in SIDES)
    wires = [each for each in svg.iter(f"{SVG}path") if each.get("class") == "wire"]
    for wire, ends in zip(wires, diagram.arrows(svg), strict=True):
        line = numbers((wire.get("d") or "").split("M")[1])
        points = [(float(x), float(y)) for x, y in zip(line[::2], line[1::2], strict=True)]
        for point, step in zip((points[0], points[-1]), ends, strict=True):
            left, top, width, height = places[step]
            x, y = point[0] - left, point[1] - top
            assert -0.2 < x < width + 0.2 and -0.2 < y < height + 0.2
            assert min(abs(x), abs(x - width), abs(y), abs(y - height)) < 0.2
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points))


SIDES = ("width", "height")


def numbers(attribute: str | None) -> list[str]:
    return re.findall(r"-?[\d.]+", attribute or "")


def test_its_colors_are_those_of_the_numbers(page: tuple[str, str, Trace]) -> None:
    """A color for each number of the result, as deep as the number is large, by its sign."""
    name, html, trace = page
    ran = run_json("-", stdin=PARALLEL) if name == "parallel" else run_json(name)
    at = {value["address"]: value for value in ran["values"]}
    known = values_of_page(html)
    seen = 0
    of_step = {step.number: step.last.output.address for step in steps(trace.records)}
    for box in diagram.boxes(diagram.diagrams(html)[0]):
        value = at[of_step[int(box.get("data-step") or 0)]]
        cells = diagram.cells(box)
        if not cells:
            shown = {source["address"] for source in known}
            assert len(value["shape"]) < 2 or value["address"] not in shown
            continue
        rows, columns = value["shape"]
        assert len(cells) == rows * columns
        largest = max(abs(x) for row in value["data"] for x in row if isinstance(x, float | int))
        for cell in cells:
            source, index = (cell.get("data-number") or "").split(":")
            i, j = map(int, index.split(","))
            assert known[int(source)]["address"] == value["address"]
            assert (cell.get("x"), cell.get("y")) == (str(j), str(i))
            number = value["data"][i][j]
            finite = number if isinstance(number, float | int) else 0  # no color for −∞
            share = abs(finite) / (largest or 1)
            assert abs(float(cell.get("fill-opacity") or 0) - share) <= 0.0501
            assert (cell.get("class") == "heat") == (not number or finite > 0)
            seen += 1
    assert seen >= 40


def test_the_backward_pass_has_its_own(saved: Saved) -> None:
    """Its arrows lead down, from the loss; its maps are of gradients."""
    html = saved("alex-learns", "--train").read_text(encoding="utf-8")
    forward, backward = diagram.diagrams(html)
    known = values_of_page(html)
    boxes = diagram.boxes(backward)
    assert all(box.get("href") for box in boxes)
    sources = {(c.get("data-number") or "").split(":")[0] for b in boxes for c in diagram.cells(b)}
    assert {known[int(source)]["address"].split(".")[0] for source in sources} == {"gradient"}
    assert len(sources) > len(boxes) / 2
    y = {box.get("data-step"): float(numbers(box.get("transform"))[1]) for box in boxes}
    assert all(y[str(source)] < y[str(reader)] for source, reader in diagram.arrows(backward))
    assert len(diagram.arrows(backward)) > len(boxes) / 2
    assert diagram.arrows(forward)


TOKENS = 18
MANY = f"""\
title: Many
tokens: [{", ".join(f"w{i}" for i in range(TOKENS))}]
embeddings: {[[i % 7 - 3, i % 5, -i % 4] for i in range(TOKENS)]}
layers:
  - attention:
      heads: [{{W_Q: [[1], [0], [1]], W_K: [[0], [1], [1]], W_V: [[1], [1], [0]]}}]
      W_O: [[1, 0, 1]]
"""


def test_a_large_value_is_reduced(tmp_path: Path) -> None:
    """Each cell is the number of largest size of its block, and the box says so."""
    html = tmp_path / "page.html"
    printed("page", "-", "-o", str(html), stdin=MANY)
    text = html.read_text(encoding="utf-8")
    (scores,) = (b for b in diagram.boxes(diagram.diagrams(text)[0]) if "√" in words_of(b))
    assert words_of(scores).endswith("the number of largest size in 2 rows and 2 columns")
    cells = diagram.cells(scores)
    assert len(cells) == 9 * 9
    value = run_json("-", stdin=MANY)["values"]
    (data,) = (v["data"] for v in value if v["address"] == "layer1.attention.head1.scores")
    for cell in cells:
        row, column = (int(cell.get(side) or 0) for side in ("y", "x"))
        i, j = map(int, (cell.get("data-number") or "").split(":")[1].split(","))
        assert (i // 2, j // 2) == (row, column)
        rows, columns = (range(2 * first, 2 * first + 2) for first in (row, column))
        block = [data[a][b] for a in rows for b in columns]
        assert abs(data[i][j]) == max(map(abs, block))
    (shown,) = (e for e in scores.iter(f"{SVG}g") if e.get("data-rows"))
    assert (shown.get("data-rows") or "").split() == [str(i // 2) for i in range(TOKENS)]
    (followed,) = (e for e in scores.iter(f"{SVG}rect") if e.get("class") == "followed")
    assert followed.get("y") == str((TOKENS - 1) // 2)


def words_of(box: ElementTree.Element) -> str:
    return box.findtext(f"{SVG}title") or ""
