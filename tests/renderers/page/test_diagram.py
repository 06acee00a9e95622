"""The diagram in the file of a page: its boxes, links, arrows, words and heat maps."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers import diagram, tiny_models
from tests.helpers.command import printed, run_json
from tests.helpers.diagram import SVG
from tests.helpers.page_data import values_of_page
from tests.helpers.traces import bundled, traced
from tests.lesson.texts.test_wires import drawn, expected
from tests.renderers.page.conftest import Saved
from tracer.decoder.forward import Trace
from tracer.lesson.steps.declared import KINDS
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


def test_a_box_says_in_words_what_it_is(saved: Saved) -> None:
    """Then in symbols, where there is room and they are not the same."""
    html = saved("alex").read_text(encoding="utf-8")
    (svg,) = diagram.diagrams(html)
    labels = {int(b.get("data-step") or 0): "|".join(label(b)) for b in diagram.boxes(svg)}
    assert [labels[n] for n in (1, 4, 7, 8, 9)] == [
        *("embeddings", "query", "scores|Q · Kᵀ / √2", "mask", "attention weights")
    ]
    assert [labels[n] for n in (10, 20, 21)] == ["weighted sum|A · V", "residual|+", "LayerNorm"]
    assert [labels[n] for n in (22, 23)] == ["hidden units|· W₁", "activation|ReLU"]
    assert "embeddings and positions; input vectors" in (svg.findtext(f"{SVG}desc") or "")


def label(box: ElementTree.Element) -> list[str]:
    text = box.find(f"{SVG}text")
    assert text is not None
    return [part.strip() for part in text.itertext()]


def test_names_of_steps_fit_into_boxes() -> None:
    names = [kind.box_name for kind in KINDS if kind.sign is not None]
    assert len(names) > 40 and [name for name in names if not 0 < len(name) <= 18] == []


def test_rows_have_the_names_of_their_tokens(page: tuple[str, str, Trace]) -> None:
    """Each in its title; in the lowest boxes also beside them, as high as a line."""
    name, html, trace = page
    svg = diagram.diagrams(html)[0]
    encoder = trace.scenario.encoder
    of_tokens = {tuple(trace.tokens), *([tuple(encoder.tokens)] if encoder else [])}
    steps_of = {step.number: step for step in steps(trace.records)}
    beside = set()
    for box in diagram.boxes(svg):
        rows = [g for g in box.iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
        names = tuple(unescape(row.findtext(f"{SVG}title") or "") for row in rows)
        for i, row in enumerate(rows):
            assert {rect.get("y") for rect in row} - {None} == {str(i)}
        if rows and steps_of[int(box.get("data-step") or 0)].last.output.per_token:
            assert names in of_tokens or (name == "experts" and set(names) < set(trace.tokens))
        written = [text.text for text in box.findall(f"{SVG}text")[2:]]
        if written:
            assert tuple(written) == names
            beside.add(names)
    assert beside == of_tokens


def test_a_layer_of_a_checkpoint_has_the_numbers_of_its_text(tmp_path: Path) -> None:
    """Of 32 columns or more the page has some; the boxes are those of the layer that is asked."""
    scenario, html = tiny_models.scenario(tmp_path), tmp_path / "page.html"
    printed("page", scenario, "--layer", "2", "--head", "1", "-o", str(html))
    text = html.read_text(encoding="utf-8")
    known = values_of_page(text)
    (svg,) = diagram.diagrams(text)
    assert "layer 2" in [t.text for t in svg.iter(f"{SVG}text") if t.get("class") == "title"]
    reduced = 0
    for box in diagram.boxes(svg):
        cells = [(c.get("data-number") or "").split(":") for c in diagram.cells(box)]
        (source,) = {int(of) for of, _ in cells}
        assert known[source]["address"].startswith("layer2.")
        entries, (rows, columns) = known[source]["entries"], map(len, known[source]["labels"])
        whole = [j for j in range(columns) if all(f"{i},{j}" in entries for i in range(rows))]
        left_out = f"without {columns - len(whole)} columns that the text leaves out"
        assert (left_out in words_of(box)) == (len(whole) < columns)
        reduced += len(whole) < columns
        shown = {f"{i},{j}" for i in range(rows) for j in whole}
        largest = max(shown, key=lambda at: abs(float(readable(entries[at]["number"]))))
        deepest = [c.get("data-number") for c in diagram.cells(box) if c.get("fill-opacity") == "1"]
        assert f"{source}:{largest}" in deepest
        assert {int(at.split(",")[1]) for _, at in cells} <= set(whole)
    assert reduced > 5


def readable(number: str) -> str:
    """A number as Python reads it; −∞ and those that are written with a power of ten are small."""
    return "0" if "×" in number or "∞" in number else number


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
