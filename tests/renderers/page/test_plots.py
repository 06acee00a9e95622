"""Plots on a page: pointed at, clicked, for each token, hidden while answers are asked for."""

from __future__ import annotations

from typing import Any

HEAD = "#step-9 :not([hidden]) > .plot"


def test_numbers_in_plots_are_those_of_the_page(alex: Any) -> None:
    """Pointing at a number shows its line; a click on an arc leads to its place in the matrix."""
    number = alex.locator(f"{HEAD} text[data-of]").get_by_text("0.006", exact=True).first
    number.scroll_into_view_if_needed()
    box = number.bounding_box()
    alex.mouse.move(box["x"] - 30, box["y"])
    alex.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "A¹[Alex, Alex] = 644 / 109078 ≈ 0.006" in alex.locator("#line").text_content()
    lit = alex.evaluate("of => getComputedStyle(document.querySelector(of)).fill", f"{HEAD} .here")
    assert lit == alex.evaluate("getComputedStyle(document.querySelector('td.here')).outlineColor")
    alex.locator(f"{HEAD} path[data-of]").first.dispatch_event("click")
    focused = alex.evaluate("document.activeElement.dataset.of")
    assert focused == alex.locator(f"{HEAD} path[data-of]").first.get_attribute("data-of")
    assert alex.evaluate("document.activeElement.tagName") == "TD"


def test_every_mark_that_shows_a_number_shows_that_of_the_page(alex: Any) -> None:
    wrong = """() => {
      const { values } = JSON.parse(document.getElementById("data").textContent).tape;
      const marks = [...document.querySelectorAll(".plot text[data-of]")];
      return [marks.length, marks.filter(mark => {
        const [value, at] = mark.dataset.of.split(":");
        const [row, column] = at.split(",").map(Number);
        return decoderTrace.printed(values[value].address)[row][column] !== mark.textContent;
      }).length];
    }"""
    number, different = alex.evaluate(wrong)
    assert number > 100
    assert different == 0


def test_plots_follow_the_token_and_are_hidden_while_answers_are_asked_for(alex: Any) -> None:
    names = """[...document.querySelectorAll(".plot")].filter(plot => plot.checkVisibility())
      .map(plot => plot.ariaLabel)"""
    before = alex.evaluate(names)
    assert any("Alex attends to Frank (0.964)" in name for name in before)
    alex.select_option("#token", "1")
    after = alex.evaluate(names)
    assert any("Emma attends to Frank (0.981), Emma (0.019)." in name for name in after)
    assert not any("Alex attends" in name for name in after)
    alex.locator("#try").click()
    assert alex.evaluate(names) == []
    alex.locator("#try").click()
    assert alex.evaluate(names) == after


def test_colors_that_the_reader_forces_keep_the_followed_token_apart(alex: Any) -> None:
    alex.emulate_media(forced_colors="active")
    colors = alex.evaluate(
        """([...kinds]) => kinds.map(kind =>
          getComputedStyle(document.querySelector(`.plot path.${kind}`)).stroke)""",
        ["positive", "other"],
    )
    assert len(set(colors)) == 2
