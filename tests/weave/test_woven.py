"""Weaving: what is a mark, what it is replaced by, and that nothing else ever changes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings, strategies as st

from tracer.errors import Problem, TracerError
from tracer.weave import woven as weaving

START = "<!-- decoder-trace: step a -->"
END = "<!-- /decoder-trace -->"
VALUE = "<!-- decoder-trace: value x -->"
WOVEN = "\n```text\nstep a\n```\n"


def weave(text: str, file: str, render: Callable[[tuple[str, ...]], str]) -> str:
    return weaving.weave(text, file, lambda words, _: render(words)).text


def echo(words: tuple[str, ...]) -> str:
    """The words that it is asked for; of a step, in a fence, as the program's output is."""
    return f"```text\n{' '.join(words)}\n```\n" if words[0] == "step" else " ".join(words)


def woven(text: str) -> str:
    """The text after weaving, which a second run must not change."""
    once = weave(text, "a.md", echo)
    assert weave(once, "a.md", echo) == once
    return once


def problems(text: str) -> list[str]:
    with pytest.raises(TracerError) as caught:
        weave(text, "a.md", echo)
    return [str(problem) for problem in caught.value.problems]


CHANGED = {
    "a block": (f"a\n{START}\nold\n{END}\nb", f"a\n{START}\n{WOVEN}\n{END}\nb"),
    "a block without content": (f"{START}\n{END}\n", f"{START}\n{WOVEN}\n{END}\n"),
    "an indented block": (
        f"   {START} \n  {END}\t",
        f"   {START} \n\n   ```text\n   step a\n   ```\n\n  {END}\t",
    ),
    "CRLF, as in the start's line": (
        f"a\n{START}\r\nold\n{END}\nb\r\n",
        f"a\n{START}\r\n\r\n```text\r\nstep a\r\n```\r\n\r\n{END}\nb\r\n",
    ),
    "two blocks": (
        f"{START}\n1\n{END}\n{START}\n2\n{END}",
        f"{START}\n{WOVEN}\n{END}\n{START}\n{WOVEN}\n{END}",
    ),
    "a number": (f"It is {VALUE}96.4 %{END}.\n", f"It is {VALUE}value x{END}.\n"),
    "two in a line": (f"{VALUE}{END}, {VALUE}1{END}", f"{VALUE}value x{END}, {VALUE}value x{END}"),
    "a number in a quotation": (f"> {VALUE}{END}", f"> {VALUE}value x{END}"),
    "a number beside code and comments": (
        f"`{START}` <!-- {START} ` {VALUE}{END} <!-- b -->",
        f"`{START}` <!-- {START} ` {VALUE}value x{END} <!-- b -->",
    ),
    "the old content holds an end in a fence": (
        f"{START}\n~~~\n{END}\n~~~\n{END}\n",
        f"{START}\n{WOVEN}\n{END}\n",
    ),
    "the old content has a fence that a quotation ends": (
        f"{START}\n> ```\n{END}\n",
        f"{START}\n{WOVEN}\n{END}\n",
    ),
    "the old content's fence has lost its end": (
        f"{START}\n```text\nold\n{END}\nb\n{START}\n```text\n```\n{END}\n",
        f"{START}\n{WOVEN}\n{END}\nb\n{START}\n{WOVEN}\n{END}\n",
    ),
    "a fence in a list ends": (
        f"- 1. ```sh\n     a\n     ```\n{VALUE}{END}",
        f"- 1. ```sh\n     a\n     ```\n{VALUE}value x{END}",
    ),
    "quoted words": (
        "<!-- decoder-trace: value 'a  b' \"c\" -->" + END,
        f"<!-- decoder-trace: value 'a  b' \"c\" -->value a  b c{END}",
    ),
    "no spaces": (
        "<!--decoder-trace:a--><!--/decoder-trace-->",
        "<!--decoder-trace:a-->a<!--/decoder-trace-->",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CHANGED.values(), ids=CHANGED)
def test_changed(text: str, expected: str) -> None:
    assert woven(text) == expected


UNCHANGED = {
    "nothing": "",
    "text": "a\r\nb\rc\x0bd\x0ce\u2028f\x00g",
    "other comments": "<!-- a -->\n<!-- decoder-trace step a -->\n<!--\nb\n-->\n<!-- tests -->",
    "a fence": f"```markdown\n{START}\n{VALUE}\n```\n",
    "a fence of tildes": f"~~~ md `a`\r\n{START}\r\n```\r\n{START}\r\n~~~~\r\n",
    "a shorter fence within": f"````html\n```\n{START}\n```\n{START}\n````",
    "no end: other text behind": f"```mdx\n``` a\n{START}\n```",
    "no end: too far in": f"```{{code-block}} markdown\n    ```\n{START}\n```",
    "an indented fence": f"   ```{{.markdown}}\n{START}\n  ```\n",
    "a fence in a list": f"10. - ```Markdown\n      {START}\n      ```\n",
    "a fence up to the end": f"```latex\n{START}",
    "code": f"`{START}` ``a`{START}`` `{END}`",
    "code with other backticks in it": f"`a``{START}`",
    "escaped": f"\\{START} \\{END}",
    "within a comment": f"<!-- {START}",
}


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED)
def test_unchanged(text: str) -> None:
    assert woven(text) == text


def test_words_are_those_of_a_shell() -> None:
    told: list[tuple[str, ...]] = []

    def tell(words: tuple[str, ...]) -> str:
        told.append(words)
        return "a"

    weave(f"{START}\n{END}\nb <!-- decoder-trace: value 'x y' \"z\"  1 -->{END}", "a.md", tell)
    assert told == [("step", "a"), ("value", "x y", "z", "1")]


LOST = "contains text that would be read as a mark"
NO_END = "no end, expected <!-- /decoder-trace -->"
OF_BLOCK = (
    f"{NO_END} alone on a line with the same prefix, before the next mark; or code or a formula "
    "below the start"
)
OTHER_SIGN = "no mark of this file, expected <!-- decoder-trace: … -->"
MATRIX = "<!-- decoder-trace: value x as bmatrix -s a -->"
BRACES = r"\begin{pmatrix} 1 & 2 \end{pmatrix}"
IN_CODE = (
    "a mark in code, where nothing is woven: place it above the code; in a fence of the language "
    "markdown, html or latex it is an example"
)
OF_INLINE = f"{NO_END} on the same line (or the start alone on it)"

WRONG = {
    "a block without end": (f"a\n{START}\nb", [f"a.md:2:1: {OF_BLOCK}"]),
    "an end that is not alone": (
        f"{START}\n{END} a\n  {END}",
        [
            *(f"a.md:1:1: {OF_BLOCK}", "a.md:2:1: an end without a start"),
            "a.md:3:3: an end without a start",
        ],
    ),
    "an end behind that of a fence that nothing closes": (
        f"{START}\n```\n{END}\nb\n{END}\n",
        ["a.md:5:1: an end without a start"],
    ),
    "an end in a fence of the author": (
        f"{START}\n```\n{END}\n```\n",
        ["a.md:1:1: the output contains text that would be read as the end of the code"],
    ),
    "markers in a fence of the author": (
        f"{START}\n```\n{START}\n{END}\n```\n",
        [f"a.md:1:1: {OF_BLOCK}", f"a.md:3:1: {IN_CODE}"],
    ),
    "a mark in a fence": (f"```text\n{START}\n{END}\n```\n", [f"a.md:2:1: {IN_CODE}"]),
    "a mark in a fence in a quotation": (f"> ~~~\n> a {VALUE}{END}\n", [f"a.md:2:5: {IN_CODE}"]),
    "a mark in a directive": (f"```{{note}}\n{START}\n```\n", [f"a.md:2:1: {IN_CODE}"]),
    "a mark of LaTeX": (
        "a\n% decoder-trace: step a\n> .. decoder-trace: step a\n{/* decoder-trace: step a */}\n",
        [f"a.md:{place}: {OTHER_SIGN}" for place in ("2:1", "3:3", "4:1")],
    ),
    "a formula without end": (f"{START}\n$$\na\n", [f"a.md:1:1: {OF_BLOCK}"]),
    "a fence without end": (f"{START}\n```\na\n", [f"a.md:1:1: {OF_BLOCK}"]),
    "a formula behind other text": (f"{START}\na\n$$\na\n$$\n", [f"a.md:1:1: {OF_BLOCK}"]),
    "a formula with two matrices": (
        f"{MATRIX}\n$$\n{BRACES}{BRACES}\n$$\n",
        ["a.md:1:1: the formula has 2 matrices, expected one to rewrite"],
    ),
    "a block in a block": (
        f"{START}\n{START}\n{END}\n{END}",
        [f"a.md:1:1: {OF_BLOCK}", "a.md:4:1: an end without a start"],
    ),
    "a number in a block": (
        f"{START}\n{VALUE}{END}\n{END}",
        [f"a.md:1:1: {OF_BLOCK}", "a.md:3:1: an end without a start"],
    ),
    "an end outside the quotation": (
        f"> {START}\n{END}\n",
        [f"a.md:1:3: {OF_BLOCK}", "a.md:2:1: an end without a start"],
    ),
    "an end outside the list item": (
        f"- {START}\n\n{END}\n",
        [f"a.md:1:3: {OF_BLOCK}", "a.md:3:1: an end without a start"],
    ),
    "a number without end": (f"a {VALUE} b\n", [f"a.md:1:3: {OF_INLINE}"]),
    "a number whose end is in code": (f"a {VALUE} `{END}`", [f"a.md:1:3: {OF_INLINE}"]),
    "a number whose end is on the next line": (
        f"a {VALUE}1\nb {END}",
        [f"a.md:1:3: {OF_INLINE}", "a.md:2:3: an end without a start"],
    ),
    "a block too far in": (
        f"a\n    {START}\n{END}",
        [f"a.md:2:5: {OF_INLINE}", "a.md:3:1: an end without a start"],
    ),
    "a number in a number": (
        f"{VALUE}{VALUE}{END}",
        [f"a.md:1:{len(VALUE) + 1}: a start inside a mark"],
    ),
    "an end": (f"\r\n{END}\r\n", ["a.md:2:1: an end without a start"]),
    "a start over two lines": (
        f"<!-- decoder-trace: step\na -->\n{END}",
        ["a.md:1:1: the mark has no --> on its line", "a.md:3:1: an end without a start"],
    ),
    "a start that nothing ends": (
        "a <!-- decoder-trace: <!-- decoder-trace: step",
        [
            "a.md:1:3: the mark has no --> on its line",
        ],
    ),
    "no command": (f"\n<!-- decoder-trace: -->{END}", ["a.md:2:1: the mark has no command"]),
    "a quote": (
        f"<!-- decoder-trace: step don't -->\n{END}",
        ["a.md:1:1: step don't: no closing quotation"],
    ),
    "columns behind a byte-order mark": (f"\ufeffa {END}", ["a.md:1:3: an end without a start"]),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_wrong(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


OUTPUTS = {
    "several lines": (f"a {VALUE}{END}", "a\nb", "has several lines; put the start of the mark"),
    "a code span that takes in the end": (f"a {VALUE}{END}`", "`", LOST),
    "an escape of the end": (f"a {VALUE}{END}", "\\", LOST),
    "an end in a line": (f"a {VALUE}{END}", END, LOST),
    "a broken start in a line": (f"a {VALUE}{END}", "<!-- decoder-trace: <!-- x -->", LOST),
    "what makes the line a fence": (f"``````{VALUE}`{END}", "a", LOST),
    "a fence without end": (f"> {START}\n> {END}", "```\na", LOST),
    "an end in a block": (f"> {START}\n> {END}", f"a\n{END}", LOST),
    "a start in a block's fence": (f"> {START}\n> {END}", f"```\n{START}\n```", LOST),
}


@pytest.mark.parametrize(("text", "output", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_that_would_hide_their_end(text: str, output: str, expected: str) -> None:
    with pytest.raises(TracerError, match=rf"^a\.md:1:[37]: the output {expected}"):
        weave(text, "a.md", lambda _: output)


def test_line_ends_of_the_output_are_those_of_the_marker() -> None:
    text = weave(f"{START}\n{END}\n", "a.md", lambda _: "\r\na\r\n\nb\rc\n\n")
    assert text == f"{START}\n\na\n\nb\rc\n\n{END}\n"
    text = weave(f"{VALUE}{END}\r\n", "a.md", lambda _: "1\n")
    assert text == f"{VALUE}1{END}\r\n"


def test_problems_of_rendering_are_told_at_the_marker() -> None:
    def fail(_: tuple[str, ...]) -> str:
        raise TracerError(Problem("no such", address="b.c"), Problem("bad", "s.yaml", 3, 4, "d"))

    with pytest.raises(TracerError) as caught:
        weave(f"{END}\n{START}\n{END}\n{VALUE}{END}\n", "a.md", fail)
    assert caught.value.problems == (
        Problem("an end without a start", "a.md", 1, 1),
        Problem("no such", "a.md", 2, 1, address="b.c"),
        Problem("s.yaml:3:4: d: bad", "a.md", 2, 1),
        Problem("no such", "a.md", 4, 1, address="b.c"),
        Problem("s.yaml:3:4: d: bad", "a.md", 4, 1),
    )


HARMLESS = [
    *("", "Text.", "# Title 😀", "\x00", "a\rb", "\x0c\x0b", "\u2028\x85", "| a | b |", "    c"),
    *("<!-- tests -->", "<!--", "-->", "<!-- decoder-trace step -->", "`", "a `b` c", "> ```"),
    *(f"a `{START}` b", f"``{VALUE}`{END}``", f"\\{START}", "a ``` b", "~~", "- c", "\\"),
]
ALONE = [line for line in HARMLESS if line not in ("<!--", "`", "a ``` b", "- c")]
"""Without effect on the lines behind them."""
APART = "\n<!-- apart -->\n\n"
"""Ends every paragraph, list and quotation."""
IN_FENCES = [*HARMLESS, START, END, VALUE, f"{VALUE}1{END}", "``", "``` a", "<!-- decoder-trace:"]
line_ends = st.sampled_from(["\n", "\r\n"])


def lines(texts: list[str]) -> st.SearchStrategy[str]:
    """Some of these lines, with line ends of both kinds."""
    line = st.builds(str.__add__, st.sampled_from(texts), line_ends)
    return st.lists(line, max_size=4).map("".join)


def fence(texts: list[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda bars, info, more, before, content, end: (
            f"{before}{bars}{info}{end}{content}{before}{bars}{bars[0] * more}{end}"
        ),
        st.sampled_from(["~~~", "````", "`````"]),
        st.sampled_from(["md", " markdown", "html a"]),
        st.integers(0, 2),
        st.sampled_from(["", " ", "   "]),
        lines(texts),
        line_ends,
    )


@st.composite
def blocks(draw: st.DrawFn) -> tuple[str, str]:
    """A marked block as it is and as it must become."""
    end = draw(line_ends)
    prefix = draw(st.sampled_from(["", "  "]))
    start = prefix + START + end
    closing = draw(st.sampled_from(["", "   "])) + END + draw(line_ends)
    old = draw(lines(ALONE)) + draw(st.just("") | fence([*HARMLESS, END])) + draw(lines(["a"]))
    output = f"{WOVEN}\n".replace("\n", f"{end}{prefix}")
    new = "".join(line.lstrip(" ") if line.isspace() else line for line in output.splitlines(True))
    return start + old + closing, start + new.rstrip(" ") + closing


@st.composite
def numbers(draw: st.DrawFn) -> tuple[str, str]:
    """A line with a marked number, as it is and as it must become."""
    before = draw(st.sampled_from(["", "It is ", f"`{END}` ", "> ", "- ", "😀\x00", "<!-- a -->"]))
    old = draw(st.sampled_from(["", "96.4 %", "0.1", "`a`", "<!-- b -->", "\r"]))
    # A line that begins with a comment is HTML, in which nothing is code.
    code = [f" `{START}`"] if before not in ("", "<!-- a -->", "> ", "- ") else []
    after = draw(st.sampled_from(["", ".", " `", " <!--", *code])) + draw(line_ends)
    return f"{before}{VALUE}{old}{END}{after}", f"{before}{VALUE}value x{END}{after}"


same = (lines(ALONE) | fence(IN_FENCES)).map(lambda text: (text, text))
old_parts = (same | blocks() | numbers()).map(lambda sides: sides[0])


@settings(max_examples=50, deadline=None)
@given(parts=st.lists(same | blocks() | numbers(), max_size=6), final_newline=st.booleans())
def test_marked_parts_change_and_nothing_else(
    parts: list[tuple[str, str]], final_newline: bool
) -> None:
    old, expected = (APART.join(side) for side in zip(*parts, strict=True)) if parts else ("", "")
    if not final_newline:
        old, expected = old.removesuffix("\n"), expected.removesuffix("\n")
    assert woven(old) == expected


MARKERS = [START, END, VALUE, f"{VALUE}1{END}", "<!-- decoder-trace:", "<!-- decoder-trace: ' -->"]
PIECES = [*HARMLESS, *MARKERS, START, END, "```", "~~~", "````text", "  ", "- ", "\n", "\n", "\r\n"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=16).map("\n".join))
@example(f"{START}\n```\n{END}\n\n{END}")
def test_any_text_keeps_what_is_outside(text: str) -> None:
    assert_outside_kept(text)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=16).map("".join))
def test_any_line_keeps_what_is_outside(text: str) -> None:
    assert_outside_kept(text)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(HARMLESS) | old_parts, max_size=4),
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from(["", "\n"]),
)
def test_any_output_is_found_again_or_refused(
    texts: list[str], pieces: list[str], between: str
) -> None:
    output = between.join(pieces)
    try:
        once = weave("".join(texts), "a.md", lambda _: output)
    except TracerError:
        return
    assert weave(once, "a.md", lambda _: output) == once
    # Each output has replaced the one before it, and none of it is left over.
    assert said_of(once) == said_of("".join(texts))


def said_of(text: str) -> str:
    """A text in which each mark has its own words for output, or why there is none."""
    try:
        return weave(text, "a.md", " ".join)
    except TracerError as error:
        return str(error)


def assert_outside_kept(text: str) -> None:
    """Cut out what was rendered: the rest is the old text, in order, but for marked contents."""
    cut = "\ue000"
    try:
        result = weave(text, "a.md", lambda _: cut)
    except TracerError as error:
        assert all(problem.file == "a.md" and problem.line for problem in error.problems)
        assert text.count("\n") + 1 >= max(problem.line or 0 for problem in error.problems)
        return
    assert weave(result, "a.md", lambda _: cut) == result
    # No marked part has swallowed another: every line that is a start is still there.
    start = re.compile(r"^ {0,3}<!-- decoder-trace:", re.MULTILINE)
    assert len(start.findall(result)) == len(start.findall(text))
    outside = result.split(cut)
    at = 0
    for number, piece in enumerate(outside):
        # A block's output has a line end and a blank line on both sides.
        before = piece.lstrip("\r\n") if number > 0 else piece
        kept = before.rstrip("\r\n") if number + 1 < len(outside) else before
        if number > 0:
            assert kept.lstrip(" ").startswith(END)
        if number + 1 < len(outside):
            assert kept.rstrip(" \t").endswith("-->")
        found = text.find(kept, at)
        assert found >= at
        at = found + len(kept)
    assert text.endswith(kept)
