"""What the page does in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tracer.renderers.page
from tests.helpers.browser import AXE, opened, violations
from tests.helpers.command import printed
from tests.helpers.truth import false_equations, unreadable

SCRIPT = Path(tracer.renderers.page.__file__).parent / "page.js"
TSC = AXE.parent.parent / "typescript" / "bin" / "tsc"

POINT_AT_EACH = """every => [...document.querySelectorAll("table.matrix td[data-of]")]
  .filter(cell => cell.checkVisibility())
  .filter((_, i) => i % every === 0)
  .map(cell => {
    cell.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, cancelable: true}));
    const lit = [...document.querySelectorAll("td.lit, #line .lit")];
    return {
      number: cell.textContent,
      line: document.querySelector("#line .line").textContent,
      put_in: [...document.querySelectorAll("#line .line [data-go]")].map(n => n.textContent),
      lit: [...new Map(lit.map(n => [n.dataset.of || n.dataset.lit, n.textContent])).values()],
      hues: new Set([...document.querySelectorAll("#line .swatch")].map(n => n.className)).size,
      sources: document.querySelectorAll("#line .swatch").length,
      here: cell.classList.contains("here"),
    };
  })"""

OF_FORMULAS = {"0", "1", "2", "3", "0.01", "1×10⁻⁵"}
"""Numbers that the formula has: squares, max(0, …), the learning rate, ε."""


def saved(folder: Path, *arguments: str, stdin: str = "") -> Path:
    html = folder / "page.html"
    printed("page", *arguments, "-o", str(html), stdin=stdin)
    return html


def numbers(text: str) -> list[str]:
    return re.findall(r"[0-9]+(?:\.[0-9]+)?(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text)


def assert_worked(pointed: list[dict[str, Any]]) -> int:
    """Each line is true, ends in the number, and is made of what is lit; how many lines."""
    lines = [each for each in pointed if re.search("[=≈]", each["line"])]
    text = "".join(f"    x: {each['line']}\n" for each in lines)
    # Of a slope's value, 0 or 1, there is nothing to judge.
    assert [line for line in unreadable(text) if "ReLU′" not in line] == []
    assert false_equations(text) == []
    for each in lines:
        first, last = re.split(" [=≈] ", each["line"])[0], re.split(" [=≈] ", each["line"])[-1]
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


def test_every_number_of_alex_has_its_line(browser: Any, tmp_path: Path) -> None:
    with opened(browser, saved(tmp_path, "alex")) as page:
        page.check("#unmasked")
        assert assert_worked(page.evaluate(POINT_AT_EACH, 1)) > 400


def test_numbers_of_pizza_have_their_lines(browser: Any, tmp_path: Path) -> None:
    with opened(browser, saved(tmp_path, "pizza", "--train")) as page:
        assert assert_worked(page.evaluate(POINT_AT_EACH, 61)) > 80


@pytest.mark.fuzz
@pytest.mark.parametrize(("options", "every", "fewest"), [((), 1, 1_500), (("--train",), 7, 700)])
def test_every_number_of_pizza_has_its_line(
    options: tuple[str, ...], every: int, fewest: int, browser: Any, tmp_path: Path
) -> None:
    with opened(browser, saved(tmp_path, "pizza", *options)) as page:
        assert assert_worked(page.evaluate(POINT_AT_EACH, every)) > fewest


def test_a_token_that_is_chosen_is_followed(browser: Any, tmp_path: Path) -> None:
    """Its text is that of the tutorial for it."""
    with opened(browser, saved(tmp_path, "alex")) as page:
        for token in ("Emma", "Frank"):
            page.select_option("#token", label=token)
            shown = [
                re.sub(r"\s+", "", text) for text in page.locator("li:visible").all_text_contents()
            ]
            tutorial = printed("run", "alex", "--token", token, "--format", "markdown")
            fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
            whole = "".join(fence for fence in fenced if "│" not in fence)
            lines = re.sub(r"\n +(?=[-+/=≈])", " ", whole).splitlines()
            assert [line for line in lines if re.sub(r"\s+", "", line) not in shown] == []
            assert page.locator("#step-4 tr.followed th").text_content() == token


def test_heads_and_the_mask_are_chosen(browser: Any, tmp_path: Path) -> None:
    with opened(browser, saved(tmp_path, "alex")) as page:
        page.select_option("#head", "2")
        assert page.locator("section[data-head='1']:visible").count() == 0
        assert page.locator("section[data-head='2']:visible").count() > 5
        page.check("#unmasked")
        without = page.locator("section[data-unmasked]:visible")
        assert without.count() == 1
        assert "Without the mask" in without.text_content()
        page.evaluate("location.hash = '#step-4'")  # a link leads to what is not chosen, too
        page.wait_for_selector("#step-4:visible")


def test_by_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    """From a number to its source, on from there, and back."""
    with opened(browser, saved(tmp_path, "alex")) as page:
        page.evaluate("document.querySelector('#step-7 [data-first-token] td[tabindex]').focus()")
        of = "document.activeElement.dataset.of"
        start = page.evaluate(of)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(of) == start.split(":")[0] + ":1,2"
        name = page.locator("#line .title").inner_text()
        assert name == "S¹[Emma, Daniel] ="
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert page.locator("#trail li").all_inner_texts() == [
            "S¹[Emma, Daniel]",
            "Q¹[Emma, street-stall]",
        ]
        assert page.evaluate("document.activeElement.closest('section').id") == "step-4"
        page.keyboard.press("Backspace")
        assert page.evaluate(of) == start.split(":")[0] + ":1,2"
        page.keyboard.press("Escape")
        assert page.locator("#panel").is_hidden()
        assert page.locator(".lit, .here").count() == 0


def test_the_board_hides_what_is_not_yet_revealed(browser: Any, tmp_path: Path) -> None:
    with opened(browser, saved(tmp_path, "alex")) as page:
        page.evaluate("document.getElementById('step-7').scrollIntoView()")
        page.click("#board")
        seen = page.locator(".current .result:visible")
        pieces = page.locator("#step-7 .unrevealed").count()
        assert seen.count() == 0
        results = []
        for _ in range(pieces):
            page.keyboard.press("ArrowRight")
            results.append(seen.count())
        assert results == sorted(results)
        assert results[-1] == 5
        assert set(results) == {0, 1, 2, 3, 4, 5}
        page.keyboard.press(" ")
        page.keyboard.press("ArrowRight")
        assert page.locator(".current").get_attribute("id") == "step-8"
        page.keyboard.press("Escape")
        assert page.locator(".unrevealed").count() == 0
        assert page.locator("#controls").is_visible()


TYPED = {
    "11.563": "right",
    "11.5631": "right",
    "11.5625": "right",
    "11.56250": "right",
    "11,563": "right",
    "11.564": "right but for the last digit",
    "11.56249": "right but for the last digit",
    "11.5635": "right but for the last digit",
    "-11.563": "wrong",
    "11.57": "wrong",
    "11.6": "wrong",
    "about 11": "wrong",
}
"""Beside 11.563, rounded half away from zero to three decimals."""


def test_what_is_typed_is_judged(browser: Any, tmp_path: Path) -> None:
    with opened(browser, saved(tmp_path, "alex", "--layer", "1", "--head", "1")) as page:
        answer = page.locator("#step-7 li:has(.label:text('Frank')):visible")
        for typed, verdict in TYPED.items():
            page.click("#try")
            assert "11.563" not in page.locator("#step-7").inner_text()
            answer.locator("input").fill(typed)
            answer.locator("input").press("Enter")
            assert answer.locator(".verdict").inner_text() == verdict
            assert "≈ 11.563" in answer.inner_text()
            assert f"1 {verdict}" in page.locator("#score").inner_text()
            assert page.evaluate("document.activeElement.tagName") == "INPUT"
            page.click("#try")
        assert page.locator(".blank, .working input").count() == 0
        assert page.locator("#score").inner_text() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_readers(scheme: str, browser: Any, tmp_path: Path) -> None:
    page_of = saved(tmp_path, "science")
    with opened(
        browser, page_of, color_scheme=scheme, viewport={"width": 360, "height": 740}
    ) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.locator("td[data-of]").last.click()
        page.click("#try")
        assert violations(page) == []
        page.click("#try")
        page.click("#board")
        assert violations(page) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["alex", "pizza", "comics"])
def test_nothing_is_in_the_way_of_readers_of_other_pages(
    name: str, browser: Any, tmp_path: Path
) -> None:
    with opened(browser, saved(tmp_path, name)) as page:
        assert violations(page) == []


def test_the_types_of_the_script_fit() -> None:
    node = shutil.which("node")
    if node is None or not TSC.is_file():
        pytest.skip("needs Node, and NODE_PATH naming the folder of typescript")
    how = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--moduleDetection", "force")
    libraries = ("--target", "es2022", "--lib", "es2022,dom,dom.iterable")
    ran = subprocess.run(
        [node, str(TSC), *how, *libraries, str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert ran.stdout == ""
    assert ran.returncode == 0
