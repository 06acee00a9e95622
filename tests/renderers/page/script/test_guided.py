"""The guided walk: a stop for each kind of step, with live numbers, by keyboard and by link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import focused, opened, violations
from tests.helpers.truth import false_equations, unreadable
from tests.renderers.page.conftest import SIZE, Saved

STOPS = [
    *("Tokens and embeddings", "Input vectors", "Head 1 · Query", "Head 1 · Key", "Head 1 · Value"),
    *("Head 1 · Attention scores", "Head 1 · Mask", "Head 1 · Softmax: the attention weights"),
    *("Head 1 · Weighted sum of the values", "Attention output"),
    *("Residual connection after attention", "LayerNorm after attention", "FFN: hidden layer"),
    *("FFN: activation", "FFN: output", "Output of the model"),
]
"""Of alex, whose heads differ most in the first."""
LAST = len(STOPS)
SCORES = STOPS.index("Head 1 · Attention scores") + 1
HOW: dict[str, Any] = {"viewport": SIZE, "reduced_motion": "reduce"}

SEEN = """() => {
  const texts = at => [...document.querySelectorAll(at)].filter(e => e.checkVisibility());
  const [stop] = texts(".stop");
  const here = texts("#operands .here").at(-1);
  const section = document.getElementById(stop.dataset.section).closest("section");
  const own = here && section.querySelector(`td[data-of="${here.dataset.of}"]`);
  return {
    title: stop.querySelector("h2").textContent,
    goal: stop.querySelector("p").textContent,
    said: [...section.querySelectorAll("p")].map(p => p.textContent),
    box: document.querySelector(".diagram [aria-current]").dataset.step === stop.dataset.step,
    place: document.getElementById("board-place").textContent,
    spoken: document.getElementById("spoken").textContent,
    result: here?.textContent,
    inText: own?.textContent,
    line: document.getElementById("line").textContent,
    operands: [...document.querySelectorAll("#line [data-go]")].map(e => e.dataset.go),
    lit: [...document.querySelectorAll("#operands .lit")].map(e => e.dataset.of),
  };
}"""


@pytest.fixture
def walk(browser: Any, saved: Saved) -> Iterator[Any]:
    """Alex in the overview, and a reader who presses the button."""
    with opened(browser, saved("alex"), everything=False, **HOW) as page:
        page.click("#walk-through")
        yield page


def test_each_stop_shows_a_number_with_its_operands_and_its_line(walk: Any) -> None:
    """The sentence, the numbers and the line are those of the text."""
    for number, title in enumerate(STOPS, 1):
        seen = walk.evaluate(SEEN)
        assert (seen["title"], seen["place"]) == (title, f"{number} of {LAST}")
        assert seen["box"]
        assert seen["goal"] in seen["said"]
        assert seen["spoken"].startswith(f"{number} of {LAST} {title} {seen['goal']}")
        assert seen["spoken"].endswith(seen["line"])
        if number < LAST:
            assert seen["result"] == seen["inText"]
            name, _, line = seen["line"].partition(" = ")
            assert line.split()[-1] == seen["result"] or number == 1
            assert not unreadable(f"    x: {line}\n") or number == 1
            assert false_equations(f"    x: {line}\n") == []
            if " is " not in name:  # else the number is that of another matrix
                assert set(seen["operands"]) == set(seen["lit"])
        walk.keyboard.press("ArrowRight")
    assert walk.locator("#operands .bars caption").all_text_contents() == [
        "“Alex” at the input, with its position",
        "“Alex” at the output",
    ]


def test_keys_lead_on_and_back_and_out_at_the_section_that_was_reached(walk: Any) -> None:
    assert focused(walk) == "next"
    for key, number in [
        *(("ArrowLeft", 1), ("ArrowRight", 2), (" ", 3), ("Backspace", 2), ("PageDown", 3)),
        *(("End", LAST), ("ArrowRight", LAST), ("Home", 1)),
    ]:
        walk.keyboard.press(key)
        assert walk.locator("#board-place").inner_text() == f"{number} of {LAST}"
        assert focused(walk) == ("end" if number == LAST else "next") or number == 1
    walk.click("#next")
    walk.click("#before")
    for _ in range(SCORES - 1):
        walk.keyboard.press("ArrowRight")
    walk.keyboard.press("Escape")
    assert focused(walk) == "step-7"
    top = walk.locator("#step-7").bounding_box()["y"]
    assert 0 <= top < SIZE["height"] / 3
    assert walk.locator("#level").input_value() == "1"
    of_walk = ".stop:visible, #operands *, #board-keys:visible, #board-map *"
    assert walk.locator(of_walk).count() == 0
    assert walk.locator("#line:empty").count() == 1


def test_operands_fly_to_their_result_unless_motion_is_reduced(walk: Any) -> None:
    count = "() => document.querySelectorAll('.flying').length"
    for _ in range(SCORES - 1):
        walk.keyboard.press("ArrowRight")
    assert walk.evaluate(count) == 0
    walk.emulate_media(reduced_motion="no-preference")
    walk.keyboard.press("ArrowLeft")
    walk.keyboard.press("ArrowRight")
    assert walk.evaluate(count) >= len(walk.evaluate(SEEN)["lit"])
    walk.wait_for_selector(".flying", state="detached")
    assert walk.locator("#operands .here").inner_text() == "11.563"


def test_a_walk_goes_on_with_a_number_that_is_changed(walk: Any) -> None:
    """It is typed at the first stop."""
    walk.locator("#operands td.typed.here").click()
    walk.keyboard.type("0.5")
    walk.keyboard.press("Enter")
    assert walk.locator("#line").inner_text().split()[1:4] == ["cheap]", "=", "0.5,"]
    address, row = "layer1.attention.head1.scores", "Alex"
    for _ in range(SCORES - 1):
        walk.click("#next")
    seen = walk.evaluate(SEEN)
    assert seen["title"] == STOPS[SCORES - 1]
    assert seen["result"] not in ("11.563", "")
    printed = walk.evaluate("at => decoderTrace.printed(at)[3][0]", address)
    line = walk.evaluate("([at, row]) => decoderTrace.line(at, row, 'Frank')", [address, row])
    assert seen["result"] == printed
    assert seen["line"] == f"S¹[Alex, Frank] = {line}, was 11.563"
    assert walk.locator("#operands p:visible").all_text_contents() == ["d_k = 2"]
    walk.evaluate("decoderTrace.undo()")
    assert walk.evaluate(SEEN)["result"] == "11.563"
    assert walk.locator("#line").inner_text().endswith("11.563")


def test_a_box_of_the_diagram_leads_to_its_stop_and_another_one_out(walk: Any) -> None:
    walk.click(".diagram a[href='#step-9']")
    assert walk.evaluate(SEEN)["title"] == "Head 1 · Softmax: the attention weights"
    walk.locator(".diagram a[href='#step-18']").dispatch_event("click")
    walk.wait_for_selector("body:not(.guided) #step-18:visible")


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
def test_a_stop_is_one_screen_that_everybody_can_read(width: int, walk: Any) -> None:
    walk.set_viewport_size({"width": width, "height": 844})
    for _ in range(SCORES - 1):
        walk.keyboard.press("ArrowRight")
    assert violations(walk) == []
    assert walk.evaluate("document.documentElement.scrollWidth") <= width
    line, keys = (walk.locator(at).bounding_box() for at in ("#line", "#board-keys"))
    assert line["y"] + line["height"] <= keys["y"]


def test_a_walk_through_two_towers_has_a_line_at_each_stop(browser: Any, saved: Saved) -> None:
    """Also of the keys of an encoder's token, which the decoder's token attends to most."""
    with opened(browser, saved("pizza"), "#walk", everything=False, **HOW) as page:
        last = int(page.locator("#board-place").inner_text().split()[-1])
        for number in range(1, last):
            seen = page.evaluate(SEEN)
            assert seen["line"].split()[-1] == seen["result"] or number == 1
            page.keyboard.press("ArrowRight")
        assert page.evaluate(SEEN)["title"] == "Prediction"
        assert page.locator("#operands .bars").is_visible()
