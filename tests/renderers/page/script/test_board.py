"""The board: nothing is seen before it is revealed."""

from __future__ import annotations

from typing import Any

from tests.helpers.browser import focused, opened
from tests.renderers.page.conftest import Saved


def test_the_board_hides_what_is_not_yet_revealed(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex"), at="#step-7") as page:
        page.locator("#board").press("Enter")
        assert page.locator(".current").get_attribute("id") == "step-7"
        seen = page.locator(".current .result:visible")
        pieces = page.locator("#step-7 .unrevealed").count()
        results = [seen.count()]
        for _ in range(pieces):
            page.keyboard.press("ArrowRight")
            results.append(seen.count())
        assert results == sorted(results)
        assert set(results) == {0, 1, 2, 3, 4, 5}
        assert page.locator("#step-7 .unrevealed").count() == 0
        page.keyboard.press("ArrowRight")
        assert page.locator(".current").get_attribute("id") == "step-8"
        assert page.locator("#step-8 .unrevealed").count() > 3
        page.keyboard.press("ArrowLeft")
        assert page.locator(".current").get_attribute("id") == "step-7"
        assert page.locator("#step-7 .unrevealed").count() == 0
        page.keyboard.press("Escape")
        assert page.locator(".unrevealed").count() == 0
        assert page.locator("#controls").is_visible()
        assert focused(page) == "board"


def test_on_the_board_a_link_leads_on_and_numbers_are_left_alone(
    browser: Any, saved: Saved
) -> None:
    with opened(browser, saved("alex"), at="#step-7") as page:
        page.locator("#board").press("Enter")
        for _ in range(page.locator("#step-7 .unrevealed").count()):
            page.keyboard.press("ArrowRight")
        page.locator("#step-7 td[data-of]").first.click()
        page.locator("#step-7 .number").first.click()
        assert page.locator("#line:empty").count() == 1
        page.click("#step-7 a[href='#step-4']")
        page.wait_for_selector("#step-4.current")
        assert focused(page) == "next"
