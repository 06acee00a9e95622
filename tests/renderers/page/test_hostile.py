"""Words that would be markup or a script, opened in a browser: literal, and nothing runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import opened
from tests.helpers.command import printed
from tests.helpers.random_scenarios import ODD_WORDS
from tests.helpers.small_scenario import SMALL
from tracer.names import name_text

HOSTILE = (
    *("<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--", "]]>"),
    *("<img src=x onerror=alert(3)>", '" onmouseover="alert(4)', "' autofocus onfocus='alert(5)"),
    *("{{ 7 * 7 }}", "{% raw %}", "javascript:alert(6)", "</style><b>", "&lt;b&gt;", "&#60;"),
    *("\u202e<b>evil</b>", "\x00\x1b[31m", "\ufdd0\ufdd1\ufdd2", "שלום <b>"),
    "</title><svg/onload=alert(7)>",
)
FEW = 8


def quoted(word: str) -> str:
    """As YAML reads it back, whatever it holds."""
    return '"' + "".join(c if ord(c) > 0xFFFF else json.dumps(c)[1:-1] for c in word) + '"'


def scenario(words: Sequence[str]) -> str:
    """One whose title, tokens and labels are these words."""
    names = list(map(quoted, words))
    rows = "".join(f"  {name}: [1, {i}.5]\n" for i, name in enumerate(names))
    labels = f"features: [{', '.join(names[-2:])}]\n"
    start = f"title: {names[0]}\ntokens: [{', '.join(names)}]\n"
    return f"{start}{labels}embeddings:\n{rows}layers:{SMALL.partition('layers:')[2]}"


def page(words: Sequence[str], folder: Path) -> Path:
    html = folder / "page.html"
    printed("page", "-", "-o", str(html), stdin=scenario(words))
    return html


class Elements(HTMLParser):
    """The names of elements, and of their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}


def assert_literal(browser: Any, words: Sequence[str], html: Path) -> None:
    """They stand on the page as words do; what they would say is no complaint of the browser's."""
    with opened(browser, html) as page:
        expected = [name_text(word) for word in words]
        rows = "[...document.querySelectorAll('[data-first-token] tbody')][0].rows"
        assert page.evaluate(f"[...{rows}].map(row => row.cells[0].textContent)") == expected
        options = page.evaluate("[...document.querySelectorAll('#token option')].map(n => n.text)")
        assert len(options) == len(words)
        page.locator("[data-first-token] td[data-of]").nth(len(words) // 2).click()
        name = page.locator("#line .title").text_content()
        assert any(word in name for word in expected)
        assert page.evaluate("document.title.length") > 0


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a few."""
    return page(HOSTILE[:FEW], tmp_path_factory.mktemp("hostile"))


def test_nothing_from_a_scenario_is_markup(hostile: Path, tmp_path: Path) -> None:
    plain = page([f"w{i}" for i in range(FEW)], tmp_path).read_text(encoding="utf-8")
    elements = Elements(hostile.read_text(encoding="utf-8"))
    assert set(elements.tags) == set(Elements(plain).tags)
    assert elements.attributes == Elements(plain).attributes
    assert elements.tags.count("script") == 2


def test_hostile_words_are_literal(hostile: Path, browser: Any) -> None:
    assert_literal(browser, HOSTILE[:FEW], hostile)


@pytest.mark.fuzz
def test_a_thousand_hostile_tokens_and_labels(browser: Any, tmp_path: Path) -> None:
    words = [*HOSTILE, *ODD_WORDS, *(f"{a}{b}" for a in HOSTILE for b in ODD_WORDS)]
    words = list(dict.fromkeys(word for word in words if word.strip()))[:1000]
    assert len(words) == 1000
    for i in range(0, len(words), 25):
        few = words[i : i + 25]
        assert_literal(browser, few, page(few, tmp_path))
