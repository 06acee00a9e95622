"""Links inside Markdown lead to the same titles in every program that shows them.

Each program names titles in its own way, which is written here anew; where a name stands twice, the
first is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.helpers.command import printed
from tests.helpers.random_scenarios import ODD_WORDS
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.small_scenario import changed

# --- how programs name titles ---------------------------------------------------------------------


def numbered(made: Iterable[str], sign: str) -> list[str]:
    """Names, with a number behind each that stands again."""
    found: list[str] = []
    for name in made:
        again = 0
        while (one := f"{name}{sign}{again}" if again else name) in found:
            again += 1
        found.append(one)
    return found


def on_github(titles: Iterable[str]) -> list[str]:
    def kept(c: str) -> bool:
        return unicodedata.category(c) in ("Nd", "Nl", "Pc") or unicodedata.category(c)[0] in "LM"

    spaced = (title.strip().lower() for title in titles)
    return numbered(
        ("".join(c if kept(c) or c == "-" else "-" * (c == " ") for c in t) for t in spaced), "-"
    )


def in_mkdocs(titles: Iterable[str]) -> list[str]:
    ascii_only = (
        unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
        for title in titles
    )
    words = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in ascii_only)
    return numbered((re.sub(r"[-\s]+", "-", title) for title in words), "_")


def in_vscode(titles: Iterable[str]) -> list[str]:
    dashed = (re.sub(r"\s+", "-", title.strip().lower()) for title in titles)
    signs = r"[!-,./:-@\[-^`{-~·…—“”]"
    return numbered((re.sub(signs, "", title).strip("-") for title in dashed), "-")


def in_jupyter(titles: Iterable[str]) -> list[str]:
    return [title.replace(" ", "-") for title in titles]


def test_the_programs_differ() -> None:
    """What a title's own name would be, as the programs' own code says."""
    titles = ["7. Head 1 · Query", "W₁²", "É", "a", "a"]
    assert on_github(titles) == ["7-head-1--query", "w", "é", "a", "a-1"]
    assert in_mkdocs(titles) == ["7-head-1-query", "w12", "e", "a", "a_1"]
    assert in_vscode(titles) == ["7-head-1--query", "w₁²", "é", "a", "a-1"]
    assert in_jupyter(titles) == ["7.-Head-1-·-Query", "W₁²", "É", "a", "a"]


# --- what is linked -------------------------------------------------------------------------------


@lru_cache(4)
def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").parse(text)


def titles_and_anchors(text: str) -> tuple[list[str], list[tuple[str, int]]]:
    """The titles, and each anchor with the place of the title that follows it."""
    titles: list[str] = []
    anchors = []
    for before, token in pairwise(parsed(text)):
        if before.type == "heading_open":
            titles.append("".join(child.content for child in token.children or ()))
        elif found := re.fullmatch('<a id="([^"]*)"></a>', token.content):
            anchors.append((found[1], len(titles)))
    return titles, anchors


def links(text: str) -> list[tuple[str, str]]:
    """What each link inside the text says, and where it leads to."""
    children = (block.children or () for block in parsed(text))
    pairs = [pair for inline in children for pair in pairwise(inline)]
    return [
        (said.content, str(link.attrs["href"]).removeprefix("#"))
        for link, said in pairs
        if link.type == "link_open"
    ]


def assert_links_lead_to_their_titles(text: str) -> None:
    titles, anchors = titles_and_anchors(text)
    for named in (on_github, in_mkdocs, in_vscode, in_jupyter):
        names = [(name, place) for place, name in enumerate(named(titles))]
        first: dict[str, int] = {}
        for name, place in sorted([*anchors, *names], key=lambda each: each[1]):
            first.setdefault(name, place)
        for said, to in links(text):
            title = titles[first[to]]
            assert title == said or int(said.removeprefix("step ")) in numbers_of(title)


def numbers_of(title: str) -> range:
    """The steps of a section: `7. Head 1`, `11–17. Head 2`."""
    found = re.match(r"(\d+)(?:–(\d+))?\. ", title)
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)


@pytest.mark.parametrize(
    "command",
    [
        *(f"tutorial {name}" for name in ("alex", "science", "pizza", "comics")),
        *("tutorial pizza --math", "run science", "loss pizza", "step attention -s pizza"),
        *("generate pizza --max-tokens 2 --worked", "why output[Alex,spicy] --depth 2"),
    ],
)
def test_links(command: str) -> None:
    text = printed(*command.split(), "--format", "markdown")
    assert_links_lead_to_their_titles(text)
    assert links(text)


@pytest.mark.parametrize("file", ["a b.c", "日本語", "step 1", "#"])
@pytest.mark.parametrize("title", ["Step 1", "3. Input vectors", "日本語", "[x](#a)", "<a id=a>"])
def test_titles_and_names_of_files_of_any_kind(title: str, file: str, tmp_path: Path) -> None:
    path = tmp_path / f"{file}.yaml"
    path.write_text(changed(("Two words", f"'{title}'")), encoding="utf-8")
    text = printed("tutorial", str(path), "--detail", "full", "--format", "markdown")
    assert_links_lead_to_their_titles(text)
    assert len(links(text)) > 20


@pytest.mark.parametrize("word", [word for word in ODD_WORDS if word.isprintable()])
def test_tokens_of_any_kind(word: str) -> None:
    tokens = to_yaml({"tokens": [word, word]}) + "embeddings: [[1, 2], [3, 4]]\n"
    typed = changed(("tokens: [a, b]\nembeddings:\n  a: [1, 2]\n  b: [3, 4]\n", tokens))
    text = printed("tutorial", "-", "--detail", "full", "--format", "markdown", stdin=typed)
    assert_links_lead_to_their_titles(text)
    assert len(links(text)) > 20


def test_two_texts_on_one_page_share_no_name() -> None:
    first, second = (printed("run", name, "--format", "markdown") for name in ("alex", "science"))
    names = [name for text in (first, second) for name, _ in titles_and_anchors(text)[1]]
    assert len(set(names)) == len(names) > 40


def test_a_part_has_anchors_only_where_something_leads() -> None:
    text = printed("step", "attention", "-s", "pizza", "--format", "markdown")
    assert {name for name, _ in titles_and_anchors(text)[1]} == {to for _, to in links(text)}
