"""The first screen is one picture: what a token attends to, what comes out, a number to drag."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from tests.helpers.browser import opened
from tests.renderers.page.conftest import Saved

SIZES = [(390, 844), (768, 1024), (1280, 720), (1920, 1080)]

SENTENCE = "#picture p:not(#dragged)"
PARTS = ["h1", "#question", "#picture .plot", "#dragged input", SENTENCE, ".bars"]
PLACES = """parts => Object.fromEntries(parts.map(part => [part,
  [...document.querySelectorAll(part)].filter(e => e.checkVisibility({visibilityProperty: true}))
    .map(e => e.getBoundingClientRect())
    .map(({left, top, right, bottom}) => [left, top, right, bottom])]))"""
"""Where the parts of the first screen that are shown stand in the window."""


@pytest.mark.parametrize("name", ["alex", "pizza", "picture"])
def test_the_first_screen_is_one_picture(name: str, browser: Any, saved: Saved) -> None:
    """At each size of a window; nothing moves while the number is dragged."""
    with opened(browser, saved(name, "--detail", "normal"), everything=False) as page:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            first = page.evaluate(PLACES, PARTS)
            assert all(first.values())
            assert len(first["#dragged input"]) == len(first[SENTENCE]) == 1
            for left, top, right, bottom in chain(*first.values()):
                assert left >= 0 and right <= width
                assert top >= 0 and bottom <= height
            page.locator("#dragged input").press("ArrowRight")
            assert page.evaluate(PLACES, PARTS) == {**first, SENTENCE: []}
            page.locator("#undo").click()
            assert page.locator("#undo").is_hidden()


def test_a_picture_shows_where_a_word_looks(browser: Any, saved: Saved) -> None:
    """The weights of its parts, each where the part is, also of another token."""
    with opened(browser, saved("picture", "--detail", "normal")) as page:
        for token in ("under", "dog"):
            page.select_option("#token", label=token)
            grid = page.locator("#picture table:not(.bars):visible")
            assert grid.locator("thead th").all_inner_texts() == ["left", "right"]
            assert grid.locator("tbody th").all_inner_texts() == ["upper", "lower"]
            shown = grid.locator("td[data-of]").all_inner_texts()
            arcs = page.locator("#picture .plot:visible text.positive")
            assert shown == arcs.all_text_contents()
