"""From a number to its sources, and back, by keyboard alone; the focus is never lost."""

from __future__ import annotations

from typing import Any

from tests.helpers.browser import focused, opened
from tests.renderers.page.conftest import Saved


def test_from_a_number_to_its_source_and_back(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex")) as page:
        page.evaluate("document.querySelector('#step-7 [data-first-token] td[tabindex]').focus()")
        start = focused(page)
        for key in ("ArrowDown", "End", "ArrowLeft"):
            page.keyboard.press(key)
        there = start.split(":")[0] + ":1,2"
        assert focused(page) == there
        assert page.locator("#line .title").inner_text() == "S¹[Emma, Daniel] ="
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        names = ["S¹[Emma, Daniel]", "Q¹[Emma, street-stall]"]
        assert page.locator("#trail li").all_inner_texts() == names
        assert page.evaluate("document.activeElement.closest('section').id") == "step-4"
        page.keyboard.press("Backspace")
        assert focused(page) == there
        page.keyboard.press("Escape")
        assert page.locator("#panel button:visible").count() == 0
        assert focused(page) == there


def test_a_number_that_stands_in_no_matrix(browser: Any, saved: Saved) -> None:
    """Its name in the trail has the focus; and Escape leads to where the way began."""
    with opened(browser, saved("alex")) as page:
        cell = page.locator("#step-7 td[data-of]").first
        cell.focus()
        start = focused(page)
        page.locator("#line [data-go]:text-is('2')").first.focus()
        page.keyboard.press("Enter")
        assert focused(page) == "d_k¹" or focused(page) == "d_k"
        page.keyboard.press("Escape")
        assert focused(page) == start


def test_everything_is_reached_by_tab(browser: Any, saved: Saved) -> None:
    """Choose, point, walk, reveal, try, without a mouse."""
    with opened(browser, saved("alex")) as page:

        def press(*keys: str) -> str:
            for key in keys:
                page.keyboard.press(key)
                assert page.evaluate("document.activeElement !== document.body")
            return focused(page)

        page.keyboard.press("Tab")
        assert press("ArrowUp") == "token"
        assert page.locator("#step-4 tr.followed th").text_content() == "Daniel"
        assert press("Tab", "Tab", "Space") == "unmasked"
        assert page.is_checked("#unmasked")
        assert press("Tab") == "board"
        assert press("Enter", "Enter", "ArrowRight", "Shift+Tab", "Enter") == "before"
        assert page.locator("body.board .unrevealed").count() > 0
        assert press("Escape") == "board"
        assert press("Tab", "Space") == "try"
        answers = page.locator(".working input")
        while press("Tab") and not page.evaluate("document.activeElement.matches('.working *')"):
            pass
        press("1", "Enter")
        assert answers.nth(1).evaluate("n => n === document.activeElement")
        assert page.locator(".verdict").count() == 1
        answers.last.focus()
        press("1", "Enter")
        page.focus("#try")
        press("Space")
        while press("Tab") and not page.evaluate("document.activeElement.matches('td')"):
            pass
        assert page.locator("#line").inner_text()
        press("ArrowRight", "ArrowDown", "Enter", "Escape")
