"""Markdown's titles, links, formulas and tables, seen by another parser."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.helpers.command import printed, run

IN_PARTS = ["run science", "tutorial science --detail full", "tutorial pizza --math --detail full"]
FLAT = [
    *("loss pizza", "generate pizza --max-tokens 2 --worked"),
    "why output[Alex,spicy] --depth 1",
]
WHOLE = [*IN_PARTS, *FLAT]
PART = "step softmax"


@cache
def shown(command: str, *options: str) -> str:
    return printed(*command.split(), "--format", "markdown", *options)


def headings(text: str) -> list[tuple[int, str]]:
    """Levels and titles."""
    found = pairwise(MarkdownIt("commonmark").parse(text))
    return [(int(a.tag[1]), words(b)) for a, b in found if a.type == "heading_open"]


def levels(text: str) -> list[int]:
    return [level for level, _ in headings(text)]


def words(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def links(text: str) -> list[tuple[str, str, int]]:
    """What each link inside the text says, where it leads to, and in which line it stands."""
    found = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        for a, b in pairwise(block.children or ()):
            if a.type == "link_open":
                assert block.map
                found.append((b.content, str(a.attrs["href"]).removeprefix("#"), block.map[0]))
    return found


def without_titles(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def without_ways(text: str) -> list[str]:
    """The lines without titles, contents, links and what they lead to."""
    lines = re.sub(r"\[(step [0-9]+)\]\(#.*?\)", r"\1", without_titles(text)).split("\n")
    return [line for line in lines if line and not re.match(r" *- \[|<a id=", line)]


# --- levels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [*WHOLE, PART])
def test_sections_stand_at_the_level_and_the_title_above(command: str) -> None:
    usual_text = shown(command)
    usual = levels(usual_text)
    assert usual[:2] == ([1, 2] if command in WHOLE else [2, 2])
    assert set(usual[1:]) == ({2, 3} if command in IN_PARTS else {2})
    for level in (1, 6):
        text = shown(command, "--heading", str(level))
        assert levels(text) == [min(max(1, one + level - 2), 6) for one in usual]
        assert without_titles(text) == without_titles(usual_text)


@pytest.mark.parametrize("command", [*WHOLE, PART])
def test_all_titles_are_left_out(command: str) -> None:
    text = shown(command, "--heading", "none")
    assert not levels(text)
    assert not links(text)
    assert text.strip("\n")
    assert without_ways(text) == without_ways(shown(command))


@pytest.mark.parametrize("form", ["terminal", "json"])
def test_a_level_works_with_markdown_and_latex_only(form: str) -> None:
    ran = run("run", "alex", "--format", form, "--heading", "3")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("--heading: ")


@pytest.mark.parametrize("level", ["0", "7", "", "three", "-1"])
def test_there_are_six_levels(level: str) -> None:
    assert run("run", "alex", "-f", "markdown", "--heading", level).exit_code == 2


# --- links ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", WHOLE)
def test_contents_name_every_heading(command: str) -> None:
    text = shown(command)
    _, *below = headings(text)
    assert [said for said, *_ in links(text) if not said.startswith("step ")] == (
        [heading for _, heading in below] if len(below) > 2 else []
    )


def test_a_step_of_another_turn_is_linked_in_its_own() -> None:
    text = shown("generate pizza --max-tokens 2 --worked")
    lines = text.split("\n")
    second = lines.index("## Turn 2")
    steps = [to for said, to, line in links(text) if said.startswith("step ") and line > second]
    assert steps and all(to.endswith("-2") for to in steps)


# --- formulas, worked lines, tables --------------------------------------------------------------


def test_a_formula_is_a_quotation_and_only_worked_lines_are_fenced() -> None:
    text = shown("step scores --head 1")
    assert "> S¹ (4 × 4) = Q¹ (4 × 2) · K¹ᵀ (2 × 4) / √d_k\n" in text
    fences = [
        token.content for token in MarkdownIt("commonmark").parse(text) if token.tag == "code"
    ]
    assert all(re.search("[=≈]", fence) for fence in fences)
    assert not any("S¹" in fence for fence in fences)


@pytest.mark.parametrize("options", [(), ("--math",)], ids=len)
def test_the_followed_row_is_bold(options: tuple[str, ...]) -> None:
    rows = [line for line in shown("step scores", *options).split("\n") if "**" in line]
    assert rows
    assert all(re.fullmatch(r"\|( \*\*[^*|]+\*\* \|)+", row) for row in rows)
    assert all("Alex" in row for row in rows)


def test_worked_lines_as_mathematics() -> None:
    text = shown("step scores --head 1", "--math")
    lines = re.search(r"\\begin\{aligned\}\n.text.*?\\end\{aligned\}", text, re.DOTALL)
    assert lines and lines[0].count("&& \\approx ") == 4
    assert "\\frac{16.353}{\\sqrt{2}}" in lines[0]
    displays = re.findall(r"^\$\$$.*?^\$\$$", text, re.MULTILINE | re.DOTALL)
    assert displays and not any("$" in display[2:-2] for display in displays)


def test_a_minus_that_begins_a_line_stands_close_to_its_number() -> None:
    text = shown("step residual", "--math")
    assert "& {-}0." in text
    assert not re.search(r"& -[0-9]", text)
