"""Readers who do not see, or not well; who use paper, a telephone, or no scripts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from tests.helpers.browser import opened, unfold, violations
from tests.helpers.command import printed
from tests.helpers.small_scenario import SMALL
from tests.renderers.page.conftest import Saved

TELEPHONE = {"width": 360, "height": 740}
A4 = {"width": 718, "height": 1047}
"""Pixels of a sheet between the margins that Chromium leaves."""

TEXTS = """() => {
  const texts = [], walker = document.createTreeWalker(document.getElementById("text"), 4);
  const unread = "[hidden], [role=img]";
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest(unread)) texts.push(walker.currentNode.data);
  return texts;
}"""
"""Of what is not hidden, and no picture, which is read as one sentence."""


def decimals(texts: list[str]) -> Counter[str]:
    return Counter(number for text in texts for number in re.findall(r"\d+\.\d+", text))


def test_nothing_is_in_the_way_of_readers(browser: Any, tmp_path: Path) -> None:
    html = tmp_path / "small.html"
    printed("page", "-", "-o", str(html), stdin=SMALL)
    with opened(browser, html, color_scheme="light", viewport=TELEPHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.locator("#try").press("Enter")
        page.locator(".working input").first.fill("1")
        page.keyboard.press("Enter")
        assert violations(page) == []
        page.keyboard.press("Escape")
        page.locator("td[data-of]").last.click()
        assert violations(page) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["alex", "pizza", "comics", "picture", "science"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_readers_of_other_pages(
    name: str, scheme: str, browser: Any, saved: Saved
) -> None:
    with opened(browser, saved(name), color_scheme=scheme) as page:
        page.locator("td[data-of]").last.click()
        assert violations(page) == []
        page.locator("#board").press("Enter")
        assert violations(page) == []


def test_what_is_read_aloud(alex: Any) -> None:
    """Every number once; each matrix by its name, with its headings; the line as one sentence."""
    unfold(alex)
    session = alex.context.new_cdp_session(alex)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    nodes = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree]
    texts = alex.evaluate(TEXTS)
    assert sum(decimals(texts).values()) > 1_000
    assert decimals([name for role, name in nodes if role == "StaticText"]) == decimals(texts)
    tables = [name for role, name in nodes if role in ("grid", "table")]
    assert {"X′", "S¹", "A¹, Attention weights, head 1"} <= set(tables)
    read = alex.locator("#step-7").aria_snapshot()
    assert '- grid "S¹"' in read
    assert all(f'- {kind} "Daniel"' in read for kind in ("columnheader", "rowheader"))

    alex.locator("#step-7 td[data-of]:text-is('8.453')").click()
    line = alex.locator("#line")
    assert line.get_attribute("aria-live") == "polite"
    assert line.get_attribute("aria-atomic") == "true"
    assert line.text_content() == (
        "S¹[Frank, Daniel] = (4.987×0.931 + 1.871×3.908) / √2"
        " ≈ (4.643 + 7.312) / √2 = 11.955 / √2 ≈ 8.453"
    )


def test_without_scripts_it_is_the_tutorial(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex"), java_script_enabled=False) as page:
        assert page.locator("button:visible, select:visible, input:visible").count() == 0
        assert "Point at" not in page.locator("body").inner_text()
        unfold(page)
        seen = re.sub(r"\s+", "", page.locator("#text").inner_text())
        tutorial = printed("tutorial", "alex", "--format", "markdown")
        fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
        lines = "".join(fence for fence in fenced if "│" not in fence).splitlines()
        assert len(lines) > 100
        assert [line for line in lines if re.sub(r"\s+", "", line) not in seen] == []
        rows = re.findall(r"^\| .*[0-9] \|$", tutorial, re.MULTILINE)
        assert len(rows) > 100
        cells = [re.sub(r"[\s*\\`$|]", "", row) for row in rows]
        # The page sets an index low and a symbol in italics; as plain text they are letters.
        plain = normalize("NFKC", seen)
        assert [row for row in cells if normalize("NFKC", row) not in plain] == []


def test_paper_is_light_and_holds_it_all(alex: Any) -> None:
    alex.set_viewport_size(A4)
    alex.locator("td[data-of]").last.click()
    alex.emulate_media(media="print", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert alex.evaluate(ground) == "rgb(255, 255, 255)"
    assert alex.locator("#controls:visible, #panel:visible, #board-keys:visible").count() == 0
    # Nothing is cut off at the right edge.
    too_wide = (
        "[...document.querySelectorAll('main *')].filter(n => n.checkVisibility()"
        " && n.getBoundingClientRect().right > innerWidth + 1).map(n => n.outerHTML)"
    )
    assert alex.evaluate(too_wide) == []


def test_colors_that_the_reader_forces(alex: Any) -> None:
    """What is lit, or pressed, is seen by its frame."""
    alex.emulate_media(forced_colors="active")
    alex.locator("#step-7 td[data-of]").last.click()
    frame = "n => getComputedStyle(n).outlineStyle"
    assert alex.locator("td.here").first.evaluate(frame) == "solid"
    assert set(alex.locator("td.lit").evaluate_all(f"all => all.map({frame})")) == {"solid"}
    alex.locator("#try").press("Enter")
    pressed = "n => getComputedStyle(n).borderWidth"
    assert alex.locator("#try").evaluate(pressed) != alex.locator("#board").evaluate(pressed)


def test_nothing_moves_by_itself(alex: Any) -> None:
    """So there is nothing to stop for readers who want less of it."""
    alex.locator("td[data-of]").last.click()
    alex.keyboard.press("Enter")
    alex.keyboard.press("Enter")
    assert alex.evaluate("document.getAnimations().length") == 0
    assert "transition" not in alex.evaluate("document.querySelector('style').textContent")


@pytest.mark.parametrize("size", [(640, 400), (360, 740)])
def test_at_twice_the_size_and_on_a_telephone(size: tuple[int, int], alex: Any) -> None:
    """No line is cut off; what is wider than the window scrolls by itself."""
    width, height = size
    alex.set_viewport_size({"width": width, "height": height})
    cell = alex.locator("#step-7 td[data-of]").last
    cell.click()
    alex.keyboard.press("Enter")
    assert alex.evaluate("document.documentElement.scrollWidth") == width
    assert alex.evaluate("document.getElementById('panel').scrollWidth") <= width
    assert alex.locator("#line").is_visible()
