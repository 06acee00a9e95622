"""At which level Markdown's titles stand, seen by another parser."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from tests.helpers.command import printed, run

WHOLE = [
    *("run science", "tutorial science", "loss pizza", "generate pizza --max-tokens 1 --worked"),
    "why output[Alex,spicy] --depth 1",
]
PART = "step softmax"


def shown(command: str, *options: str) -> str:
    return printed(*command.split(), "--format", "markdown", *options)


def levels(text: str) -> list[int]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [int(token.tag[1]) for token in tokens if token.type == "heading_open"]


def without_titles(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


@pytest.mark.parametrize("command", [*WHOLE, PART])
def test_sections_stand_at_the_level_and_the_title_above(command: str) -> None:
    usual = levels(shown(command))
    above = [1] if command in WHOLE else []
    assert usual == above + [2] * (len(usual) - len(above))
    assert len(usual) > 1
    for level in range(1, 7):
        text = shown(command, "--heading", str(level))
        expected = [max(1, level - 1)] * len(above) + [level] * (len(usual) - len(above))
        assert levels(text) == expected
        assert without_titles(text) == without_titles(shown(command))


@pytest.mark.parametrize("command", [*WHOLE, PART])
def test_all_titles_are_left_out(command: str) -> None:
    text = shown(command, "--heading", "none")
    assert levels(text) == []
    assert text.strip("\n")
    lines = [line for line in without_titles(shown(command)).split("\n") if line]
    assert [line for line in text.split("\n") if line] == lines


@pytest.mark.parametrize("form", ["terminal", "latex", "json"])
def test_a_level_goes_with_markdown_only(form: str) -> None:
    ran = run("run", "alex", "--format", form, "--heading", "3")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("--heading: ")


@pytest.mark.parametrize("level", ["0", "7", "", "three", "-1"])
def test_there_are_six_levels(level: str) -> None:
    assert run("run", "alex", "-f", "markdown", "--heading", level).exit_code == 2
