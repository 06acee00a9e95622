"""The page in a browser: fields, settings and tokens; what changed; what another browser sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT
from typing import Any

import pytest

from tests.helpers.browser import focused, violations
from tests.helpers.bundled import TYPED
from tests.helpers.command import printed
from tests.helpers.server import Server, served

SIZE = {"width": 1280, "height": 720}
SEEN = """() => [...document.querySelectorAll("#text *")]
  .filter(n => n.checkVisibility() && n.matches("h2, h3, p, li, th, td, caption, figcaption"))
  .map(n => n.textContent.trim())"""

SET_WIDTH = "document.documentElement.style.setProperty('--drawing', '1px')"
WIDTH = """() => [
  parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--drawing")),
  Math.round(document.querySelector(".drawing svg").getAttribute("width")),
]"""
"""The width of the diagram, as the style has it and as it is drawn."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Server]:
    with served("science", "--compare") as server:
        yield server


def show_everything(page: Any) -> None:
    """The page begins with an overview."""
    page.wait_for_selector("body.ready", state="attached")
    page.select_option("#level", "2")


@contextmanager
def opened(browser: Any, server: Server, **how: Any) -> Iterator[Any]:
    """The page; nothing is asked for but of the server, and nothing is wrong with the script."""
    context = browser.new_context(viewport=SIZE, **how)
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    show_everything(page)
    yield page
    context.close()
    assert [each for each in complaints if "400 (Bad Request)" not in each] == []
    own = f"http://127.0.0.1:{server.port}/"
    assert [url for url in asked if not url.startswith((own, "data:"))] == []


@pytest.fixture
def page(browser: Any, lab: Server) -> Iterator[Any]:
    """One that shows the scenario of the file, as it is behind the test."""
    with opened(browser, lab) as page:
        yield page
    lab.ask("POST", "/reset")


def cell(page: Any, step: int, row: str, column: int = 0) -> Any:
    return page.locator(f"#step-{step} tr:has(th:text-is('{row}')) td").nth(column)


def reached(page: Any, row: str) -> Any:
    """The first cell of a row of the first matrix, by the keyboard."""
    page.locator("#step-1 td[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    return cell(page, 1, row)


def answered(page: Any, act: Any, path: str = "edit") -> int:
    """The status of what an action asks for, once the page has shown it."""
    with page.expect_response(f"**/{path}?*") as answer:
        act()
    page.wait_for_timeout(50)
    return int(answer.value.status)


def assert_as_new(page: Any) -> None:
    """What is seen is what a browser shows that has just come."""
    seen, token = page.evaluate(SEEN), page.locator("#token").input_value()
    page.reload()
    show_everything(page)
    page.select_option("#token", token)
    assert seen == page.evaluate(SEEN)


def test_a_number_is_typed(page: Any, lab: Server, browser: Any) -> None:
    """Place, focus, token and folds stay; what changed is marked, also in another browser."""
    page.select_option("#token", label="data")
    page.locator("nav[aria-label=Contents] summary").click()
    with opened(browser, lab) as other:
        number = cell(page, 1, "like")
        number.scroll_into_view_if_needed()
        before, at = number.text_content(), number.bounding_box()
        number.click()
        assert page.input_value("#typed") == before
        assert focused(page) == "typed"
        page.keyboard.type("0.75")
        assert answered(page, lambda: page.keyboard.press("Enter")) == 200
        assert number.text_content() == "0.75"
        assert number.get_attribute("title") == f"was {before}"
        assert abs(number.bounding_box()["y"] - at["y"]) < 2
        assert number.evaluate("n => n === document.activeElement")
        assert page.locator("#token").input_value() == "2"
        assert page.locator("nav[aria-label=Contents] details[open]").count() == 1
        marked = page.locator("td.changed:visible")
        assert marked.count() > 5
        mark = "n => getComputedStyle(n, '::before').content"
        assert all(
            "▲" in each or "▼" in each for each in marked.evaluate_all(f"a => a.map({mark})")
        )
        assert re.fullmatch(r"\d+ numbers changed", page.locator("#changes").text_content())
        other.wait_for_selector("td.changed:visible")
        assert cell(other, 1, "like").text_content() == "0.75"
    first = page.frame_locator("#first").locator("#step-1 tr:has(th:text-is('like')) td").first
    assert first.text_content() == before
    page.locator("nav[aria-label=Contents] summary").click()
    assert_as_new(page)


def test_keys_change_the_last_digit_and_undo_takes_it_back(page: Any, lab: Server) -> None:
    number = reached(page, "like")
    before = number.text_content()
    page.keyboard.press("Enter")
    for key in ("ArrowUp", "ArrowUp", "ArrowDown"):
        assert answered(page, lambda key=key: page.keyboard.press(key)) == 200
    digits = len(before.partition(".")[2])
    assert page.input_value("#typed") == f"{float(before) + 10**-digits:.{digits}f}"
    page.keyboard.press("Escape")
    assert answered(page, lambda: page.keyboard.press("Control+z"), "undo") == 200
    assert number.text_content() == before
    assert lab.get("/scenario.yaml").encode() == TYPED["science"].read_bytes()
    assert_as_new(page)


def test_a_number_is_dragged(page: Any, lab: Server) -> None:
    number = cell(page, 1, "like")
    number.scroll_into_view_if_needed()
    before, box = number.text_content(), number.bounding_box()
    x, y = box["x"] + 9, box["y"] + 9
    page.mouse.move(x, y)
    page.mouse.down()
    assert answered(page, lambda: page.mouse.move(x + 61, y)) == 200
    page.mouse.up()
    page.keyboard.press("Escape")
    digits = len(before.partition(".")[2])
    assert number.text_content() == f"{float(before) + 10 * 10**-digits:.{digits}f}"


def test_what_is_wrong_is_said_at_the_field(page: Any, lab: Server) -> None:
    """Neither that, nor a mark of what has changed, is in the way of readers."""
    assert lab.edit(address="unembedding.W_U", row=1, column=1, number="0.5").status == 200
    page.wait_for_selector("td.changed")
    text = lab.get("/scenario.yaml")
    number = reached(page, "like")
    before = number.text_content()
    page.keyboard.type("2..5")
    assert answered(page, lambda: page.keyboard.press("Enter")) == 400
    said = page.locator("#field #wrong")
    assert "expected a number, got '2..5'" in said.text_content()
    assert said.is_visible()
    assert page.locator("#typed").get_attribute("aria-invalid") is not None
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert page.locator("#field").is_hidden()
    assert number.text_content() == before
    assert lab.get("/scenario.yaml") == text


def test_a_word_in_a_field_is_answered_without_the_lines_of_a_file(page: Any, lab: Server) -> None:
    for typed in ("abc", "1e30"):
        reached(page, "like")
        page.keyboard.press("Enter")
        page.locator("#typed").fill(typed)
        assert answered(page, lambda: page.keyboard.press("Enter")) == 400
        said = page.locator("#field #wrong").text_content()
        assert re.fullmatch(rf"[^:]+: expected a number( of at most 10\^12)?, got '{typed}'", said)
        page.keyboard.press("Escape")


IN_FIRST = """() => {
  const first = document.querySelector("#first").contentDocument;
  const top = (page, id) => page.getElementById(id)?.getBoundingClientRect().top;
  const section = [...document.querySelectorAll("section.step")]
    .find((each) => !each.hidden && each.getBoundingClientRect().bottom > innerHeight / 3);
  return [
    ["level", "token"].map((id) => first.getElementById(id).value),
    Math.abs(top(document, section.id) - top(first, section.id)) < 3,
  ];
}"""
"""What the page beside shows, and whether the section that is read stands beside its own."""


def test_the_page_beside_shows_the_same_part(page: Any, lab: Server) -> None:
    page.wait_for_function(
        "document.querySelector('#first').contentDocument.querySelector('.ready')"
    )
    page.select_option("#token", label="data")
    page.evaluate("document.getElementById('step-7').scrollIntoView()")
    page.wait_for_timeout(100)
    assert page.evaluate(IN_FIRST) == [["2", "2"], True]
    page.select_option("#level", "0")
    assert page.evaluate(IN_FIRST)[0] == ["0", "2"]
    page.locator("#more button").first.click()
    page.wait_for_timeout(100)
    assert page.evaluate(IN_FIRST) == [["1", "2"], True]


def test_settings_and_tokens(page: Any, lab: Server) -> None:
    page.locator("#options > summary").click()
    page.locator("#lab summary").first.click()
    page.locator("#lab summary").last.click()
    choose = "[name='layer1.ffn.activation']"
    assert answered(page, lambda: page.select_option(choose, "gelu")) == 200
    assert "GELU" in page.locator("#text").text_content()
    temperature = page.locator("[name='unembedding.scale']")
    temperature.fill("-2")
    assert answered(page, lambda: temperature.press("Tab")) == 400
    assert "expected more than 0" in page.locator(".refused").text_content()
    page.evaluate(SET_WIDTH)  # as that of another page
    assert answered(page, lambda: page.locator("#tokens .remove").first.click()) == 200
    in_style, drawn = page.evaluate(WIDTH)
    assert in_style == drawn
    assert page.locator("#token option").all_text_contents() == ["like", "data", "science"]
    assert answered(page, lambda: page.locator("#add").click()) == 200
    assert page.locator("#token option").count() == 4
    text = lab.get("/scenario.yaml")
    assert "tokens: [like, data, science, science]\n" in text
    assert "activation: gelu" in text
    assert page.locator("#without-words").is_visible()
    assert_as_new(page)


def test_changes_are_made_again_when_the_file_has_changed(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    text = TYPED["science"].read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    with served(file) as server, opened(browser, server) as page:
        number = reached(page, "like")
        before = number.text_content()
        page.keyboard.type("0.75")
        assert answered(page, lambda: page.keyboard.press("Enter")) == 200
        file.write_text(text.replace("title: ", "# by hand\ntitle: "), encoding="utf-8")
        button = page.locator("#apply-kept:visible:text-is('Apply my 1 change again')")
        button.wait_for()
        assert number.text_content() == before
        assert answered(page, button.click, "apply-kept") == 200
        assert number.text_content() == "0.75"
        assert button.count() == 0
        assert "# by hand" in server.get("/scenario.yaml")


def test_the_end_of_the_server(browser: Any) -> None:
    """It is said once; the browser does not ask again and again."""
    with served("science") as own, opened(browser, own) as page:
        own.process.send_signal(SIGINT)
        own.process.wait(timeout=20)
        page.locator("#problem:has-text('The program has ended')").wait_for()


def test_a_page_without_an_engine_has_none_of_it(tmp_path: Any) -> None:
    html = tmp_path / "page.html"
    printed("page", "science", "-o", str(html))
    written = html.read_text(encoding="utf-8")
    for part in ("sessionKey", "requestPage", "connect-src", "fetch("):
        assert part not in written
