"""A real browser, where there is one: Debian's Chromium, driven by playwright."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
NODE_MODULES = Path(os.environ.get("NODE_PATH") or "no such folder")
AXE = NODE_MODULES / "axe-core" / "axe.min.js"


@contextmanager
def launched() -> Iterator[Any]:
    """The browser, until all that asks for it is done."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with driver.sync_playwright() as playwright:
        how = {"executable_path": str(CHROMIUM), "args": ["--no-sandbox", "--disable-gpu"]}
        browser = playwright.chromium.launch(**how)
        yield browser
        browser.close()


UNFOLD = "document.querySelectorAll('details.fold').forEach((fold) => (fold.open = true))"


@contextmanager
def opened(
    browser: Any, html: Path, at: str = "", *, everything: bool = True, **how: Any
) -> Iterator[Any]:
    """A page as a browser shows it; it asks for nothing, and has nothing to complain about.

    `everything`: all its levels, which begin with the overview, with nothing folded away.
    """
    complaints: list[str] = []
    asked: list[str] = []

    def refuse(dialog: Any) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    context = browser.new_context(**how)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", refuse)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(html.as_uri() + at)
    if how.get("java_script_enabled", True):
        page.wait_for_selector("body.ready", state="attached")
        if everything and page.locator("#level").count():
            page.select_option("#level", "2")
            page.evaluate(UNFOLD)
    yield page
    context.close()
    assert complaints == []
    assert {url for url in asked if not url.startswith("data:")} == {html.as_uri()}


def focused(page: Any) -> str:
    """What has the focus: an id, the name of a number, or what it says."""
    return str(
        page.evaluate(
            "(({id, dataset, innerText}) => id || dataset.of || innerText)(document.activeElement)"
        )
    )


def violations(page: Any, within: str = "html") -> list[str]:
    """What axe-core finds wrong for readers who do not see, or not well, in parts of a page."""
    if not AXE.is_file():
        pytest.skip("needs NODE_PATH, naming the folder of axe-core")
    page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    run = "within => axe.run(within, {resultTypes: ['violations']})"  # in less time
    found = page.evaluate(f"{run}.then(({{violations}}) => violations)", within)
    return [f"{each['id']}: {each['nodes'][0]['html'][:300]}" for each in found]


def unfold(page: Any) -> None:
    """Open what repeats earlier steps, as a reader does."""
    folded = page.locator("details.fold:not([open]) > summary")
    while folded.count():
        folded.first.click()


def show_without_mask(page: Any) -> None:
    """Show the sections without the mask, as a reader does."""
    page.locator("#options > summary").click()
    page.check("#unmasked")
    page.locator("#options > summary").click()
