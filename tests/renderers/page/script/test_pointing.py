"""A number that is pointed at has its line beside it, and lights what it was made of."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import opened, show_without_mask, unfold
from tests.helpers.truth import false_equations, unreadable
from tests.renderers.page.conftest import Saved

POINT_AT_EACH = """([within, every]) =>
  [...document.querySelectorAll(within + " .matrix td[data-of]")]
  .filter((cell, i) => i % every === 0 && cell.checkVisibility())
  .map(cell => {
    cell.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, cancelable: true}));
    const lit = [...document.querySelectorAll("td.lit, #sources .lit")];
    return {
      number: cell.textContent,
      line: document.getElementById("line").textContent,
      put_in: [...document.querySelectorAll("#line [data-go]")].map(n => n.textContent),
      lit: [...new Map(lit.map(n => [n.dataset.of || n.dataset.lit, n.textContent])).values()],
      hues: new Set([...document.querySelectorAll("#sources .swatch")].map(n => n.className)).size,
      sources: document.querySelectorAll("#sources .swatch").length,
      here: cell.classList.contains("here"),
    };
  })"""

OF_FORMULAS = {"0", "1", "2", "3", "0.01", "1×10⁻⁵"}
"""Numbers that the formula has: squares, max(0, …), the learning rate, ε."""


def numbers(text: str) -> list[str]:
    return re.findall(r"[0-9]+(?:\.[0-9]+)?(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text)


def assert_worked(pointed: list[dict[str, Any]]) -> int:
    """Each line is true, ends in the number, and is made of what is lit; how many lines."""
    for each in pointed:
        each["name"], each["line"] = each["line"].split(" = ", 1)
    lines = [each for each in pointed if re.search("[=≈]", each["line"])]
    text = "".join(f"    x: {each['line']}\n" for each in lines)
    # Of a slope's value, 0 or 1, there is nothing to judge.
    assert [line for line in unreadable(text) if "ReLU′" not in line] == []
    assert false_equations(text) == []
    for each in lines:
        first, *_, last = re.split(" [=≈] ", each["line"])
        assert last == each["number"]
        assert each["here"]
        lit = {number.removeprefix("-") for number in each["lit"]}
        put_in = {number.removeprefix("-") for number in each["put_in"]}
        # A line may put a number in with a digit more than its matrix shows.
        assert put_in == lit or {number[: len("1.732")] for number in put_in ^ lit} <= lit
        beside = Counter(numbers(first.replace("∞", ""))).keys() - put_in
        assert beside <= OF_FORMULAS | {n for n in beside if f"/ {n}" in first}
        assert each["hues"] == each["sources"] or each["sources"] > 5
    others = [each for each in pointed if each not in lines]
    assert all(not each["put_in"] and not each["lit"] for each in others)
    assert all(each["line"].removesuffix(", given") == each["number"] for each in others)
    return len(lines)


def test_every_fourth_number_of_alex_has_its_line(alex: Any) -> None:
    show_without_mask(alex)
    unfold(alex)
    assert assert_worked(alex.evaluate(POINT_AT_EACH, ["main", 4])) > 100


@pytest.mark.fuzz
@pytest.mark.parametrize("token", ["Frank", "Emma", "Daniel", "Alex"])
def test_every_number_has_its_line_for_every_token(token: str, alex: Any) -> None:
    alex.select_option("#token", label=token)
    unfold(alex)
    assert assert_worked(alex.evaluate(POINT_AT_EACH, ["main", 1])) > 350


@pytest.mark.fuzz
@pytest.mark.parametrize(("options", "fewest"), [((), 1_500), (("--train",), 4_900)])
def test_every_number_of_pizza_has_its_line(
    options: tuple[str, ...], fewest: int, browser: Any, saved: Saved
) -> None:
    with opened(browser, saved("pizza", *options)) as page:
        assert assert_worked(page.evaluate(POINT_AT_EACH, ["main", 1])) > fewest


@pytest.mark.fuzz
def test_wrong_bytes_are_seen(browser: Any, saved: Saved, tmp_path: Path) -> None:
    """Of a number that is put in, of the result, in the data beside the script."""
    html = saved("alex").read_text(encoding="utf-8")
    false = tmp_path / "false.html"
    lines = '{"number":"11.131","work":['
    assert html.count(lines) == 1
    before, after = html.split(lines)
    false.write_text(before + lines + after.replace("4.987", "4.978", 1), encoding="utf-8")
    with opened(browser, false) as page:
        pointed = page.evaluate(POINT_AT_EACH, ["#step-7", 1])
    (wrong,) = (each for each in pointed if each["number"] == "11.131")
    others = [each for each in pointed if each is not wrong]
    assert_worked(others)
    with pytest.raises(AssertionError):
        assert_worked([wrong])


SEEN = """n => {
  const {x, y} = n.getBoundingClientRect();
  return n.contains(document.elementFromPoint(x + 4, y + 4));
}"""


NUMBERS_IN_ROWS = """() => [...document.querySelectorAll("li.drawn .work")]
  .filter((work) => work.checkVisibility())
  .flatMap((work) => {
    const walker = document.createTreeWalker(work, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const signs = [];
    while (walker.nextNode())
      for (const [i, sign] of [...walker.currentNode.data].entries()) {
        range.setStart(walker.currentNode, i);
        range.setEnd(walker.currentNode, i + 1);
        if (sign.trim()) signs.push([sign, range.getBoundingClientRect().bottom]);
      }
    return signs.flatMap(([sign, bottom], i) =>
      signs[i + 1]?.[1] > bottom + 9 ? [[sign, work.textContent]] : []);
  })"""
"""The last sign of each row of a worked line but its last row, with the line."""


@pytest.mark.parametrize("width", [390, 320, 500])
def test_no_row_of_a_line_ends_with_a_sign(width: int, alex: Any) -> None:
    alex.set_viewport_size({"width": width, "height": 700})
    ends = alex.evaluate(NUMBERS_IN_ROWS)
    assert len(ends) > 50
    assert [line for sign, line in ends if sign in "-+=≈("] == []


def test_the_panel_never_hides_what_the_mouse_is_on(alex: Any) -> None:
    alex.set_viewport_size({"width": 800, "height": 700})
    cell = alex.locator("#step-7 td[data-of]:text-is('8.453')")
    for block in ("start", "center", "end"):
        cell.evaluate(f"n => n.scrollIntoView({{block: '{block}'}})")
        box = cell.bounding_box()
        alex.mouse.move(1, 1)
        alex.mouse.move(box["x"] + 9, box["y"] + 9)
        assert alex.locator("#line .title").inner_text() == "S¹[Frank, Daniel] ="
        assert cell.evaluate(SEEN)
        alex.keyboard.press("Escape")
        assert alex.locator("#line:empty").count() == 1


def test_nor_what_a_finger_taps(browser: Any, saved: Saved) -> None:
    """A number where the panel would stand, then a source of it."""
    size = {"width": 360, "height": 700}
    with opened(browser, saved("alex"), viewport=size, has_touch=True) as page:
        cell = page.locator("#step-7 td[data-of]:text-is('8.453')")
        for block in ("start", "end"):
            cell.evaluate(f"n => n.scrollIntoView({{block: '{block}'}})")
            box = cell.bounding_box()
            page.touchscreen.tap(box["x"] + 9, box["y"] + 9)
            assert page.locator("#line .title").inner_text() == "S¹[Frank, Daniel] ="
            assert cell.evaluate(SEEN)
            page.tap("#line [data-go]:text-is('4.987')")
            assert page.locator("td.here").evaluate(SEEN)
            assert page.locator("td.here").text_content() == "4.987"
            assert page.locator("#trail li").count() == 2
            page.tap("#close")
            assert page.locator("#line:empty").count() == 1


def test_a_number_that_was_left_is_pointed_at_again(alex: Any) -> None:
    cell = alex.locator("#step-7 td[data-of]").first
    for _ in range(2):
        cell.click()
        assert alex.locator("#line").inner_text()
        alex.keyboard.press("Escape")
        assert not alex.locator("#line").inner_text()
        assert alex.locator(".lit, .here").count() == 0
