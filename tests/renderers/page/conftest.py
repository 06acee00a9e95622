"""Each page written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.helpers.browser import opened
from tests.helpers.command import printed

Saved: TypeAlias = Callable[..., Path]
"""The arguments of `page` → the file that it writes."""


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Writes a page, or knows where it lies."""

    @cache
    def page(*arguments: str) -> Path:
        html = tmp_path_factory.mktemp("page") / "page.html"
        every = () if "--detail" in arguments else ("--detail", "full")
        printed("page", *arguments, *every, "-o", str(html))
        return html

    return page


SIZE = {"width": 1280, "height": 720}

AS_OPENED = """() => {
  const token = document.getElementById("token");
  if (token.selectedIndex !== token.options.length - 1) {
    token.selectedIndex = token.options.length - 1;
    token.dispatchEvent(new Event("change"));
  }
  document.getElementById("head").value = "";
  document.getElementById("level").value = "2";
  document.querySelectorAll("details.fold").forEach((fold) => (fold.open = true));
  document.getElementById("unmasked").checked = false;
  document.getElementById("controls").dispatchEvent(new Event("change"));
  document.getElementById("line-by-line").checked = false;
  document.getElementById("clear-score").click();
  document.querySelector("#try[aria-pressed=true]")?.click();
  document.activeElement.blur();
  document.getSelection().collapse(document.body, 0);
  history.replaceState(null, "", "#");
  scrollTo(0, 0);
}"""


@pytest.fixture(scope="session")
def alex_opened(browser: Any, saved: Saved) -> Iterator[Any]:
    """The page of alex; to open it for each test would take most of the time."""
    with opened(browser, saved("alex"), viewport=SIZE) as page:
        yield page


@pytest.fixture
def alex(alex_opened: Any) -> Iterator[Any]:
    """The same as it was when it was opened."""
    yield alex_opened
    alex_opened.emulate_media(media="null", color_scheme="null", forced_colors="null")
    if alex_opened.viewport_size != SIZE:
        alex_opened.set_viewport_size(SIZE)
    alex_opened.keyboard.press("Escape")
    alex_opened.evaluate(AS_OPENED)
