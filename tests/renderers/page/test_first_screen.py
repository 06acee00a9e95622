"""The first screen is one picture: what a token attends to, what comes out, a number to drag."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.browser import opened
from tests.renderers.page.conftest import Saved

SIZES = [(390, 844), (768, 1024), (1280, 720), (1920, 1080)]

PARTS = "h1", "#question", "#picture .plot", "#dragged input", "#picture p:not(#dragged)", ".bars"


def places(page: Any) -> dict[str, Any]:
    """Where the parts of the first screen that are shown stand in the window."""
    found = {part: page.locator(f"{part}:visible") for part in PARTS}
    return {part: [each.bounding_box() for each in shown.all()] for part, shown in found.items()}


@pytest.mark.parametrize("name", ["alex", "pizza", "picture"])
def test_the_first_screen_is_one_picture(name: str, browser: Any, saved: Saved) -> None:
    """At each size of a window; nothing moves while the number is dragged."""
    sentence = "#picture p:not(#dragged)"
    with opened(browser, saved(name), everything=False) as page:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            first = places(page)
            assert all(first.values())
            assert len(first["#dragged input"]) == len(first[sentence]) == 1
            for part, boxes in first.items():
                for box in boxes:
                    assert box["x"] >= 0 and box["x"] + box["width"] <= width, (part, width)
                    assert box["y"] >= 0 and box["y"] + box["height"] <= height, (part, width)
            page.locator("#dragged input").press("ArrowRight")
            assert {**places(page), sentence: first[sentence]} == first
            page.locator("#undo").click()
            assert page.locator("#undo").is_hidden()


def test_a_picture_shows_where_a_word_looks(browser: Any, saved: Saved) -> None:
    """The weights of its parts, each where the part is, also of another token."""
    with opened(browser, saved("picture")) as page:
        for token in ("under", "dog"):
            page.select_option("#token", label=token)
            grid = page.locator("#picture table:not(.bars):visible")
            assert grid.locator("thead th").all_inner_texts() == ["left", "right"]
            assert grid.locator("tbody th").all_inner_texts() == ["upper", "lower"]
            shown = grid.locator("td[data-of]").all_inner_texts()
            arcs = page.locator("#picture .plot:visible text.positive")
            assert shown == arcs.all_text_contents()
