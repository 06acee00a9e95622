"""The page as a file: all that it needs is in it, and nothing from a scenario can act."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import ODD_WORDS
from tests.helpers.small_scenario import SMALL
from tracer.renderers.text import name_text

KILOBYTES = {"alex": 1_200, "pizza": 6_000}
HOSTILE = (
    *("<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--", "]]>"),
    *("<img src=x onerror=alert(3)>", '" onmouseover="alert(4)', "' autofocus onfocus='alert(5)"),
    *("{{ 7 * 7 }}", "{% raw %}", "javascript:alert(6)", "</style><b>", "&lt;b&gt;", "&#60;"),
    *("\u202e<b>evil</b>", "\x00\x1b[31m", "\ufdd0\ufdd1\ufdd2", "שלום <b>"),
    "</title><svg/onload=alert(7)>",
)


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


def page(*arguments: str, stdin: str = "", to: Path) -> str:
    printed("page", *arguments, "-o", str(to / "page.html"), stdin=stdin)
    return (to / "page.html").read_text(encoding="utf-8")


def scripts(html: str) -> Iterator[str]:
    """The text of the scripts that run, and of the style."""
    yield from re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    yield from re.findall("<style>(.*?)</style>", html, re.DOTALL)


@pytest.mark.parametrize("name", KILOBYTES)
def test_it_is_small_and_needs_nothing_else(name: str, tmp_path: Path) -> None:
    html = page(name, to=tmp_path)
    assert len(html.encode()) <= KILOBYTES[name] * 1000
    read = _Read(html)
    linked = {link["href"] or "" for link in read.of("a")}
    assert all(href.startswith("#") for href in linked)
    there = [a["id"] for _, a in read.elements if a.get("id")]
    assert len(there) == len(set(there))
    assert {href[1:] for href in linked} <= set(there)
    assert not [tag for tag, _ in read.elements if tag in ("link", "iframe", "object", "base")]
    assert {"#step-1", "#step-7"} <= linked


def test_only_its_own_script_and_style_are_allowed(tmp_path: Path) -> None:
    html = page("alex", to=tmp_path)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    allowed = re.findall("'sha256-([^']+)'", policy.replace("&#39;", "'"))
    assert [b64decode(each) for each in allowed] == [
        sha256(text.encode()).digest() for text in scripts(html)
    ]
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy
    assert "unsafe" not in policy
    acting = [a for _, attributes in _Read(html).elements for a in attributes if a.startswith("on")]
    assert acting == []
    assert not re.search("innerHTML|outerHTML|eval|Function\\(|insertAdjacent|fetch", html)


def quoted(word: str) -> str:
    """As YAML reads it back, whatever it holds."""
    return '"' + "".join(c if ord(c) > 0xFFFF else json.dumps(c)[1:-1] for c in word) + '"'


def hostile(words: Sequence[str]) -> str:
    """A scenario whose title, tokens and labels are these words."""
    names = list(map(quoted, words))
    rows = "".join(f"  {name}: [1, {i}.5]\n" for i, name in enumerate(names))
    labels = f"features: [{', '.join(names[-2:])}]\n"
    start = f"title: {names[0]}\ntokens: [{', '.join(names)}]\n"
    return f"{start}{labels}embeddings:\n{rows}layers:{SMALL.partition('layers:')[2]}"


def test_nothing_from_a_scenario_is_markup(tmp_path: Path) -> None:
    words = HOSTILE[:10]
    plain = _Read(page("-", stdin=hostile([f"w{i}" for i in range(10)]), to=tmp_path))
    html = page("-", stdin=hostile(words), to=tmp_path)
    read = _Read(html)
    assert {tag for tag, _ in read.elements} == {tag for tag, _ in plain.elements}
    assert len(read.of("script")) == 2
    text = "".join(read.words)
    assert all(name_text(word) in text for word in words)


def test_a_page_is_for_a_file() -> None:
    ran = run("page", "alex")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "--output: expected -o page.html: it is for a browser\n"


def test_a_bad_scenario_leaves_no_page(tmp_path: Path) -> None:
    there = tmp_path / "page.html"
    ran = run("page", "-", "-o", str(there), stdin="title: x\n")
    assert ran.exit_code == 2
    assert not there.exists()


def test_the_text_is_the_tutorial(tmp_path: Path) -> None:
    """Also without scripts: every sentence, line and number of the tutorial stands on the page."""
    words = "".join(_Read(page("alex", to=tmp_path)).words)
    seen = re.sub(r"\s+", "", words)
    tutorial = printed("tutorial", "alex", "--format", "markdown")
    fenced = re.findall("```text\n(.*?)```", tutorial, re.DOTALL)
    lines = "".join(fence for fence in fenced if "│" not in fence).splitlines()
    assert len(lines) > 100
    assert [line for line in lines if re.sub(r"\s+", "", line) not in seen] == []
    titles = re.findall("^#+ (.*)$", tutorial, re.MULTILINE)
    assert all(re.sub(r"[\s\\]+", "", title) in seen for title in titles)


@pytest.mark.fuzz
def test_a_thousand_hostile_tokens_and_labels(tmp_path: Path) -> None:
    words = [*HOSTILE, *ODD_WORDS, *(f"{a}{b}" for a in HOSTILE for b in ODD_WORDS)]
    words = list(dict.fromkeys(word for word in words if word.strip()))[:1000]
    for i in range(0, len(words), 50):
        few = words[i : i + 50]
        read = _Read(page("-", stdin=hostile(few), to=tmp_path))
        assert len(read.of("script")) == 2
        assert not [a for _, attributes in read.elements for a in attributes if a.startswith("on")]
        text = "".join(read.words)
        assert all(name_text(word) in text for word in few)
