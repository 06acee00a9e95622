"""What weaving changes, as a patch; it costs as much as the file is long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TypeAlias

from tracer.frozen import frozen

AROUND = 3
"""Lines shown before and behind a change."""

MOST_COMPARED = 400
"""Lines of a change that are compared one by one: that takes up to the square of the time."""


@frozen
class Change:
    """Lines, counted from 0, and those in their place."""

    old: range
    new: range


_Row: TypeAlias = tuple[str, str]
"""`-`, `+` or a space, and a line."""


def patch(old: str, new: str, changes: Sequence[Change], file: str) -> str:
    """The patch that makes the new text of the old one, all else than the changes being equal."""
    rows = list(_rows(_lines(old), _lines(new), changes))
    old_lines = [0, *accumulate(sign != "+" for sign, _ in rows)]
    new_lines = [0, *accumulate(sign != "-" for sign, _ in rows)]
    hunks = []
    for begin, end in _together([number for number, (sign, _) in enumerate(rows) if sign != " "]):
        part = slice(max(0, begin - AROUND), min(len(rows), end + AROUND))
        places = (_place(lines[part.start], lines[part.stop]) for lines in (old_lines, new_lines))
        hunks += ["@@ -{} +{} @@\n".format(*places), *map(_written, rows[part])]
    return "".join([f"--- {file}\n+++ {file}\n", *hunks]) if hunks else ""


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _rows(old: Sequence[str], new: Sequence[str], changes: Sequence[Change]) -> Iterator[_Row]:
    at = 0
    for change in dict.fromkeys(changes):  # of two numbers in a line it is the same
        for line in old[at : change.old.start]:
            yield " ", line
        at = change.old.stop
        before = old[change.old.start : at]
        after = new[change.new.start : change.new.stop]
        yield from _compared(before, after)
    for line in old[at:]:
        yield " ", line


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[_Row]:
    blocks = [(len(old), len(new), 0)]
    if max(len(old), len(new)) <= MOST_COMPARED:
        blocks = [(m.a, m.b, m.size) for m in SequenceMatcher(None, old, new).get_matching_blocks()]
    at_old, at_new = 0, 0
    for in_old, in_new, size in blocks:
        for line in old[at_old:in_old]:
            yield "-", line
        for line in new[at_new:in_new]:
            yield "+", line
        at_old, at_new = in_old + size, in_new + size
        for line in old[in_old:at_old]:
            yield " ", line


def _together(changed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and behind the last of changed rows that are shown together."""
    begin = 0
    for number in range(1, len(changed) + 1):
        if number == len(changed) or changed[number] - changed[number - 1] > 2 * AROUND + 1:
            yield changed[begin], changed[number - 1] + 1
            begin = number


def _place(before: int, behind: int) -> str:
    """The first line of a hunk, counted from 1, and their number; of none, the line before it."""
    count = behind - before
    first = before + 1 if count else before
    return f"{first}" if count == 1 else f"{first},{count}"


def _written(row: _Row) -> str:
    sign, line = row
    return (
        f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
    )
