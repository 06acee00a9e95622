"""Other tokens on a page: names, numbers and text are those of the program's page of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.browser import opened, unfold
from tests.helpers.bundled import TYPED
from tests.helpers.command import printed
from tests.renderers.page.conftest import SIZE, Saved

SEEN = """() => {
  document.body.classList.add("differs");
  const shown = "#text :is(th, td, li, caption, text, title), #token option";
  return [...document.querySelectorAll(shown)]
    .filter((each) => each.closest("[hidden], .of-file, .bars tbody") === null)
    .filter((each) => each.matches("option, title") || each.checkVisibility())
    .map((each) => each.textContent);
}"""
"""What is written on a page while sentences are hidden; the script draws no further bars."""


def opened_and_drawn(page: Any) -> list[str]:
    """What a page shows once all its lines are drawn."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    found: list[str] = page.evaluate(SEEN)
    return found


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("alex", "Frank Emma Daniel Frank"),
        ("pizza", "la pizza pizza odio Me"),
        ("science", "data science like like"),
    ],
)
def test_a_page_of_other_tokens_is_the_program_s(
    browser: Any, saved: Saved, tmp_path: Path, name: str, tokens: str
) -> None:
    with opened(browser, saved(name), viewport=SIZE) as page:
        before = opened_and_drawn(page)
        page.evaluate(f"decoderTrace.set('tokens', '{tokens}')")
        text = page.evaluate("decoderTrace.scenario()")
        changed = opened_and_drawn(page)
        page.evaluate("decoderTrace.undo()")
        page.evaluate("document.body.classList.add('differs')")
        assert opened_and_drawn(page) == before
        assert page.evaluate("decoderTrace.scenario()") == TYPED[name].read_text(encoding="utf-8")
    assert yaml.load(text, yaml.BaseLoader)["tokens"] == tokens.split()
    file, html = tmp_path / f"{name}.yaml", tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    printed("page", str(file), "--detail", "full", "-o", str(html))
    with opened(browser, html, viewport=SIZE) as page:
        assert changed == opened_and_drawn(page)
