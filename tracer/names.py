"""Small words around names and numbers: plurals, and what a mistyped name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`, `0 entries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def closest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'softmax'?`, or nothing where no known name is near."""
    found = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""
