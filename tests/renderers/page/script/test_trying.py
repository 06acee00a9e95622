"""To try: the numbers of a step are asked; each has hints, several attempts, and counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.browser import focused, opened, violations
from tests.renderers.page.conftest import Saved

Asked = Callable[[str], Any]


@pytest.fixture
def asked(alex: Any) -> Asked:
    """Begins a step, and finds the line of a number that it asks."""
    alex.focus("#try")
    alex.keyboard.press("Enter")
    alex.select_option("#step", "step-7")
    alex.locator("#step-7 .open button").last.click()  # the divisor
    return lambda name: alex.locator(f"li:has(input[aria-label^='S¹[Alex, {name}]'])")


def answer(line: Any, typed: str) -> str:
    """What is said of a number."""
    line.locator("input").fill(typed)
    line.locator("input").press("Enter")
    return str(line.locator(".verdict").inner_text())


def test_a_number_has_several_attempts(alex: Any, asked: Asked) -> None:
    assert "11.563" not in alex.locator("body").inner_text()
    line = asked("Frank")
    assert "3 decimals" in line.inner_text()
    assert answer(line, "12.563") == "wrong. Try again."
    assert answer(line, "11.6") == "correct so far. The answer takes 3 decimals."
    assert answer(line, "x") == "not a number. Type digits, such as -0.5 or 2.1e-5."
    assert answer(line, "11.562") == "last digit off. The line also rounds on the way. Try again."
    assert alex.evaluate("document.activeElement.tagName") == "INPUT"
    line.locator("input").fill("11.56250")
    line.locator("input").press("Enter")
    line = alex.locator("#step-7 li:visible:has-text('Frank: ')")
    assert line.inner_text().endswith("≈ 11.563 correct")
    assert line.locator("input").count() == 0
    assert "Emma" in str(alex.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_hints_come_before_the_answer(alex: Any, asked: Asked) -> None:
    """The formula, then the numbers put in, then, if it is asked for, the answer."""
    formula = alex.locator("#step-7 .formula:visible")
    line = asked("Frank")
    assert formula.count() == 0
    line.locator("button:text-is('Hint')").press("Enter")
    assert formula.count() == 1
    assert "×" not in line.inner_text()
    line.locator("button:text-is('Hint')").press("Enter")
    assert "(2.589×5.271 + 1.589×1.703) / √2 =" in " ".join(line.inner_text().split())
    assert line.locator("button").all_inner_texts() == ["Show answer"]
    line.locator("input").press("1")
    line.locator("button").press("Enter")
    assert "≈ 11.563 shown" in alex.locator("#step-7").inner_text()


def test_the_score_is_kept_per_step_and_in_all(alex: Any, asked: Asked) -> None:
    line = asked("Frank")
    line.locator("button:text-is('Hint')").click()
    line.locator("input").fill("11.563")
    line.locator("input").press("Enter")
    answer(asked("Emma"), "7")
    asked("Emma").locator("input").fill("7.957")
    asked("Emma").locator("input").press("Enter")
    asked("Daniel").locator("input").fill("6.095")
    asked("Daniel").locator("input").press("Enter")
    counted = "(1 first try, 1 later try, 1 with a hint, 1 shown)"
    assert alex.locator("#score").inner_text().startswith(f"This step: 4 of 5 {counted}.")
    alex.locator("#next-step").press("Enter")
    assert alex.locator("#step").input_value() == "step-8"
    assert alex.locator("#score").inner_text().startswith("This step: 0 of 1. All steps: 4 (")
    alex.select_option("#token", label="Emma")
    alex.select_option("#step", "step-4")
    assert "Q¹[Emma, " in alex.locator("#step-4").inner_text()
    assert "All steps: 4 (" in alex.locator("#score").inner_text()
    alex.keyboard.press("Escape")
    assert focused(alex) == "try"
    assert alex.locator(".attempt, .verdict, .later, .open, body.staged").count() == 0
    alex.locator("#step-7 td[data-of]").first.click()
    assert alex.locator("#line").inner_text()


def test_the_operands_stand_beside_the_step(alex: Any, asked: Asked) -> None:
    asked("Frank")
    assert alex.locator("#operands caption").all_text_contents() == ["Q1", "K1"]
    assert "d_k = 2" in alex.locator("#operands").inner_text()
    assert alex.locator("#step-7 table:visible").count() == 0
    operands, step = (alex.locator(at).bounding_box() for at in ("#operands", "#step-7"))
    assert operands["x"] + operands["width"] <= step["x"]


SCORES = {"Frank": "11.563", "Emma": "7.957", "Daniel": "6.095", "Alex": "6.468"}
PLOTS = "#step-{} .plot:visible"


def test_a_finished_step_shows_its_matrix_and_its_pictures(alex: Any, asked: Asked) -> None:
    """The key that enters the last answer does not also press the button that gets the focus."""
    for name, number in SCORES.items():
        assert alex.locator(PLOTS.format(7)).count() == 0
        asked(name).locator("input").fill(number)
        asked(name).locator("input").press("Enter")
    assert alex.locator("#step").input_value() == "step-7"
    assert focused(alex) == "next-step"
    assert alex.locator("#step-7 .right").count() == 4
    assert alex.locator(PLOTS.format(7)).count() > 0
    assert alex.locator("#step-7 p:visible:has-text('The largest score of')").count() == 1
    alex.keyboard.press("Enter")
    assert alex.locator("#step").input_value() == "step-8"


def test_nothing_is_in_the_way_of_readers_on_a_telephone(alex: Any, asked: Asked) -> None:
    """What stands above a step scrolls, both ways, and can be scrolled by keyboard."""
    alex.set_viewport_size({"width": 390, "height": 700})
    for step in ("step-6", "step-19"):
        alex.select_option("#step", step)
        assert violations(alex, "#operands") == []
        assert violations(alex, f"#{step}") == []
        assert alex.evaluate("document.documentElement.scrollWidth") <= 390


def test_questions_have_choices(alex: Any) -> None:
    """Which tokens are masked."""
    alex.set_viewport_size({"width": 390, "height": 740})
    alex.click("#try")
    alex.select_option("#step", "step-8")
    question = alex.locator(".question:visible")
    assert "Which tokens does the mask hide from" in question.inner_text()
    assert alex.locator("#step-8 table:visible").count() == 0
    (hidden_from,) = question.locator(".asks code").all_inner_texts()
    words = [label.strip() for label in question.locator("label").all_inner_texts()]
    later = words[words.index(hidden_from) + 1 :]
    question.get_by_role("checkbox", name=hidden_from).check()
    question.locator("button:text-is('Check')").click()
    assert question.locator(".verdict").inner_text() == "wrong. Try again."
    question.get_by_role("checkbox", name=hidden_from).uncheck()
    for word in later:
        question.get_by_role("checkbox", name=word).check()
    assert violations(alex, "#step-8, #panel") == []
    assert alex.evaluate("document.documentElement.scrollWidth") == 390
    question.locator("button:text-is('Check')").click()
    assert question.locator(".verdict").inner_text() == "correct"
    assert later
    assert all(word in question.inner_text() for word in later)
    assert "1 later try" in alex.locator("#score").inner_text()
    assert alex.locator("#step-8 table:visible").count() > 0


def test_the_predicted_word_is_chosen(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("science")) as page:
        page.click("#try")
        logits = page.locator("#step option:has-text('Logits')").get_attribute("value")
        page.select_option("#step", logits)
        while page.locator("li.open").count():
            page.locator("li.open button:text-is('Show answer')").first.click()
        question = page.locator(".question:visible")
        assert "Which word will be the most probable one after" in question.inner_text()
        assert "largest logit" not in page.locator("body").inner_text()
        lines = page.locator(f"#{logits} li.drawn:visible")
        logits_of = {
            line.locator(".label").inner_text().strip(": "): float(
                line.locator(".result b").inner_text()
            )
            for line in lines.all()
        }
        best = max(logits_of, key=lambda word: logits_of[word])
        question.get_by_role("radio", name=best, exact=True).check()
        question.locator("button:text-is('Check')").press("Enter")
        assert question.locator(".verdict").inner_text() == "correct"
        assert "largest logit" in page.locator("body").inner_text()
