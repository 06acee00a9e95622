"""What is text, HTML and code in Markdown, beside another parser of CommonMark."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tracer.weave.structure import DEEPEST, Kind, Line, Structure

COMMONMARK = MarkdownIt("commonmark", {"maxNesting": 1000})
KINDS = {
    "inline": Kind.TEXT,
    "heading_open": Kind.TEXT,
    "hr": Kind.TEXT,
    "html_block": Kind.HTML,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
}


def read(text: str) -> list[Line]:
    structure = Structure()
    return [structure.read(line) for line in text.split("\n")]


def kinds(text: str) -> list[Kind]:
    return [Kind.HTML if line.kind is Kind.HIDDEN else line.kind for line in read(text)]


def is_read_otherwise(text: str) -> bool:
    """Whether the other parser leaves CommonMark's rules.

    It counts tabs behind a quotation's sign from there, takes a sign four spaces in for one, and
    a lazy line so far in for code.
    """
    return any(
        (">" in line and ("\t" in line or "    >" in line))
        or (ours.kind is Kind.TEXT and ours.goes_on and ours.content.startswith("    "))
        for line, ours in zip(text.split("\n"), read(text), strict=True)
    )


def kinds_of_commonmark(text: str) -> list[Kind]:
    found = [Kind.BLANK] * (text.count("\n") + 1)
    # Without a line behind it, the parser reads beyond the end of an empty line in a quotation.
    for token in COMMONMARK.parse(f"{text}\n\n"):
        if token.map and token.type in KINDS:
            found[slice(*token.map)] = [KINDS[token.type]] * (token.map[1] - token.map[0])
    return found[: text.count("\n") + 1]


INDENTATIONS = ["", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t"]
CONTAINERS = ["> ", ">", "- ", "-", "*   ", "+\t", "1. ", "2) ", "10.  ", "-      ", ">\t", "    "]
CONTENTS = [
    *("", "a", "a b", "# a", "#a", "---", "- - -", "***", "_ _", "===", "=", "--", "`", "\\"),
    *("```", "```text", "``` a`", "~~~", "~~~~ `", "````", "`````"),
    *("<!-- a -->", "<!--", "<!-- a", "-->", "a -->", "<!-->", "a <!-- b -->", "<!--a--> b"),
    *("<div>", "</div>", "<td>a</td>", "<pre>", "</pre>", "<script", "<span>", "<span a='b' c>"),
    *("<a b=c/>", "<span> a", "<i", "<?", "?>", "<!A", "<![CDATA[", "]]>", "<table", "</x >"),
]
lines = st.builds(
    "{}{}{}{}".format,
    st.lists(st.sampled_from(INDENTATIONS[:6] + CONTAINERS), max_size=3).map("".join),
    st.sampled_from(INDENTATIONS),
    st.sampled_from(CONTENTS),
    st.sampled_from(["", "", " ", "\t"]),
)


def assert_lines_are_commonmarks(text: str) -> None:
    assume(not is_read_otherwise(text))
    for line, ours, theirs in zip(
        text.split("\n"), kinds(text), kinds_of_commonmark(text), strict=True
    ):
        nothing = not line.strip("> \t")  # but signs of quotations
        assert nothing or ours is theirs, line


texts = st.lists(lines | st.sampled_from(CONTENTS), max_size=8).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(texts)
@example("-\n\n  a")
@example("- a\n\n      b\n\n\tc")
@example("> a\n>     c\n\n    d")
@example("1. ```\n   a\n\n   b\n  c\n")
def test_lines_are_what_commonmark_says(text: str) -> None:
    assert_lines_are_commonmarks(text)


@pytest.mark.fuzz
@settings(max_examples=20_000, deadline=None)
@given(texts)
def test_many_more_lines(text: str) -> None:
    assert_lines_are_commonmarks(text)


def test_lazy_lines_are_text_however_far_in_they_are() -> None:
    assert kinds("> > a\n    # b") == [Kind.TEXT, Kind.TEXT]
    assert kinds("1.   a\n\t```") == [Kind.TEXT, Kind.TEXT]
    assert kinds(">\n    > a") == [Kind.BLANK, Kind.CODE]


def test_tabs_reach_to_the_next_column_of_four() -> None:
    assert kinds(">\ta\n>\t\tb\n>\n> \t\tc") == [Kind.TEXT, Kind.TEXT, Kind.BLANK, Kind.CODE]
    assert kinds(">>> \tc") == [Kind.CODE]
    assert kinds("-\ta\n\n\tb\n\n\t\tc") == [
        *(Kind.TEXT, Kind.BLANK, Kind.TEXT, Kind.BLANK, Kind.CODE),
    ]


@pytest.mark.parametrize("sign", [">", "- "])
def test_what_is_too_deep_is_text(sign: str) -> None:
    structure = Structure()
    assert structure.read(sign * (DEEPEST + 50) + "a").kind is Kind.TEXT
    assert len(structure.containers) == DEEPEST
