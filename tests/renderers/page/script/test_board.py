"""The board: nothing is seen before it is revealed."""

from __future__ import annotations

from typing import Any

from tests.helpers.browser import focused


def test_the_board_hides_what_is_not_yet_revealed(alex: Any) -> None:
    alex.evaluate("document.getElementById('step-7').scrollIntoView()")
    alex.locator("#board").press("Enter")
    assert alex.locator(".current").get_attribute("id") == "step-7"
    seen = alex.locator(".current .result:visible")
    pieces = alex.locator("#step-7 .unrevealed").count()
    results = [seen.count()]
    for _ in range(pieces):
        alex.keyboard.press("ArrowRight")
        results.append(seen.count())
    assert results == sorted(results)
    assert set(results) == {0, 1, 2, 3, 4, 5}
    assert alex.locator("#step-7 .unrevealed").count() == 0
    alex.keyboard.press("ArrowRight")
    assert alex.locator(".current").get_attribute("id") == "step-8"
    assert alex.locator("#step-8 .unrevealed").count() > 3
    alex.keyboard.press("ArrowLeft")
    assert alex.locator(".current").get_attribute("id") == "step-7"
    assert alex.locator("#step-7 .unrevealed").count() == 0
    alex.keyboard.press("Escape")
    assert alex.locator(".unrevealed").count() == 0
    assert alex.locator("#controls").is_visible()
    assert focused(alex) == "board"


def test_on_the_board_a_link_leads_on_and_numbers_are_left_alone(alex: Any) -> None:
    alex.evaluate("document.getElementById('step-7').scrollIntoView()")
    alex.locator("#board").press("Enter")
    for _ in range(alex.locator("#step-7 .unrevealed").count()):
        alex.keyboard.press("ArrowRight")
    alex.locator("#step-7 td[data-of]").first.click()
    alex.locator("#step-7 .number").first.click()
    assert alex.locator("#line:empty").count() == 1
    alex.click("#step-7 a[href='#step-4']")
    alex.wait_for_selector("#step-4.current")
    assert focused(alex) == "next"
