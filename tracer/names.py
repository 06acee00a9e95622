"""Names: plurals, equal ones, what a mistyped one may have meant, how they are shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache

from tracer.errors import Problem, TracerError

SEVERAL = 8
"""The most positions of a token that a message lists."""

PICTURE = "[\u2600-\u27bf\U0001f000-\U0001faff]"
JOINED = f"{PICTURE}\ufe0f?\u200d(?={PICTURE})"
"""A picture with the sign behind it that joins it to the next; seldom needed, slow to compile."""


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`, `0 entries`."""
    plural = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def first_of(names: Sequence[str], most: int) -> str:
    """`a, b`; of more than `most` names, `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def shape_text(shape: Sequence[object], scalar: str = "one number") -> str:
    """`2×3`, or the words for a scalar."""
    return "×".join(map(str, shape)) or scalar


@lru_cache
def with_article(noun: str) -> str:
    """`a head`, `an expert`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that occur twice are told apart by their position: the (1), the (4).

    So is one that would then be like another: of a, a, a (1) the last is a (1) (3).
    """
    found, numbered = tuple(names), set[int]()
    while len(set(found)) < len(found):
        times = Counter(found)
        numbered |= {i for i, name in enumerate(found) if times[name] > 1}
        found = tuple(
            f"{name} ({i + 1})" if i in numbered else name for i, name in enumerate(names)
        )
    return found


def places(name: str, names: Sequence[str]) -> list[int]:
    """Where a name stands, counted from 0: as it is, else as texts show it, with ␣ for a space.

    Where none is so, spaces around it do not count.
    """
    for wanted in (name, name.replace("␣", " ")):
        if found := [place for place, known in enumerate(names) if known == wanted]:
            return found
    return [place for place, known in enumerate(names) if known.strip() == name.strip()]


def position_of(token: str, tokens: tuple[str, ...]) -> int:
    """The place, counted from 0, of a token given by its position or its text.

    One of several with the same text is given as texts show it: `the (1)`.
    """
    positions = [str(position) for position in range(1, len(tokens) + 1)]
    if token in positions:
        return positions.index(token)
    for names in (tokens, distinct(tokens)):
        if len(found := places(token, names)) == 1:
            return found[0]
    if found := places(token, tokens):
        several = ", ".join(str(place + 1) for place in found[:SEVERAL])
        several += " …" * (len(found) > SEVERAL)
        message = f"the token {token!r} occurs at several positions, choose one: {several}"
        raise TracerError(Problem(message))
    hint = closest(token, tokens)
    raise TracerError(Problem(f"no token {token!r}, expected 1 to {len(tokens)} or its text{hint}"))


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that are similar, the most similar first."""
    by_lower = {k.lower(): k for k in known}
    return [by_lower[k] for k in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.65)]


def closest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'softmax'?`, or nothing if no known name is similar."""
    return did_you_mean(similar(name, known))


def did_you_mean(found: Sequence[str]) -> str:
    """Return the question about some names; nothing about none."""
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def name_text(name: str) -> str:
    """A token or label in one line, with nothing lost and nothing that controls a terminal.

    Unprintable characters are escaped, a space at either end is ␣. Joined pictures (👩‍👧) are kept.
    """
    inner = name.strip(" ")
    if inner == name and name.isprintable() and name:
        return name  # most names
    before = len(name) - len(name.lstrip(" ")) if inner else len(name)
    after = len(name) - before - len(inner)
    return "␣" * before + visible(inner) + "␣" * after or '""'


def visible(words: str) -> str:
    """Words with unprintable characters escaped; joined pictures (👩‍👧) are kept."""
    if words.isprintable():
        return words
    joined = {match.end() - 1 for match in re.finditer(JOINED, words)}
    return "".join(
        c if c.isprintable() or i in joined else c.encode("unicode_escape").decode("ascii")
        for i, c in enumerate(words)
    )


def ordinal(number: int) -> str:
    """`1st`, `2,079th`, `12th`."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    is_teen = number % 100 in (11, 12, 13)
    return f"{number:,}{'th' if is_teen else endings.get(number % 10, 'th')}"
