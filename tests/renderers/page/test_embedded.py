"""A step inside another page: it grows with its frame, and has the theme that it is told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tracer
from tests.helpers.browser import violations
from tests.helpers.command import printed, run
from tests.helpers.examples import fences

GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
HEIGHTS = "[innerHeight, document.documentElement.scrollHeight]"


@contextmanager
def hosted(browser: Any, html: Path, **how: Any) -> Iterator[Any]:
    """A page with frames; neither it nor a frame has anything to complain about."""
    complaints: list[str] = []
    context = browser.new_context(**how)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(html.as_uri())
    yield page
    context.close()
    assert complaints == []


def wait_for_height(page: Any) -> None:
    """Until the frame is as high as its page."""
    for _ in range(50):
        inner, whole = page.frames[1].evaluate(HEIGHTS)
        if inner == whole and page.frames[1].locator("body.ready").count():
            return
        page.wait_for_timeout(100)
    raise AssertionError((inner, whole))


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands of the docs write, and the page around them."""
    folder = tmp_path_factory.mktemp("embedded")
    for line in re.findall(
        "^decoder-trace page .*--embed.*$", "".join(fences("teaching.md", "sh")), re.M
    ):
        *words, name = shlex.split(line)[1:]
        printed(*words, str(folder / name))
    (host,) = (each for each in fences("teaching.md", "html") if "<iframe" in each)
    page = folder / "host.html"
    page.write_text(f"<!doctype html><title>Slides</title>{host}<p>After", encoding="utf-8")
    return page


@pytest.mark.parametrize("width", [390, 1280])
def test_the_example_of_the_docs_grows(width: int, browser: Any, documented: Path) -> None:
    with hosted(browser, documented, viewport={"width": width, "height": 700}) as page:
        wait_for_height(page)
        frame, heights = page.frames[1], [page.frames[1].evaluate("innerHeight")]
        frame.locator("td[data-of]").last.click()  # its line takes more room
        wait_for_height(page)
        assert frame.locator("#line").inner_text()
        heights.append(frame.evaluate("innerHeight"))
        assert heights == sorted(heights)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert frame.evaluate("document.documentElement.scrollWidth") <= width


def test_only_the_step_is_seen(browser: Any, documented: Path) -> None:
    step = documented.with_name("scores.html")
    with hosted(
        browser, step, viewport={"width": 768, "height": 700}, color_scheme="light"
    ) as page:
        assert page.evaluate(GROUND) == DARK
        assert page.locator("h1, h2, h3, summary, button, select").filter(visible=True).count() <= 2
        assert page.locator("section.step:visible").get_attribute("id") == "step-7"
        assert violations(page) == []
        page.locator("td[data-of]").last.click()
        assert page.locator("#line").inner_text().startswith("S¹[Alex, Alex] =")
        assert violations(page) == []


@pytest.mark.parametrize(("theme", "ground"), [("light", LIGHT), ("dark", DARK), ("auto", None)])
def test_the_theme(theme: str, ground: str | None, browser: Any, tmp_path: Path) -> None:
    html = tmp_path / "step.html"
    printed("page", "alex", "--embed", "9", "--theme", theme, "-o", str(html))
    for preferred, own in (("light", LIGHT), ("dark", DARK)):
        with hosted(browser, html, color_scheme=preferred) as page:
            assert page.evaluate(GROUND) == (ground or own)
            page.emulate_media(media="print")
            assert page.evaluate(GROUND) == LIGHT


def test_what_cannot_be_embedded(tmp_path: Path) -> None:
    html = str(tmp_path / "x.html")
    for options, problem in (
        (("--embed", "99"), "--embed: there is no step 99 here"),
        (("--embed", "softmax", "--train"), "--embed: works only with steps of the forward pass"),
        (("--embed", "softmax", "--detail", "full"), "--detail: works only with a whole page"),
        (("--embed", "nonsense"), "nonsense"),
    ):
        ran = run("page", "alex", *options, "-o", html)
        assert ran.exit_code == 2, options
        assert problem in ran.stderr


NOTEBOOK = """<!doctype html><html><body style="background: {}; margin: 0"><div>{}</div>"""


def grounds(page: Any, expected: list[str]) -> list[str]:
    """The backgrounds of the frames, after up to ten seconds in which they become as expected."""
    for _ in range(100):
        page.wait_for_timeout(100)
        if (found := [frame.evaluate(GROUND) for frame in page.frames[1:]]) == expected:
            break
    return found


def test_a_notebook_shows_it_in_its_own_theme(browser: Any, tmp_path: Path) -> None:
    """A step grows to its height; a whole text scrolls; both change with the notebook."""
    trace = tracer.trace(tracer.load("alex"))
    html = tmp_path / "notebook.html"
    for document, grows in (
        (tracer.explain(trace, "softmax", head=1), True),
        (tracer.explain(trace), False),
    ):
        shown = document._repr_html_()
        html.write_text(NOTEBOOK.format("#111111", shown + shown), encoding="utf-8")
        with hosted(
            browser, html, color_scheme="light", viewport={"width": 900, "height": 800}
        ) as page:
            if grows:
                wait_for_height(page)
            assert grounds(page, [DARK, DARK]) == [DARK, DARK]
            page.evaluate("document.body.style.background = 'white'")
            assert grounds(page, [LIGHT, LIGHT]) == [LIGHT, LIGHT]
            inner, whole = page.frames[1].evaluate(HEIGHTS)
            assert (inner == whole) == grows
            assert inner <= 0.85 * 800 or grows
            if not grows:  # links lead on inside the frame
                page.frames[1].locator("nav[aria-label=Contents] summary").click()
                page.frames[1].locator("a[href^='#step-']:visible").first.click()
                assert page.frames[1].locator("#text").count() == 1
