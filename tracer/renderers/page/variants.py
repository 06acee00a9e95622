"""One text for every token: what is said for some of them only stands beside the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass
class Variant:
    """A block as it is written, and the tokens (counted from 0) that it is written for."""

    written: str
    tokens: list[int]


def merged(texts: Sequence[tuple[int, Sequence[str]]]) -> list[Variant]:
    """The blocks of a text as it is told for each token, in an order that keeps each of theirs."""
    found: list[Variant] = []
    for token, written in texts:
        there = [variant.written for variant in found]
        changes = SequenceMatcher(None, there, written, autojunk=False).get_opcodes()
        together: list[Variant] = []
        for _, start, end, first, last in changes:
            same = there[start:end] == list(written[first:last])
            together += found[start:end]
            if same:
                for variant in found[start:end]:
                    variant.tokens.append(token)
            else:
                together += [Variant(each, [token]) for each in written[first:last]]
        found = together
    return found
