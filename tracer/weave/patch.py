"""The changes of weaving as a patch, in time proportional to the file's length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, TypeAlias

AROUND = 3
"""Unchanged lines shown before and after a change."""

MOST_COMPARED = 400
"""A larger change is not compared line by line, which takes up to quadratic time."""


_Opcode: TypeAlias = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Change:
    """A range of old lines, counted from 0, and the range of new lines in their place."""

    old: range
    new: range


class _Opcodes(SequenceMatcher[str]):
    """Groups opcodes that are already known into hunks."""

    def __init__(self, known: list[_Opcode]) -> None:
        super().__init__()
        self.known = known

    def get_opcodes(self) -> list[Any]:
        return self.known


def patch(old: str, new: str, changes: Sequence[Change], file: str) -> str:
    """Return the patch from the old text to the new one, which differ only in the changes."""
    before, after = _lines(old), _lines(new)
    known = list(_opcodes(before, after, changes))
    hunks = []
    for group in _Opcodes(known).get_grouped_opcodes(AROUND):
        (_, a, _, b, _), (_, _, a_end, _, b_end) = group[0], group[-1]
        hunks.append(f"@@ -{_place(a, a_end)} +{_place(b, b_end)} @@\n")
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                hunks += _written(" ", before[i:i_end])
            else:
                hunks += [*_written("-", before[i:i_end]), *_written("+", after[j:j_end])]
    return "".join([f"--- {file}\n+++ {file}\n", *hunks]) if hunks else ""


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _opcodes(old: list[str], new: list[str], changes: Sequence[Change]) -> Iterator[_Opcode]:
    """Yield difflib opcodes for the whole text."""
    i, j = 0, 0
    for tag, a, a_end, b, b_end in _changed(old, new, changes):
        yield "equal", i, a, j, b
        yield tag, a, a_end, b, b_end
        i, j = a_end, b_end
    yield "equal", i, len(old), j, len(new)


def _changed(old: list[str], new: list[str], changes: Sequence[Change]) -> Iterator[_Opcode]:
    for change in dict.fromkeys(changes):  # two numbers in one line make the same change
        (a, a_end), (b, b_end) = ((r.start, r.stop) for r in (change.old, change.new))
        if max(len(change.old), len(change.new)) > MOST_COMPARED:
            yield "replace", a, a_end, b, b_end
            continue
        for tag, i, i_end, j, j_end in SequenceMatcher(
            None, old[a:a_end], new[b:b_end]
        ).get_opcodes():
            if tag != "equal":
                yield tag, a + i, a + i_end, b + j, b + j_end


def _place(begin: int, end: int) -> str:
    """Return a hunk's first line, from 1, and its length; if it is empty, the line before it."""
    count = end - begin
    first = begin + 1 if count else begin
    return f"{first}" if count == 1 else f"{first},{count}"


def _written(sign: str, lines: Sequence[str]) -> list[str]:
    no_end = "\n\\ No newline at end of file\n"
    return [f"{sign}{line}{'' if line.endswith(chr(10)) else no_end}" for line in lines]
