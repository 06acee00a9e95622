"""Readers who do not see, or not well; who use paper, a telephone, or no scripts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.helpers.browser import opened, violations
from tests.helpers.command import printed
from tests.renderers.page.conftest import Saved

TELEPHONE = {"width": 360, "height": 740}
A4 = {"width": 718, "height": 1047}
"""Pixels of a sheet between the margins that Chromium leaves."""

TEXTS = """() => {
  const texts = [], walker = document.createTreeWalker(document.getElementById("text"), 4);
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest("[hidden]")) texts.push(walker.currentNode.data);
  return texts;
}"""
"""Of what is not hidden."""


def decimals(texts: list[str]) -> Counter[str]:
    return Counter(number for text in texts for number in re.findall(r"\d+\.\d+", text))


def test_nothing_is_in_the_way_of_readers(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("science"), color_scheme="light", viewport=TELEPHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.locator("#try").press("Enter")
        page.locator(".working input").first.fill("1")
        page.keyboard.press("Enter")
        page.locator("td[data-of]").last.click()
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page, "color-contrast") == []


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["alex", "pizza", "comics", "picture"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_readers_of_other_pages(
    name: str, scheme: str, browser: Any, saved: Saved
) -> None:
    with opened(browser, saved(name), color_scheme=scheme) as page:
        page.locator("td[data-of]").last.click()
        assert violations(page) == []
        page.locator("#board").press("Enter")
        assert violations(page) == []


def test_what_is_read_aloud(browser: Any, saved: Saved) -> None:
    """Every number once; each matrix by its name, with its headings; the line as one sentence."""
    with opened(browser, saved("alex"), at="#step-7") as page:
        page.wait_for_timeout(100)
        session = page.context.new_cdp_session(page)
        tree = session.send("Accessibility.getFullAXTree")["nodes"]
        nodes = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree]
        texts = page.evaluate(TEXTS)
        assert sum(decimals(texts).values()) > 1_000
        assert decimals([name for role, name in nodes if role == "StaticText"]) == decimals(texts)
        tables = [name for role, name in nodes if role in ("grid", "table")]
        assert {"X′", "S¹", "A¹, Attention weights, head 1"} <= set(tables)
        read = page.locator("#step-7").aria_snapshot()
        assert '- grid "S¹"' in read
        assert all(f'- {kind} "Daniel"' in read for kind in ("columnheader", "rowheader"))

        page.locator("#step-7 td[data-of]:text-is('8.453')").click()
        line = page.locator("#line")
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
        seen = re.sub(r"\s+", "", page.locator("#text").inner_text())
        tutorial = printed("tutorial", "alex", "--format", "markdown")
        fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
        lines = "".join(fence for fence in fenced if "│" not in fence).splitlines()
        assert len(lines) > 100
        assert [line for line in lines if re.sub(r"\s+", "", line) not in seen] == []
        rows = re.findall(r"^\| .*[0-9] \|$", tutorial, re.MULTILINE)
        assert len(rows) > 100
        cells = [re.sub(r"[\s*\\`$|]", "", row) for row in rows]
        assert [row for row in cells if row not in seen] == []


def test_paper_is_light_and_holds_it_all(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("alex"), color_scheme="dark", viewport=A4) as page:
        page.locator("td[data-of]").last.click()
        page.emulate_media(media="print", color_scheme="dark")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert page.locator("#controls:visible, #panel:visible, #board-keys:visible").count() == 0
        # Nothing is cut off at the right edge.
        assert (
            page.evaluate(
                "[...document.querySelectorAll('main *')].filter(n => n.checkVisibility()"
                " && n.getBoundingClientRect().right > innerWidth + 1).map(n => n.outerHTML)"
            )
            == []
        )


def test_colours_that_the_reader_forces(browser: Any, saved: Saved) -> None:
    """What is lit, or pressed, is seen by its frame."""
    with opened(browser, saved("science"), forced_colors="active") as page:
        page.locator("td[data-of]").last.click()
        assert (
            page.locator("td.here").first.evaluate("n => getComputedStyle(n).outlineStyle")
            == "solid"
        )
        page.locator("#try").press("Enter")
        pressed = "n => getComputedStyle(n).borderWidth"
        assert page.locator("#try").evaluate(pressed) != page.locator("#board").evaluate(pressed)


def test_nothing_moves_by_itself(browser: Any, saved: Saved) -> None:
    """So there is nothing to stop for readers who want less of it."""
    with opened(browser, saved("science")) as page:
        page.locator("td[data-of]").last.click()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert page.evaluate("document.getAnimations().length") == 0
        assert "transition" not in page.evaluate("document.querySelector('style').textContent")


@pytest.mark.parametrize("size", [(640, 400), (360, 740)])
def test_at_twice_the_size_and_on_a_telephone(
    size: tuple[int, int], browser: Any, saved: Saved
) -> None:
    """No line is cut off; what is wider than the window scrolls by itself."""
    width, height = size
    with opened(browser, saved("alex"), viewport={"width": width, "height": height}) as page:
        cell = page.locator("#step-7 td[data-of]").last
        cell.click()
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.getElementById('panel').scrollWidth") <= width
        assert page.locator("#line").is_visible()
