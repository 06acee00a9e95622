"""From a number to its sources, and back, by keyboard alone; the focus is never lost."""

from __future__ import annotations

from typing import Any

from tests.helpers.browser import focused


def test_from_a_number_to_its_source_and_back(alex: Any) -> None:
    alex.evaluate("document.querySelector('#step-7 [data-first-token] td[tabindex]').focus()")
    start = focused(alex)
    for key in ("ArrowDown", "End", "ArrowLeft"):
        alex.keyboard.press(key)
    there = start.split(":")[0] + ":1,2"
    assert focused(alex) == there
    assert alex.locator("#line .title").inner_text() == "S¹[Emma, Daniel] ="
    alex.keyboard.press("Enter")
    alex.keyboard.press("Enter")
    names = ["S¹[Emma, Daniel]", "Q¹[Emma, street-stall]"]
    assert alex.locator("#trail li").all_inner_texts() == names
    assert alex.evaluate("document.activeElement.closest('section').id") == "step-4"
    alex.keyboard.press("Backspace")
    assert focused(alex) == there
    alex.keyboard.press("Escape")
    assert alex.locator("#panel button:visible").count() == 0
    assert focused(alex) == there


def test_a_number_that_stands_in_no_matrix(alex: Any) -> None:
    """Its name in the trail has the focus; and Escape leads to where the way began."""
    cell = alex.locator("#step-7 td[data-of]").first
    cell.focus()
    start = focused(alex)
    alex.locator("#line [data-go]:text-is('2')").first.focus()
    alex.keyboard.press("Enter")
    assert focused(alex) == "d_k¹" or focused(alex) == "d_k"
    alex.keyboard.press("Escape")
    assert focused(alex) == start


def test_everything_is_reached_by_tab(alex: Any) -> None:
    """Choose, point, walk, reveal, try, without a mouse."""

    def press(*keys: str) -> str:
        for key in keys:
            alex.keyboard.press(key)
            assert alex.evaluate("document.activeElement !== document.body")
        return focused(alex)

    alex.focus("#token")
    assert press("ArrowUp") == "token"
    assert alex.locator("#step-4 tr.followed th").text_content() == "Daniel"
    assert press("Tab", "Tab") == "board"
    assert press("Enter", "Enter", "ArrowRight", "Shift+Tab", "Enter") == "before"
    assert alex.locator("body.board .unrevealed").count() > 0
    assert press("Escape") == "board"
    assert press("Tab", "Tab", "Space", "Tab", "Space") == "unmasked"
    assert alex.is_checked("#unmasked")
    press("Shift+Tab", "Space")
    assert press("Shift+Tab", "Space") == "try"
    assert press("Tab") == "step"
    assert press("ArrowDown", "Tab") == "next-step"
    while press("Tab") and not alex.evaluate("document.activeElement.matches('.working input')"):
        pass
    press("1", "Enter")
    assert alex.locator(".verdict").count() == 1
    assert press("Tab") == "Hint"
    press("Space")  # it leads back to the field
    assert press("Tab") == "Hint"
    assert press("Tab") == "Show answer"
    press("Space")
    assert alex.evaluate("document.activeElement.matches('.working input')")
    assert press("Escape") == "try"
    alex.focus("#try")
    press("Tab")
    while not alex.evaluate("document.activeElement.matches('td')"):
        press("Tab")
    assert alex.locator("#line").inner_text()
    press("ArrowRight", "ArrowDown", "Enter", "Escape")
