"""Where marks are: CommonMark's code and comments hide them; looking for them is quick."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, example, given, settings, strategies as st
from markdown_it import MarkdownIt

from tracer.weave.marks import Mark, find
from tracer.weave.structure import DEEPEST

START, END = "<!-- decoder-trace: value x -->", "<!-- /decoder-trace -->"
COMMONMARK = MarkdownIt("commonmark")


def test_places_and_contents() -> None:
    text = f"\r\na {START}4{END}\r\n\x0c\r\n> - {START}\n>   old\n>   {END}\n"
    marks, complaints = find(text)
    number = Mark(" value x ", 2, 3, None, slice(text.index("4"), text.index("4") + 1))
    begin = text.index(">   old")
    assert marks == [
        number,
        Mark(" value x ", 4, 5, ">   ", slice(begin, begin + len(">   old\n"))),
    ]
    assert complaints == []


@pytest.mark.parametrize(
    "text",
    [
        *(f"    {START}\n    old\n    {END}", f"\t{START}{END}", f">     {START}{END}"),
        *(f"- a\n\n      {START}{END}", f"> ```\n> {START}\n> {END}\n> ```\n", f"- ~~~\n  {START}"),
    ],
)
def test_marks_in_code_are_refused(text: str) -> None:
    marks, complaints = find(text)
    line = next(n for n, line in enumerate(text.split("\n"), 1) if START in line)
    assert (marks, [each.line for each in complaints]) == ([], [line])


@pytest.mark.parametrize(
    "text",
    [
        *(f"`a\n{START[5:]}`", f"a `b\nc {START} d`", f"<!--\n{START}", f"<!-- a\n{START}4"),
        *("<![CDATA[ <!-- decoder-trace -->", f"# `{START}`"),
    ],
)
def test_code_in_lines_and_comments_hide_marks(text: str) -> None:
    assert find(text) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        *(f"a\n    {START}4{END}", f"- a\n\n    {START}4{END}", f"1. a\n\n\t{START}4{END}"),
        *(
            f"<table>\n      <td>{START}4{END}</td>",
            f"a `\n\n{START}4{END}`",
            f"# `\n{START}4{END}`",
        ),
        *(f"> ```\n{START}4{END}", f"- ~~~\n\n{START}4{END}", f"| ` |\n| {START}4{END} ` |"),
        *(f"a \\`{START}4{END}`", f"<div>`\n{START}4{END}`", f"<!--> {START}4{END} -->"),
    ],
)
def test_what_is_neither_hides_none(text: str) -> None:
    marks, complaints = find(text)
    assert [text[mark.content] for mark in marks] == ["4"]
    assert complaints == []


def test_lazy_lines_are_text_however_far_in_they_are() -> None:
    for text in (f"1.   a\n    {START}4{END}", f"> > a\n    {START}4{END}\n\n    {END}"):
        marks, complaints = find(text)
        assert [text[mark.content] for mark in marks] == ["4"]
        assert complaints == []


def test_rows_of_a_comment_are_no_rows_of_a_table() -> None:
    assert find(f"<!--\n| a\n| {START}4") == ([], [])


def test_what_stands_behind_a_block_without_end_is_looked_at() -> None:
    _, complaints = find(f"<div>\n{START}\n- a {END}\n</div>")
    assert [(complaint.line, complaint.column) for complaint in complaints] == [(2, 1), (3, 5)]


@pytest.mark.parametrize("sign", [">", "- "])
def test_what_is_too_deep_is_refused(sign: str) -> None:
    levels = DEEPEST // (1 if sign == ">" else 2) - 1
    marks, complaints = find(f"{sign * levels}a {START}4{END}\n")
    assert (len(marks), complaints) == (1, [])
    _, complaints = find(f"a\n\n{sign * (levels + 1)}a {START}4{END}\n")
    assert [(each.message, each.line) for each in complaints] == [
        ("nested quotations and lists, expected at most 20 levels", 3)
    ]


def numbered(pieces: list[str]) -> str:
    """The pieces as a text, each mark with its own number."""
    text = "".join(pieces)
    for number in range(text.count(START)):
        text = text.replace(START, f"<!-- decoder-trace: {number} -->", 1)
    return text


def live(text: str) -> list[int]:
    """The marks that CommonMark takes for comments, and not for code or a part of a comment."""
    html = []
    for token in COMMONMARK.parse(f"{text}\n\n"):
        inner = [child.content for child in token.children or () if child.type == "html_inline"]
        html += [token.content] if token.type == "html_block" else inner
    comments = [c for part in html for c in re.findall(r"<!--(?:-?>|(.*?)-->)", part, re.DOTALL)]
    return [int(c.split()[1]) for c in comments if c.startswith(" decoder-trace:")]


INDENTATIONS = ["", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t"]
CONTENTS = [
    *("", "a", "a b", "# a", "#a", "---", "- - -", "***", "_ _", "===", "=", "--", "`", "\\"),
    *("```", "```text", "``` a`", "~~~", "~~~~ `", "````", "`````"),
    *("<!-- a -->", "<!--", "<!-- a", "-->", "a -->", "<!-->", "a <!-- b -->", "<!--a--> b"),
    *("<div>", "</div>", "<td>a</td>", "<pre>", "</pre>", "<script", "<span>", "<span a='b' c>"),
    *("<a b=c/>", "<span> a", "<i", "<?", "?>", "<!A", "<![CDATA[", "]]>", "<table", "</x >"),
]
PIECES = [
    *["\n"] * 6,
    *[START + END] * 4,
    "`",
    "``",
    "```",
    "\\",
    "<!--",
    "<!-->",
    "-->",
    " ",
    "- ",
]


texts = st.lists(st.sampled_from([*PIECES, *INDENTATIONS, *CONTENTS]), max_size=14).map(numbered)


def assert_marks_are_commonmarks(text: str) -> None:
    assume("<" not in re.sub("<!--", "", text))
    marks, _ = find(text)
    assert [int(mark.asked) for mark in marks] == live(text)


@settings(max_examples=50, deadline=None)
@given(texts)
@example("a `\n- <!-- decoder-trace: 0 --><!-- /decoder-trace -->`")
def test_marks_are_those_of_commonmark(text: str) -> None:
    assert_marks_are_commonmarks(text)


@pytest.mark.fuzz
@settings(max_examples=20_000, deadline=None)
@given(texts)
def test_many_more_marks(text: str) -> None:
    assert_marks_are_commonmarks(text)


ONE_OF_MANY = {
    "starts in a line": "<!-- decoder-trace:",
    "starts in lines": "<!-- decoder-trace:\n",
    "starts in paragraphs": "a <!-- decoder-trace:\n\n",
    "marks in a line": f"{START}{END}",
    "block starts": f"{START}\n",
    "block starts in fences": f"{START}\n```\n{END}\n",
    "ends": f"a{END}",
    "comments": "<!--" * 4,
    "comments in a paragraph": "a <!--" * 4,
    "escapes": "\\\\" * 4,
    "fences": "\n```a\n~~~ b`\n",
    "quotations": ">" * 4,
    "lists": "- " * 4,
    "rules": "- - -a\n",
    "items": "- a\n",
    "lazy lines in quotations": ">" * 18 + "a\n" + "b\n" * 20,
    "blank lines": "\n" * 4,
    "attributes": " a=b c" * 4,
}


def seconds(text: str) -> float:
    """How long it takes to look for marks, without what else the machine does."""
    began = time.process_time()
    find(text)
    return time.process_time() - began


BEFORE = {"nothing": "", "lists": "- " * 9 + "a\n", "a tag": "<a"}
BEHIND = [
    pytest.param(one, before, id=f"{name} behind {other}", marks=[pytest.mark.fuzz] * bool(far))
    for i, (name, one) in enumerate(ONE_OF_MANY.items())
    for j, (other, before) in enumerate(BEFORE.items())
    for far in [(i + j) % len(BEFORE)]
]
"""Of each one; the others are for `pytest -m fuzz`."""


@pytest.mark.parametrize(("one", "before"), BEHIND)
def test_eight_times_as_much_takes_eight_times_as_long(one: str, before: str) -> None:
    times = 3_000 // len(one)
    short, long = (before + one * n + "decoder-trace -->" for n in (times, 8 * times))
    # What is quadratic takes 64 times as long; the rest is for a machine with other work.
    assert any(seconds(long) < 8 * 3 * max(seconds(short), 0.02) for _ in range(2))


def test_backticks_of_many_lengths() -> None:
    text = START + " a ".join("`" * length for length in range(1, 1400)) + END
    assert len(text) > 900_000
    assert seconds(text) < 2
