"""The page as a file: all that it needs is in it, and nothing from a scenario can act."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.renderers.page.conftest import Saved

KILOBYTES = {"alex": 1_200, "pizza": 6_000}


class _Read(HTMLParser):
    """Elements with their attributes, and the text that is seen."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.inside = tag

    def handle_data(self, words: str) -> None:
        if self.inside not in ("script", "style"):
            self.words.append(words)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def scripts(html: str) -> Iterator[str]:
    """The text of the scripts that run, and of the style."""
    yield from re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    yield from re.findall("<style>(.*?)</style>", html, re.DOTALL)


@pytest.mark.parametrize("name", ["alex", pytest.param("pizza", marks=pytest.mark.fuzz)])
def test_it_is_small_and_needs_nothing_else(name: str, saved: Saved) -> None:
    html = saved(name).read_text(encoding="utf-8")
    assert len(html.encode()) <= KILOBYTES[name] * 1000
    read = _Read(html)
    linked = {link["href"] or "" for link in read.of("a")}
    assert all(href.startswith("#") for href in linked)
    there = [a["id"] for _, a in read.elements if a.get("id")]
    assert len(there) == len(set(there))
    assert {href[1:] for href in linked} <= set(there)
    assert not [tag for tag, _ in read.elements if tag in ("link", "iframe", "object", "base")]
    assert {"#step-1", "#step-7"} <= linked


def test_only_its_own_script_and_style_are_allowed(saved: Saved) -> None:
    html = saved("alex").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    allowed = re.findall("'sha256-([^']+)'", policy.replace("&#39;", "'"))
    assert [b64decode(each) for each in allowed] == [
        sha256(text.encode()).digest() for text in scripts(html)
    ]
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy
    assert "unsafe" not in policy
    acting = [a for _, attributes in _Read(html).elements for a in attributes if a.startswith("on")]
    assert acting == []
    assert not re.search(r"innerHTML|outerHTML|\beval\b|Function\(|insertAdjacent|fetch", html)


def test_a_page_is_for_a_file() -> None:
    ran = run("page", "alex")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "--output: expected a file to open in a browser: -o page.html\n"


def test_a_bad_scenario_leaves_no_page(tmp_path: Path) -> None:
    there = tmp_path / "page.html"
    ran = run("page", "-", "-o", str(there), stdin="title: x\n")
    assert ran.exit_code == 2
    assert not there.exists()


def test_the_text_is_the_tutorial(saved: Saved) -> None:
    """Also without scripts: every sentence, line and number of the tutorial stands on the page."""
    words = "".join(_Read(saved("alex").read_text(encoding="utf-8")).words)
    seen = re.sub(r"\s+", "", words)
    tutorial = printed("tutorial", "alex", "--detail", "full", "--format", "markdown")
    fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
    lines = "".join(fence for fence in fenced if "│" not in fence).splitlines()
    assert len(lines) > 100
    assert [line for line in lines if re.sub(r"\s+", "", line) not in seen] == []
    titles = re.findall("^#+ (.*)$", tutorial, re.MULTILINE)
    assert all(re.sub(r"[\s\\]+", "", title) in seen for title in titles)
