"""The address of a page names what is shown; a copied link opens the same view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import opened, show_without_mask
from tests.helpers.small_scenario import SMALL
from tests.renderers.page.conftest import SIZE, Saved

VIEW = """() => ({
  choices: ["token", "level", "head"].map(id => document.getElementById(id).value),
  unmasked: document.getElementById("unmasked").checked,
  modes: document.body.className,
  current: document.querySelector(".current")?.id,
  revealed: document.querySelectorAll(".current .unrevealed").length,
  byLine: document.getElementById("line-by-line").checked,
  place: document.getElementById("board-place").textContent,
  steps: [...document.getElementById("step").options].map(option => option.value),
  section: document.elementFromPoint(500, 150).closest("section")?.id,
  shown: [...document.querySelectorAll("section.step")].filter(s => s.checkVisibility()).length,
})"""
LONG_ENOUGH = 400
"""Milliseconds after which the address is written."""


def scroll_to(page: Any, step: str) -> None:
    page.evaluate(f"document.getElementById('{step}').scrollIntoView()")


def on_the_board(page: Any) -> None:
    scroll_to(page, "step-7")
    page.click("#board")
    page.keyboard.press("ArrowRight")


def line_by_line(page: Any) -> None:
    scroll_to(page, "step-9")
    page.click("#board")
    page.check("#line-by-line")
    for _ in range(7):
        page.keyboard.press(" ")


def exercise(page: Any) -> None:
    page.click("#try")
    page.click("#trying summary:text-is('Choose steps')")
    for step in ("4", "9", "21"):
        page.check(f"#steps input[value='{step}']")
    page.click("#trying summary:text-is('Choose steps')")
    page.select_option("#step", "step-9")


def other_token(page: Any) -> None:
    page.select_option("#token", label="Emma")
    page.select_option("#level", "1")
    scroll_to(page, "step-8")


def one_head(page: Any) -> None:
    page.select_option("#head", "2")
    show_without_mask(page)
    scroll_to(page, "step-15")


def by_link(page: Any) -> None:
    page.click("#more button >> nth=0")
    page.locator(".diagram a[href='#step-9']").dispatch_event("click")


def on_a_walk(page: Any) -> None:
    page.select_option("#level", "0")
    page.select_option("#token", label="Emma")
    page.click("#walk-through")
    for _ in range(5):
        page.keyboard.press("ArrowRight")


WAYS = on_the_board, line_by_line, exercise, other_token, one_head, by_link, on_a_walk


@pytest.mark.parametrize("go", WAYS, ids=lambda go: go.__name__)
def test_a_copied_link_opens_the_same_view(
    go: Callable[[Any], None], browser: Any, saved: Saved
) -> None:
    html = saved("alex")
    with opened(browser, html, everything=go is not by_link, viewport=SIZE) as page:
        go(page)
        page.wait_for_timeout(LONG_ENOUGH)
        view, link = page.evaluate(VIEW), page.evaluate("location.hash")
    with opened(browser, html, link, everything=False, viewport=SIZE) as other:
        assert other.evaluate(VIEW) == view
        other.wait_for_timeout(LONG_ENOUGH)
        assert other.evaluate("location.hash") == link


def test_a_link_that_somebody_types(browser: Any, saved: Saved) -> None:
    """With choices that the page does not have."""
    html = saved("alex")
    with opened(browser, html, "#step-9&token=Alex&level=1&board", everything=False) as page:
        assert page.locator("#board-place").inner_text().startswith("step 9 of 27, line 1 of ")
        assert page.evaluate(VIEW)["choices"] == ["3", "1", ""]
        page.evaluate("location.hash = '#step-4&token=Emma&level=0&try&steps=5,6'")
        page.wait_for_selector("body.trying:not(.board)")
        assert page.evaluate(VIEW)["steps"] == ["step-5", "step-6"]
        assert page.locator("#token").input_value() == "1"
        page.evaluate("location.hash = '#level=0&try&steps=7,21'")
        page.wait_for_selector("#step-7.current")
        assert page.evaluate(VIEW)["steps"] == ["step-7", "step-21"]
        page.evaluate("location.hash = '#level=0&board'")  # the overview alone
        page.wait_for_selector("body.board :is(#step-27, #summary).current")
        page.evaluate("location.hash = '#board&token=Emma'")
        page.wait_for_selector("body.board")
        page.wait_for_timeout(LONG_ENOUGH)
        assert page.evaluate(VIEW)["choices"] == ["1", "2", ""]
        page.evaluate("location.hash = '#no-step&token=Nobody&level=7&head=9&%E0%A4%A'")
        page.wait_for_selector("body:not(.staged)")
        page.evaluate("location.hash = '#step-20'")  # of another level
        page.wait_for_selector("#step-20:visible")
        assert page.evaluate(VIEW)["choices"] == ["1", "2", ""]


def test_the_address_follows_a_reader_who_scrolls(
    browser: Any, saved: Saved, tmp_path: Path
) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    with opened(browser, saved(str(file)), viewport={"width": 390, "height": 700}) as page:
        page.locator("section h2, section h3").last.scroll_into_view_if_needed()
        page.wait_for_timeout(LONG_ENOUGH)
        part, *choices = page.evaluate("location.hash.slice(1)").split("&")
        assert page.locator(f"section#{part}").is_visible()
        assert [choice.partition("=")[0] for choice in choices] == ["token", "level"]
