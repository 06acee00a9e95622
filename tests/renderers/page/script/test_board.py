"""The board: nothing is seen before it is revealed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from tests.helpers.browser import focused
from tests.renderers.page.conftest import SIZE


def on_board(alex: Any, step: str) -> None:
    """Put a step on the board, line by line."""
    alex.evaluate(f"document.getElementById('{step}').scrollIntoView()")
    alex.locator("#board").press("Enter")
    alex.check("#line-by-line")
    assert focused(alex) == "next"
    assert alex.locator(".current").get_attribute("id") == step


@pytest.mark.parametrize(("onward", "back"), [("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")])
def test_the_board_goes_line_by_line(onward: str, back: str, alex: Any) -> None:
    """With the keys of a keyboard, and with those that a presenter's remote sends."""
    on_board(alex, "step-7")
    seen = alex.locator(".current .result:visible")
    pieces = alex.locator("#step-7 .unrevealed").count()
    results = [seen.count()]
    for _ in range(pieces):
        alex.keyboard.press(onward)
        results.append(seen.count())
    assert results == sorted(results)
    assert set(results) == {0, 1, 2, 3, 4, 5}
    assert alex.locator("#step-7 .unrevealed").count() == 0
    alex.keyboard.press(onward)
    assert alex.locator(".current").get_attribute("id") == "step-8"
    assert alex.locator("#step-8 .unrevealed").count() > 3
    alex.keyboard.press(back)
    assert alex.locator(".current").get_attribute("id") == "step-7"
    assert alex.locator("#step-7 .unrevealed").count() == 0
    alex.keyboard.press("Home")
    assert alex.locator("#step-7 .unrevealed").count() == pieces
    alex.keyboard.press("End")
    assert alex.locator("#step-7 .unrevealed").count() == 0
    assert alex.locator(".kept").count() == 1
    assert alex.locator("#operands caption").all_text_contents() == ["Q1", "K1"]
    alex.keyboard.press("Escape")
    assert alex.locator(".unrevealed, .current, .restated, .kept, #operands *").count() == 0
    assert alex.locator("#controls").is_visible()
    assert focused(alex) == "board"


PLACE = re.compile(r"step (\d+) of (\d+), line (\d+) of (\d+)")


def test_a_press_reveals_a_reason_with_its_lines(alex: Any) -> None:
    """Alex takes at most 120 presses, and the counter counts each of them."""
    alex.evaluate("scrollTo(0, 0)")
    alex.locator("#board").press("Enter")
    places = [alex.locator("#board-place").inner_text()]
    while alex.locator(".current").get_attribute("id") != "summary":
        before = alex.locator("section.current .unrevealed").count()
        shown = alex.locator("section.current .result:visible").count()
        alex.keyboard.press("ArrowRight")
        places.append(alex.locator("#board-place").inner_text())
        if before:
            assert alex.locator("section.current .unrevealed").count() < before
            if alex.locator("section.current .result:visible").count() == shown:
                assert alex.locator("section.current .working .unrevealed").count() < before
    assert len(places) <= 120
    counted = [tuple(map(int, found.groups())) for found in map(PLACE.fullmatch, places) if found]
    steps = [int(title) for title in alex.evaluate(STEP_NUMBERS)]
    assert [step for step, _, line, _ in counted if line == 1] == steps
    assert {total for _, total, _, _ in counted} == {max(steps)}
    for (step, _, line, lines), (then, _, following, _) in pairwise(counted):
        assert (then, following) == (step, line + 1) if line < lines else following == 1


STEP_NUMBERS = """() => [...document.querySelectorAll(".step:not([hidden]) > h3")]
  .map(title => /^\\d+/.exec(title.textContent)).filter(found => found).map(found => found[0])"""


def test_the_small_diagram_marks_the_step(alex: Any) -> None:
    """It is a picture: nobody reaches it by keyboard, and no reader reads it twice."""
    for step in ("step-7", "step-21"):
        alex.evaluate(f"document.getElementById('{step}').scrollIntoView()")
        alex.locator("#board").press("Enter")
        marked = alex.locator("#board-map [aria-current]")
        assert marked.get_attribute("href") == f"#{step}"
        assert marked.get_attribute("tabindex") == "-1"
        small, step_shown = (alex.locator(at).bounding_box() for at in ("#board-map", f"#{step}"))
        assert step_shown["x"] + step_shown["width"] <= small["x"]
        assert small["x"] + small["width"] <= SIZE["width"]
        alex.keyboard.press("Escape")


def test_it_begins_with_content_and_keeps_the_operands_in_view(alex: Any) -> None:
    """Also at step 14, whose matrices other steps show: “as in step 7”."""
    on_board(alex, "step-16")  # step 14 is folded away, so that nobody scrolls to it
    alex.evaluate("location.hash = 'step-14'")
    alex.wait_for_selector("#step-14.current")
    assert (
        alex.locator("#step-14 > p:visible")
        .first.text_content()
        .startswith("S2 is computed as in step 7")
    )
    for _ in range(alex.locator("#step-14 .unrevealed").count()):
        alex.keyboard.press(" ")
        captions = alex.locator("#operands caption")
        line = alex.evaluate("[...document.querySelectorAll('#step-14 li .lit')].length")
        if captions.count():
            assert captions.all_text_contents() == ["Q2", "K2"]
            assert line == 0 or alex.locator("#operands td.lit").count() == 4
    operands, step = (alex.locator(at).bounding_box() for at in ("#operands", "#step-14"))
    assert operands["x"] + operands["width"] <= step["x"]
    assert operands["y"] >= 0
    assert operands["y"] + operands["height"] <= alex.viewport_size["height"]
    sizes = "at => parseFloat(getComputedStyle(document.querySelector(at)).fontSize)"
    assert alex.evaluate(sizes, "#step-14 li") > 17
    alex.set_viewport_size({"width": 390, "height": 740})
    alex.evaluate("scrollTo(0, 9999)")
    operands = alex.locator("#operands").bounding_box()
    assert 0 <= operands["y"] < 10
    assert alex.evaluate("document.documentElement.scrollWidth") == 390


def test_on_the_board_a_link_leads_on_and_numbers_are_left_alone(alex: Any) -> None:
    on_board(alex, "step-7")
    for _ in range(alex.locator("#step-7 .unrevealed").count()):
        alex.keyboard.press("ArrowRight")
    alex.locator("#step-7 td[data-of]").first.click()
    alex.locator("#step-7 .number").first.click()
    assert alex.locator("#line:empty").count() == 1
    alex.click("#step-7 a[href='#step-4']")
    alex.wait_for_selector("#step-4.current")
    assert focused(alex) == "next"
    assert alex.locator("#board-map [aria-current]").get_attribute("href") == "#step-4"
    alex.keyboard.press("Escape")
    assert alex.locator("#board-map *").count() == 0
