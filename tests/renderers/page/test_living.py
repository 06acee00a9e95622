"""Edits in a browser: a page shows the numbers that the program prints of the changed file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.helpers.browser import opened
from tests.helpers.bundled import TYPED
from tests.helpers.evaluated import line_of, loaded, numbers_of, other, printed
from tests.helpers.worked_in_script import Program
from tests.renderers.page.conftest import SIZE, Saved

SHOWN = """() => {
  const { values } = JSON.parse(document.getElementById("data").textContent).tape;
  const rows = values.map(({ address }) => [address, decoderTrace.printed(address)]);
  const printed = Object.fromEntries(rows);
  const shows = (place) => {
    const [value, at] = place.dataset.of.split(":");
    if (!(value in values) || place.closest(".of-file")) return true;
    const index = at.split(",").filter(Boolean).map(Number);
    const [row, column] = index.length > 1 ? index : [0, ...index, 0];
    return place.textContent === printed[values[value].address][row][column];
  };
  const places = [...document.querySelectorAll("td[data-of], .plot text[data-of]")];
  const different = places.filter((place) => !shows(place)).map((place) => place.outerHTML);
  return { printed, scenario: decoderTrace.scenario(), different };
}"""
"""The numbers of the page by address, the text of the scenario, and places that show others."""

LINE = "([address, ...at]) => decoderTrace.line(address, ...at)"

CALL = """([name, given]) => {
  try {
    decoderTrace[name](...given.map((each) => each ?? undefined)); // a vector has no column
  } catch (error) {
    return error.message;
  }
}"""

CELL = """of => document.querySelector(`#text section:not([hidden]) td.typed[data-of="${of}"]`)"""

WAYS = ("edit", "edit", "set", "type", "arrows", "drag")
"""How a reader changes a number; the last three in a field over its cell."""


class Reader:
    """Makes random changes on an open page, and knows what is typed where."""

    def __init__(self, page: Any, random: Random) -> None:
        self.page, self.random = page, random
        self.tape = page.evaluate("JSON.parse(document.getElementById('data').textContent).tape")
        numbers = numbers_of(self.tape)
        self.typed = [
            (of, at, place, numbers[place])
            for of, value in enumerate(self.tape["values"])
            for at, place in enumerate(value.get("places", ()))
            if place >= 0 and self.tape["spans"][place]
        ]

    def change(self, way: str) -> None:
        """Change a number or a setting; what has no result leaves the page as it is."""
        of, at, _, present = self.random.choice(self.typed)
        value = self.tape["values"][of]
        index = list(np.ndindex(*value["shape"]))[at]
        number = other(self.random, present, [typed for *_, typed in self.typed])
        if way == "set" and self.tape["settings"]:
            setting = self.random.choice(self.tape["settings"])
            choices = [*setting["choices"], *(["0.7", "3"] if setting["number"] else [])]
            self.call("set", setting["name"], self.random.choice(choices))
        elif way in ("edit", "set") or not self.open_field(f"{of}:{','.join(map(str, index))}"):
            row, column = [*[i + 1 for i in index], None, None][:2]
            self.call("edit", value["address"], row, column, number)
        elif way == "type":
            self.page.keyboard.type(number)
            self.page.keyboard.press("Enter")
        elif way == "arrows":
            for key in self.random.choices(("ArrowUp", "ArrowDown", "PageUp", "PageDown"), k=3):
                self.page.keyboard.press(key)
            self.page.keyboard.press("Enter")
        else:
            self.page.keyboard.press("Escape")
            self.drag()
        self.page.keyboard.press("Escape")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the page; it may say that there is no result."""
        said = self.page.evaluate(CALL, [name, arguments])
        assert said is None or said[0].islower(), said

    def open_field(self, of: str) -> bool:
        """Open the field of a cell with a click; a value may have no cell in sight."""
        cell = self.page.evaluate_handle(CELL, of).as_element()
        if cell is None or not cell.is_visible():
            return False
        cell.scroll_into_view_if_needed()
        cell.click()
        self.cell = cell
        return bool(self.page.locator("#typed").is_visible())

    def drag(self) -> None:
        """Drag the number of the last cell to the left or to the right."""
        box = self.cell.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for part in (1, 2, 3):
            self.page.mouse.move(x + part * self.random.choice((-40, -7, 7, 40)), y)
        self.page.mouse.up()
        self.page.keyboard.press("Enter")


def faults(page: Any, random: Random) -> list[str]:
    """What the page shows and the program does not print of the changed scenario."""
    shown = page.evaluate(SHOWN)
    _, trace = loaded(shown["scenario"])
    wanted, program = printed(trace), Program(trace)
    found = [f"shown: {each}" for each in shown["different"]]
    found += [
        f"{address}: {shown['printed'][address]} in place of {numbers}"
        for address, numbers in wanted.items()
        if list(chain.from_iterable(shown["printed"][address])) != numbers
    ]
    for record in random.sample(trace.records, len(trace.records) // 3):
        value = record.output
        if value.role.words or 0 in value.shape:
            continue
        at = random.choice(list(np.ndindex(value.shape)))
        line = line_of(program.entry(record, at))
        said = page.evaluate(LINE, [value.address, *[i + 1 for i in at]])
        if said != line:
            found.append(f"{value.address}{at}: {said} in place of {line}")
    return found


def faults_of_edits(browser: Any, html: Path, name: str, ways: Sequence[str]) -> list[str]:
    """What is wrong after each of the changes, and after all are undone."""
    random = Random(name)
    found = []
    with opened(browser, html, viewport=SIZE) as page:
        reader = Reader(page, random)
        first = page.evaluate(SHOWN)
        for way in ways:
            reader.change(way)
            found += [f"{way}: {fault}" for fault in faults(page, random)]
            if random.random() < 0.1:
                page.evaluate("decoderTrace.undo()")
                found += [f"undo: {fault}" for fault in faults(page, random)]
        assert page.evaluate(SHOWN) != first
        page.click("#reset")
        if page.evaluate(SHOWN) != first:
            found.append("what is reset is not as it was")
    return found


def test_edits_of_alex(browser: Any, saved: Saved) -> None:
    assert faults_of_edits(browser, saved("alex"), "alex", WAYS) == []


def test_the_slider_says_why_there_is_no_result(browser: Any, saved: Saved) -> None:
    slide = "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')) }"
    with opened(browser, saved("experts"), viewport=SIZE) as page:
        slider = page.locator("#dragged input")
        first = page.evaluate(SHOWN)
        slider.evaluate(slide, "-2")
        said = page.locator("#problem").text_content()
        assert said == "No result: a token goes to other experts."
        assert page.evaluate(SHOWN) == first
        slider.evaluate(slide, "1")
        assert page.locator("#problem").text_content() == ""
        assert page.evaluate(SHOWN) != first


OF_FILE = """() => {
  const { values } = JSON.parse(document.getElementById("data").textContent).tape;
  const places = [...document.querySelectorAll("[data-of]")];
  const shown = places.filter((each) => each.checkVisibility());
  return shown.map(({ dataset }) => dataset.of).filter((of) => !(of.split(":")[0] in values));
}"""
"""The numbers that are shown of other passes than that of the tape."""


def test_no_line_of_another_pass_has_changed_numbers(browser: Any, saved: Saved) -> None:
    """The loss and its gradients are those of the file, and hidden while the numbers are not."""
    with opened(browser, saved("alex-learns", "--train"), viewport=SIZE) as page:
        shown = page.evaluate(OF_FILE)
        assert len(shown) > 100
        page.evaluate("decoderTrace.edit('embedding', 1, 1, 0.7)")
        assert page.evaluate(OF_FILE) == []
        page.evaluate("decoderTrace.undo()")
        assert page.evaluate(OF_FILE) == shown


EDITS = 300


@pytest.mark.fuzz
@pytest.mark.parametrize("name", sorted(TYPED))
def test_three_hundred_edits(name: str, browser: Any, saved: Saved) -> None:
    ways = Random(f"ways {name}").choices(WAYS, k=EDITS // len(TYPED) + 1)
    assert faults_of_edits(browser, saved(name), name, ways) == []
