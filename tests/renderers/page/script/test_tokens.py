"""Other tokens on a page: names, numbers and text are those of the program's page of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.browser import opened
from tests.helpers.bundled import TYPED
from tests.helpers.command import printed
from tests.renderers.page.conftest import SIZE, Saved

SEEN = """chosen => {
  document.body.classList.add("differs");
  window.dispatchEvent(new Event("beforeprint")); // draws all lines
  const shown = "#text :is(th, td, li, caption, text, title), #token option";
  const hidden = [chosen, "[hidden]", ".of-file", ".bars tbody"].filter(Boolean).join();
  return [...document.querySelectorAll(shown)]
    .filter((each) => !each.closest(hidden))
    .filter((each) => each.matches("option, title") || each.checkVisibility())
    .map((each) => each.textContent);
}"""
"""What is written on a page while sentences are hidden."""

CHOSEN = "#picture, #what-the-mask-prevents"
"""What the program chooses by the numbers, such as the head that matters most."""


@pytest.mark.parametrize(
    ("name", "tokens", "chosen"),
    [
        ("alex", "Frank Emma Daniel Frank", ""),
        ("pizza", "la pizza pizza odio Me", CHOSEN),
        ("science", "data science like like", CHOSEN),
    ],
)
def test_a_page_of_other_tokens_is_the_program_s(
    browser: Any, saved: Saved, tmp_path: Path, name: str, tokens: str, chosen: str
) -> None:
    with opened(browser, saved(name), viewport=SIZE) as page:
        before = page.evaluate(SEEN, chosen)
        page.evaluate(f"decoderTrace.set('tokens', '{tokens}')")
        text, changed = page.evaluate("decoderTrace.scenario()"), page.evaluate(SEEN, chosen)
        page.evaluate("decoderTrace.undo()")
        assert page.evaluate(SEEN, chosen) == before
        assert page.evaluate("decoderTrace.scenario()") == TYPED[name].read_text(encoding="utf-8")
    assert yaml.load(text, yaml.BaseLoader)["tokens"] == tokens.split()
    file, html = tmp_path / f"{name}.yaml", tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    printed("page", str(file), "--detail", "full", "-o", str(html))
    with opened(browser, html, viewport=SIZE) as page:
        assert changed == page.evaluate(SEEN, chosen)


def test_fields_choose_tokens(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex"), viewport=SIZE) as page:
        page.locator("#options > summary").click()
        page.locator("summary:text-is('Tokens')").click()
        page.get_by_label("Token 4").select_option("Emma")
        assert page.evaluate("decoderTrace.printed('tokens')") == [
            ["Frank", "Emma", "Daniel", "Emma"]
        ]
        row = "row => decoderTrace.printed('embedding')[row]"
        assert page.evaluate(row, 3) == page.evaluate(row, 1)
        page.evaluate("decoderTrace.edit('embedding', 'Emma (2)', 'spicy', 0.5)")
        assert page.evaluate(row, 3) == page.evaluate(row, 1)  # both are one number of the file
        for _ in range(2):
            page.locator("#undo").click()
        assert page.get_by_label("Token 4").input_value() == "Alex"
        assert page.locator("#redo").is_enabled()
        refused = "try { decoderTrace.set('tokens', 'Frank Emma') } catch ({ message }) { message }"
        assert page.evaluate(refused) == (
            "expected 4 tokens, each Frank or Emma or Daniel or Alex, got Frank Emma"
        )


def test_a_word_that_the_page_cannot_compute_is_refused(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("experts"), viewport=SIZE) as page:
        page.locator("#options > summary").click()
        page.locator("summary:text-is('Tokens')").click()
        page.get_by_label("Token 1").select_option("purr")
        said = page.locator("#problem").text_content()
        assert said == "No result: a token goes to other experts."
        assert page.get_by_label("Token 1").input_value() == "cats"
