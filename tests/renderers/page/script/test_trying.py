"""To try first: a result is nowhere beside its line until something is typed."""

from __future__ import annotations

from typing import Any

from tests.helpers.browser import opened
from tests.renderers.page.conftest import Saved


def test_a_result_is_a_blank_until_it_is_typed(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex")) as page:
        page.locator("#try").press("Enter")
        step = page.locator("#step-7")
        assert "11.563" not in step.inner_text()
        step.locator("td.blank").first.click()  # nor where it is pointed at
        assert page.locator("#line b").inner_text() == "?"
        asked = page.locator(".working input").count()
        for typed, label, verdict in (
            ("11.56250", "Frank", "right"),
            ("7.958", "Emma", "right but for the last digit"),
            ("-6.095", "Daniel", "wrong"),
        ):
            answer = step.locator(f"li:has(.label:text-is('{label}: ')):visible")
            answer.locator("input").fill(typed)
            answer.locator("input").press("Enter")
            assert answer.locator(".verdict").inner_text() == verdict
            assert page.evaluate("document.activeElement.tagName") == "INPUT"
        assert "≈ 11.563" in step.inner_text()
        assert step.locator("td.blank").count() == 1
        score = f"1 right, 1 right but for the last digit, 1 wrong, of {asked}"
        assert page.locator("#score").inner_text() == score
        page.locator("#try").press("Enter")
        assert page.locator(".blank, .working input, .verdict").count() == 0
        assert page.locator("#score").inner_text() == ""


def test_another_token_is_tried_from_the_start(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex")) as page:
        page.locator("#try").press("Enter")
        page.select_option("#token", label="Emma")
        assert page.locator("#score").inner_text().startswith("0 right")
        assert page.locator("#step-7 tr.followed .blank").count() > 1
        assert page.locator("#step-7 tr:not(.followed) .blank").count() == 0
