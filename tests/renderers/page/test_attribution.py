"""The page of an attribution: pointing at a bar or a cell shows the calculation of its part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import focused, opened, violations
from tests.helpers.command import printed
from tests.helpers.every_judge import faults_of_page
from tests.helpers.strict_json import document
from tests.helpers.truth import false_equations, unreadable

LARGE = """
title: t
tokens: [a, b, c]
random: {seed: 3}
dimensions: {layers: 3, width: 16, heads: 4, words: 20, context: 9}
"""
ASKED = {
    "alex": (("attribute", "output[Alex,cheap]", "-s", "alex"), ""),
    "pizza": (("attribute", "logits[la,pizza]", "-s", "pizza", "--instead-of", "la"), ""),
    "large": (("attribute", "logits[c,w13]", "-s", "-"), LARGE),
}
TELEPHONE = {"width": 390, "height": 740}
A4 = {"width": 718, "height": 1047}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, (words, stdin) in ASKED.items():
        _, entry, _, scenario, *options = words
        page = ("page", scenario, "--attribute", entry, *options)
        printed(*page, "-o", str(folder / f"{name}.html"), stdin=stdin)
    return {name: folder / f"{name}.html" for name in ASKED}


def calculated(html: str, cell: str) -> dict[str, Any]:
    """The entry that a number is a copy of, as the script follows it."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert data
    values = json.loads(data[1])["values"]
    while True:
        source, at = cell.split(":")
        entry: dict[str, Any] = values[int(source)]["entries"][at]
        if "is" not in entry:
            return entry
        cell = entry["is"]


@pytest.mark.parametrize("name", ASKED)
def test_each_bar_and_each_cell_leads_to_the_calculation_of_its_part(
    name: str, pages: dict[str, Path]
) -> None:
    html = pages[name].read_text(encoding="utf-8")
    words, stdin = ASKED[name]
    parts = {part["label"]: part for part in document(*words, stdin=stdin)["parts"]}
    bars = re.findall(r'dir="auto">([^<]*)</th><td data-of="([\d:,]+)"><span>([^<]*)<', html)
    assert [label for label, _, _ in bars] == list(parts)[: len(bars)]
    assert len(bars) == min(len(parts), 16 if name != "large" else 10)
    heads = re.findall(r'<td data-of="([\d:,]+)" class="(?:heat|cold)-\d+">([^<]*)<', html)
    assert bool(heads) == (name != "alex")
    for of, number in (*((of, number) for _, of, number in bars), *heads):
        entry = calculated(html, of)
        line = "".join(p if isinstance(p, str) else p[0] for p in entry.get("work", ["0"]))
        text = f"    x: {line} {entry.get('sign', '=')} {entry.get('result', '0')}\n"
        assert (unreadable(text), false_equations(text)) == ([], [])
        assert number == entry["number"]
        assert "work" in entry or number == "0"
    for label, _, number in bars:
        assert parts[label]["printed"] == number


@pytest.mark.parametrize("name", ["alex", "pizza"])
def test_the_judge_of_pages_reads_it(name: str, pages: dict[str, Path]) -> None:
    assert faults_of_page(pages[name].read_text(encoding="utf-8")) == []


def test_each_bar_of_a_score_leads_to_the_calculation_of_its_pair(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    entry = "layer2.attention.head1.scores[la,Me]"
    printed("page", "pizza", "--attribute", entry, "-o", str(page))
    html = page.read_text(encoding="utf-8")
    assert faults_of_page(html) == []
    parts = document("attribute", entry, "-s", "pizza")["parts"]
    bars = re.findall(r'dir="auto">([^<]*)</th><td data-of="([\d:,]+)"><span>([^<]*)<', html)
    assert len(bars) == 12 and len(parts) == 81
    for (label, of, number), part in zip(bars, parts, strict=False):
        found = calculated(html, of)
        line = "".join(p if isinstance(p, str) else p[0] for p in found["work"])
        text = f"    x: {line} {found['sign']} {found['result']}\n"
        assert (unreadable(text), false_equations(text)) == ([], [])
        assert number == found["number"] == part["printed"]
        assert re.fullmatch("a[₁-₉] · b[₁-₉]", label)


@pytest.fixture(scope="module")
def opened_pizza(browser: Any, pages: dict[str, Path]) -> Iterator[Any]:
    with opened(browser, pages["pizza"], viewport=TELEPHONE, color_scheme="dark") as page:
        yield page


def test_pointing_at_a_bar_shows_its_calculation(opened_pizza: Any) -> None:
    page = opened_pizza
    bar = page.locator(".bars svg").nth(1)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    for share in (0.4, 0.5):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    number = page.locator(".bars td").nth(1).inner_text().strip()
    line = page.locator("#line").inner_text()
    assert line.startswith("c[layer 2, head 1] is c")
    assert line.endswith(number) and "×" in line
    assert page.locator("td.here").count() > 1  # the bar, its number in the list, its cell


def test_the_keyboard_goes_from_bar_to_bar_and_to_the_calculation(opened_pizza: Any) -> None:
    page = opened_pizza
    page.locator(".bars td[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#line .title").inner_text().startswith("c[layer 1, head 2] is c")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator("#trail li").count() == 2
    page.keyboard.press("Escape")
    page.locator("table:has(.legend) td[tabindex='0']").first.focus()
    page.keyboard.press("ArrowRight")
    assert "c[layer 1, head 2] is c" in page.locator("#line").inner_text()
    assert focused(page)
    page.keyboard.press("Escape")


def test_it_is_accessible_and_fits(opened_pizza: Any) -> None:
    page = opened_pizza
    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE["width"]
    page.emulate_media(color_scheme="dark")
    page.locator(".bars td[data-of]").first.click()
    assert violations(page, ".bars, #panel") == []
    page.set_viewport_size(A4)
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator("#panel:visible").count() == 0
    right = "[...document.querySelectorAll('.bars rect')].map(n => n.getBoundingClientRect().right)"
    assert 0 < max(page.evaluate(right)) <= A4["width"]
