"""A patch makes the new text of the old one."""

from __future__ import annotations

import re
import time

from hypothesis import given, strategies as st

from tracer.weave.patch import patch

LINES = st.lists(
    st.sampled_from(["a", "b", "", "c\r", "\x0c", "@@ -1 +1 @@", "-a", "+a"]), max_size=12
)


def lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def patched(old: str, difference: str) -> str:
    """The old text with a patch applied, each line of which must fit."""
    before, after = lines(old), list[str]()
    at = 0
    text = difference.replace("\n\\ No newline at end of file\n", "\x00")
    for hunk in re.split(r"^@@ ", text, flags=re.MULTILINE)[1:]:
        head, *rows = re.findall(r"[^\n\x00]*(?:\n|\x00)", hunk)
        found = re.fullmatch(r"-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", head)
        assert found
        begin, count, new_begin, new_count = (int(n or 1) for n in found.groups())
        begin, new_begin = begin - (count > 0), new_begin - (new_count > 0)
        after += before[at:begin]
        assert len(after) == new_begin
        for row in rows:
            line = row[1:].replace("\x00", "")
            if row[0] in " -":
                assert before[begin] == line
                begin += 1
            if row[0] in " +":
                after.append(line)
        assert (begin - count, len(after) - new_count) == (int(found[1]) - (count > 0), new_begin)
        at = begin
    return "".join(after + before[at:])


@given(st.lists(st.tuples(LINES, LINES, LINES), max_size=4), st.booleans())
def test_it_makes_the_new_text_of_the_old_one(
    parts: list[tuple[list[str], list[str], list[str]]], ends: bool
) -> None:
    old = [line for same, before, _ in parts for line in (*same, *before)]
    new = [line for same, _, after in parts for line in (*same, *after)]
    end = "\n" if ends else ""
    old_text, new_text = ("\n".join(side) + end if side else "" for side in (old, new))
    assert patched(old_text, patch(old_text, new_text, "a.md")) == new_text


def test_of_what_stays_the_same_there_is_no_patch() -> None:
    assert patch("a\nb", "a\nb", "a.md") == ""


def test_it_shows_three_lines_around_and_joins_what_is_near() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21)) + "end"
    new = old.replace("5\n", "five\n", 1).replace("11\n", "").replace("end", "END")
    assert patch(old, new, "a.md") == (
        "--- a.md\n+++ a.md\n"
        "@@ -2,13 +2,12 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n-11\n 12\n 13\n 14\n"
        "@@ -18,4 +17,4 @@\n 18\n 19\n 20\n-end\n\\ No newline at end of file\n"
        "+END\n\\ No newline at end of file\n"
    )


def test_a_long_text_is_compared_quickly() -> None:
    number = 5_000
    old = "".join(f"{n}\na\n" for n in range(number))
    new = old.replace("0\n", "0.5\n")
    began = time.process_time()
    difference = patch(old, new, "a.md")
    assert time.process_time() - began < 5
    assert patched(old, difference) == new
