"""Readers who do not see, or not well; who use paper, a telephone, or no scripts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from tests.helpers import tiny_models
from tests.helpers.browser import focused, opened, unfold, violations
from tests.helpers.command import printed
from tests.helpers.page_data import values_of_page
from tests.helpers.small_scenario import SMALL
from tests.renderers.page.conftest import Saved

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


def go_to(page: Any, mode: str) -> None:
    """Show a page in one of its modes."""
    page.keyboard.press("Escape")
    if mode in ("0", "1", "2"):
        if page.locator("#level").count():
            page.select_option("#level", mode)
        unfold(page)
    elif mode == "pointed":
        page.locator("td[data-of]:visible").last.click()
    elif mode == "board":
        page.locator("#board").press("Enter")
        page.keyboard.press("ArrowRight")
    elif mode == "asked":
        page.locator("#try").press("Enter")
        page.locator(".working input").first.fill("1")
        page.keyboard.press("Enter")
    elif mode == "handed in":
        page.locator("#try").press("Enter")
        for summary in page.locator("#trying summary").all():
            summary.click()
    elif page.locator("#options").count():
        for summary in page.locator("#options summary").all():
            summary.click()


MODES = ("0", "1", "2", "pointed", "board", "asked", "handed in", "more")
VIEWS = [(390, "dark"), (768, "light"), (1280, "dark"), (1920, "light")]
VIEWS += [(width, "light" if scheme == "dark" else "dark") for width, scheme in VIEWS]


@pytest.mark.parametrize(
    ("width", "scheme"),
    [VIEWS[0], VIEWS[3], *(pytest.param(*view, marks=pytest.mark.fuzz) for view in VIEWS[1:3])],
)
def test_nothing_is_in_the_way_of_readers(
    width: int, scheme: str, browser: Any, tmp_path: Path
) -> None:
    html = tmp_path / "small.html"
    printed("page", "-", "-o", str(html), stdin=SMALL)
    assert in_the_way(browser, html, width, scheme) == {}


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["alex", "pizza", "comics", "picture", "science", "experts"])
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_nothing_is_in_the_way_of_readers_of_other_pages(
    name: str, width: int, scheme: str, browser: Any, saved: Saved
) -> None:
    assert in_the_way(browser, saved(name, "--detail", "normal"), width, scheme) == {}


@pytest.mark.fuzz
@pytest.mark.parametrize(("width", "scheme"), VIEWS[:4])
def test_nothing_is_in_the_way_of_readers_of_a_trained_model(
    width: int, scheme: str, browser: Any, tmp_path: Path
) -> None:
    html = tmp_path / "page.html"
    printed("page", tiny_models.scenario(tmp_path), "-o", str(html))
    assert in_the_way(browser, html, width, scheme) == {}


def in_the_way(browser: Any, html: Path, width: int, scheme: str) -> dict[str, list[str]]:
    """What axe finds in each mode in which it finds something, and what is too wide."""
    found = {}
    how: dict[str, Any] = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    with opened(browser, html, everything=False, **how) as page:
        for mode in MODES:
            go_to(page, mode)
            found[mode] = violations(page)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found[mode].append("too wide")
    return {mode: problems for mode, problems in found.items() if problems}


TAB_STOPS = """() => [...document.querySelectorAll("*")].filter(
  e => e.tabIndex >= 0 && e.checkVisibility() && !e.disabled)"""


def test_the_first_tab_skips_the_controls(alex: Any) -> None:
    assert alex.evaluate(f"({TAB_STOPS})()[0].className") == "skip"
    alex.locator(".skip").focus()
    assert alex.locator(".skip").bounding_box()["width"] > 100
    alex.keyboard.press("Enter")
    assert focused(alex) == "text"
    assert alex.locator(".skip").bounding_box()["width"] == 1


def test_each_tab_stop_does_something(alex: Any) -> None:
    """Controls, a cell of each matrix, a box of the diagram, links, and what scrolls."""
    kinds = "button, select, input, summary, a[href], td[data-of], [role=button]"
    for width in (390, 1280):
        alex.set_viewport_size({"width": width, "height": 720})
        alex.wait_for_timeout(200)
        scrolled = alex.evaluate_handle(f"({TAB_STOPS})().filter(e => !e.matches('{kinds}'))")
        ways = scrolled.evaluate(
            "all => all.map(e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"
        )
        assert all(right > 0 or down > 0 for right, down in ways)
        assert bool(ways) == (width == 390)
    assert alex.evaluate("document.querySelectorAll('.box[tabindex=\"0\"]').length") == 1
    assert alex.evaluate(f"({TAB_STOPS})().length") < 110


def test_arrows_lead_through_the_diagram(alex: Any) -> None:
    alex.locator(".box").first.focus()
    reached: list[str] = []
    while (box := alex.evaluate("document.activeElement.getAttribute('href')")) not in reached[-1:]:
        reached.append(box)
        alex.keyboard.press("ArrowUp")
    boxes = alex.locator(".box").evaluate_all("all => all.map(box => box.getAttribute('href'))")
    assert reached == boxes
    alex.keyboard.press("ArrowLeft")
    assert alex.evaluate("document.activeElement.getAttribute('href')") == boxes[-2]


ONLY_BY_POINTER = """values => {
  const named = selector => [...document.querySelectorAll(selector)].map(
    place => place.dataset.of || place.dataset.number);
  const reached = new Set(named("td[data-of], .number[tabindex='0']"));
  for (const of of reached) {
    const {work = [], is} = values[of.split(":")[0]].entries[of.split(":")[1]];
    for (const piece of work)
      if (typeof piece !== "string") piece.slice(1).forEach(each => reached.add(each));
    if (is) reached.add(is);
  }
  return named("[data-of], [data-number]").filter(of => of && !reached.has(of));
}"""


def test_each_number_is_reached_by_keyboard(alex: Any, saved: Saved) -> None:
    """From a cell, or as an operand on the way from one."""
    values = values_of_page(saved("alex"))
    assert alex.evaluate(ONLY_BY_POINTER, values) == []
    divisor = alex.locator("#step-7 .number[tabindex='0']").first
    divisor.focus()
    assert alex.locator("#line").text_content() == "√d_k = √2 ≈ 1.414"
    alex.keyboard.press("Enter")
    assert focused(alex) == "2"


def test_one_place_speaks(alex: Any) -> None:
    """It is there before it speaks; numbers, verdicts and the board speak in it."""
    live = "[aria-live], [role=status], [role=alert], [role=log], output"
    assert [each.get_attribute("id") for each in alex.locator(live).all()] == ["spoken"]
    spoken = alex.locator("#spoken").element_handle()
    alex.locator("#step-7 td[data-of]:text-is('8.453')").click()
    assert spoken.text_content().endswith("= 11.955 / √2 ≈ 8.453")
    alex.keyboard.press("Escape")
    alex.locator("#board").press("Enter")
    assert re.fullmatch(r"step \d+ of \d+, line 1 of \d+", spoken.text_content())
    alex.keyboard.press("Escape")
    alex.locator("#try").press("Enter")
    alex.locator(".working input").first.fill("x")
    alex.keyboard.press("Enter")
    assert spoken.text_content() == "not a number. Type digits, such as -0.5 or 2.1e-5."
    assert alex.locator(live).count() == 1


def test_each_table_has_a_caption(alex: Any) -> None:
    captions = alex.locator("main table").evaluate_all(
        "all => all.map(table => table.caption?.textContent)"
    )
    assert len(captions) > 40
    assert all(captions)
    assert "Alex decides where to eat: size, here, meaning" in captions


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
    assert alex.locator("#spoken").text_content() == line.text_content()
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
        assert len(lines) > 90
        assert [line for line in lines if re.sub(r"\s+", "", line) not in seen] == []
        rows = re.findall(r"^\| .*[0-9] \|$", tutorial, re.MULTILINE)
        assert len(rows) > 90
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


def test_an_exercise_on_paper_has_blanks(alex: Any) -> None:
    """A step that is asked is a worksheet."""
    alex.set_viewport_size(A4)
    alex.locator("#try").press("Enter")
    alex.emulate_media(media="print")
    blank = alex.locator(".attempt input:visible").first
    widths = "n => [getComputedStyle(n).borderTopWidth, getComputedStyle(n).borderBottomWidth]"
    assert blank.evaluate(widths) == ["0px", "1px"]
    assert alex.locator("button:visible, #controls:visible").count() == 0


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
