"""The diagram follows the text, the text the diagram, and the way of a number is lit in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import diagram
from tests.helpers.browser import opened, unfold, violations
from tests.helpers.command import printed
from tests.helpers.page_data import values_of_page
from tests.helpers.small_scenario import SMALL
from tests.renderers.page.conftest import Saved

LIT = """() => ({
  steps: [...document.querySelectorAll(".box.on-way")].map(box => Number(box.dataset.step)),
  holds: [...document.querySelectorAll(".box.holds")].map(box => Number(box.dataset.step)),
  cells: [...document.querySelectorAll(".diagram .way")].map(cell => cell.dataset.number),
  wires: [...document.querySelectorAll(".wire.on-way")].map(
    wire => [Number(wire.dataset.from), Number(wire.dataset.to)]),
})"""

POINT = """of => {
  const cells = [...document.querySelectorAll(`td[data-of="${of}"]`)];
  const cell = cells.find(each => each.checkVisibility()) || cells[0];
  cell.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, cancelable: true}));
}"""


def test_the_way_of_a_number_is_lit(alex: Any, saved: Saved) -> None:
    """The boxes, and the cells, of all numbers that it is computed from, and no others."""
    html = saved("alex").read_text(encoding="utf-8")
    known = values_of_page(html)
    (svg,) = diagram.diagrams(html)
    holding = {
        int(box.get("data-step") or 0): set((box.get("data-values") or "").split())
        for box in diagram.boxes(svg)
    }
    cells = {c.get("data-number") or "" for box in diagram.boxes(svg) for c in diagram.cells(box)}
    shown = alex.evaluate("[...document.querySelectorAll('td[data-of]')].map(n => n.dataset.of)")
    for of in sorted(set(shown))[:: len(set(shown)) // 25]:
        way = diagram.way(of, known)
        sources = {number.split(":")[0] for number in way}
        expected = {step for step, values in holding.items() if values & sources}
        alex.evaluate(POINT, of)
        lit = alex.evaluate(LIT)
        assert set(lit["steps"]) == expected, of
        assert lit["holds"] == [s for s, values in holding.items() if of.split(":")[0] in values]
        assert set(lit["cells"]) == way & cells
        arrows = {(a, b) for a, b in diagram.arrows(svg) if {a, b} <= expected}
        assert {tuple(wire) for wire in lit["wires"]} == arrows
        alex.keyboard.press("Escape")
        assert alex.locator(".lit, .on-way, .box.holds, .way").count() == 0


def test_a_cell_of_a_heat_map_is_pointed_at(alex: Any) -> None:
    cell = alex.locator(".box[data-step='7'] [data-number$=':3,0']")
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    alex.mouse.move(1, 1)
    alex.mouse.move(box["x"] + 2, box["y"] + 2)
    assert alex.locator("#line .title").inner_text() == "S¹[Alex, Frank] ="
    assert alex.locator("#step-7 td.here").count() == 1


IN_VIEW = """(box) => {
  const [inner, around, legend] = [box, ".drawing", ".diagram .legend"].map(
    each => document.querySelector(each).getBoundingClientRect());
  return inner.top >= around.top && inner.bottom <= around.bottom
    && inner.left >= around.left && inner.right <= around.right && legend.bottom <= around.top;
}"""
LETTERS = """() => [...document.querySelectorAll(".drawing text")].map(
  each => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().d)"""


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
@pytest.mark.parametrize("name", ["alex", pytest.param("pizza", marks=pytest.mark.fuzz)])
def test_it_opens_where_the_reader_is(name: str, width: int, browser: Any, saved: Saved) -> None:
    """At the input of the followed token, or at a step; with its legend, in legible letters."""
    size = {"viewport": {"width": width, "height": 800}, "reduced_motion": "reduce"}
    first = {"alex": 1, "pizza": 2}[name]  # step 1 of pizza is of the encoder
    places = [("", f".box[data-step='{first}']"), ("#step-25", ".box[data-step='25']")]
    for at, box in places:
        with opened(browser, saved(name), at, everything=False, **size) as page:
            if at:
                page.wait_for_selector(f"{box}[aria-current]", state="attached")
            diagram = page.locator("details.diagram")
            if width == 390:
                diagram.locator("summary").click()
            page.wait_for_function(IN_VIEW, arg=box)
            legend, drawing = (diagram.locator(each) for each in (".legend", ".drawing"))
            if width >= 1280:
                assert legend.bounding_box()["y"] >= 0
                below = drawing.bounding_box()
                assert below["y"] + below["height"] <= 800
            assert round(min(page.evaluate(LETTERS)), 2) >= 11
            assert page.evaluate("document.documentElement.scrollWidth") == width


def test_diagram_and_text_follow_each_other(alex: Any) -> None:
    """Scroll the text: its box is marked and in view. Follow a box: the text goes to its step."""
    alex.emulate_media(reduced_motion="reduce")
    unfold(alex)
    for step in (3, 26, 10):
        alex.locator(f"#step-{step}").evaluate("n => n.scrollIntoView()")
        alex.wait_for_selector(f".box[data-step='{step}'][aria-current=step]")
        assert alex.locator("[aria-current=step]").count() == 1
        assert alex.evaluate(IN_VIEW, ".box[aria-current]")
    box = alex.locator("a.box[data-step='21']")
    alex.locator("a.box[data-step='20']").focus()
    alex.keyboard.press("ArrowUp")
    assert alex.evaluate("document.activeElement.dataset.step") == "21"
    for _ in range(2):  # also when it is followed once more
        box.focus()
        alex.evaluate("scrollTo(0, 0)")
        alex.keyboard.press("Enter")
        alex.wait_for_selector(".box[data-step='21'][aria-current=step]")
        tops = (alex.locator("#step-21").bounding_box()["y"] for _ in range(100))
        assert any(0 <= top < 200 for top in tops)


def test_it_marks_the_row_of_the_token(alex: Any) -> None:
    row = alex.locator(".box[data-step='7'] .followed")
    for i, token in enumerate(("Frank", "Emma", "Daniel", "Alex")):
        alex.select_option("#token", label=token)
        assert row.get_attribute("y") == str(i)


def rectangles(page: Any) -> dict[str, dict[str, float]]:
    return {name: page.locator(name).bounding_box() for name in (".diagram", "#text", "#panel")}


@pytest.mark.parametrize("width", [768, 1280, 1920])
def test_nothing_overlaps(width: int, alex: Any) -> None:
    """Beside the text, where there is room; the panel covers neither what is pointed at nor it."""
    alex.set_viewport_size({"width": width, "height": 900})
    cell = alex.locator("#step-7 td[data-of]").last
    cell.click()
    assert alex.evaluate("document.documentElement.scrollWidth") <= width
    drawn, text, panel = (rectangles(alex)[name] for name in (".diagram", "#text", "#panel"))
    box = cell.bounding_box()
    if width == 768:
        assert drawn["x"] == text["x"] + 16  # it stands in the text
        return
    assert drawn["x"] == 0 and drawn["height"] == 900
    assert drawn["width"] <= text["x"] + 1 and drawn["width"] <= panel["x"] + 1
    beside = panel["x"] >= text["x"] + text["width"]
    assert beside == (width == 1920)
    below, above = (a["y"] + a["height"] <= b["y"] for a, b in ((box, panel), (panel, box)))
    assert beside or below or above
    right = panel if beside else text
    assert width - (right["x"] + right["width"]) < 40  # all of the width is used


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.fuzz)])
def test_nothing_is_in_the_way_of_readers(scheme: str, browser: Any, tmp_path: Path) -> None:
    html = tmp_path / "small.html"
    printed("page", "-", "-o", str(html), stdin=SMALL)
    with opened(browser, html, color_scheme=scheme) as page:
        page.locator("#step-7").evaluate("n => n.scrollIntoView()")
        page.wait_for_selector("[aria-current=step]")
        page.locator("#step-7 td[data-of]").last.click()
        assert page.locator(".on-way").count() > 5
        assert violations(page) == []


def test_on_a_telephone_and_on_paper(browser: Any, saved: Saved) -> None:
    """Folded away on a telephone, readable by touch; printed once, whole."""
    size = {"width": 390, "height": 800}
    with opened(browser, saved("alex"), viewport=size) as page:
        folded = page.locator("details.diagram")
        assert folded.get_attribute("open") is None
        folded.locator("summary").click()
        assert page.locator("a.box:visible").count() == 27
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        folded.locator("summary").click()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator(".diagram svg:visible").count() == 1
        drawing, svg = (page.locator(s).bounding_box() for s in (".drawing", ".drawing svg"))
        assert svg["width"] <= drawing["width"] and svg["height"] <= drawing["height"] + 1
