"""To try first: a result is nowhere beside its line until something is typed."""

from __future__ import annotations

from typing import Any


def test_a_result_is_a_blank_until_it_is_typed(alex: Any) -> None:
    alex.locator("#try").press("Enter")
    step = alex.locator("#step-7")
    assert "11.563" not in step.inner_text()
    step.locator("td.blank").first.click()  # nor where it is pointed at
    assert alex.locator("#line b").inner_text() == "?"
    asked = alex.locator(".working input").count()
    for typed, label, verdict in (
        ("11.56250", "Frank", "correct"),
        ("7.958", "Emma", "last digit off"),
        ("-6.095", "Daniel", "wrong"),
    ):
        answer = step.locator(f"li:has(.label:text-is('{label}: ')):visible")
        answer.locator("input").fill(typed)
        answer.locator("input").press("Enter")
        assert answer.locator(".verdict").inner_text() == verdict
        assert alex.evaluate("document.activeElement.tagName") == "INPUT"
    assert "≈ 11.563" in step.inner_text()
    assert step.locator("td.blank").count() == 1
    score = f"1 correct, 1 last digit off, 1 wrong, of {asked}"
    assert alex.locator("#score").inner_text() == score
    alex.locator("#try").press("Enter")
    assert alex.locator(".blank, .working input, .verdict").count() == 0
    assert alex.locator("#score").inner_text() == ""


def test_another_token_is_tried_from_the_start(alex: Any) -> None:
    alex.locator("#try").press("Enter")
    alex.select_option("#token", label="Emma")
    assert alex.locator("#score").inner_text().startswith("0 correct")
    assert alex.locator("#step-7 tr.followed .blank").count() > 1
    assert alex.locator("#step-7 tr:not(.followed) .blank").count() == 0
