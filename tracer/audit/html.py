"""HTML → passages: what a reader sees, each sign at the place of what it was written with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from tracer.audit.passage import CUT, FILL, Kind, Passage, blank, with_mathematics

_MARKUP = re.compile(
    r"""
      <!--.*?(?:-->|\Z)
    | <(?P<close>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)[^<>]{0,2000}>
    | &(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE_WORDS = "a abbr b bdi cite code em font i kbd mark q s samp small span strong u var wbr"
_INLINE = frozenset(_INSIDE_WORDS.split())
_UNSEEN = ("script", "style", "svg", "head", "math")
_SIGNS = {"<sup>": "^(", "</sup>": ")", "<sub>": "_"}
"""A superscript is a power."""


def passages(content: str) -> Iterator[Passage]:
    """The passages of a page."""
    return with_mathematics(_seen(content), 0, Kind.CODE)


def _seen(content: str) -> str:
    """A text of the same length, in which markup is nothing, a sign, or an end."""
    made: list[str] = []
    at = 0
    while found := _MARKUP.search(content, at):
        made.append(content[at : found.start()])
        end = found.end()
        if found["tag"] and not found["close"] and found["tag"].lower() in _UNSEEN:
            closed = re.compile(f"</{found['tag']}", re.IGNORECASE).search(content, end)
            end = closed.start() if closed else len(content)
        made.append(_shown(found) + blank(content[found.start() + len(_shown(found)) : end]))
        at = end
    made.append(content[at:])
    return "".join(made)


def _shown(found: re.Match[str]) -> str:
    """What stands for markup; it is no longer."""
    if found[0].startswith("&"):
        return unescape(found[0])[:1]
    if found["tag"] is None:
        return FILL
    tag = found["tag"].lower()
    if sign := _SIGNS.get(f"<{found['close']}{tag}>"):
        return sign
    return "" if tag in _INLINE or tag == "sub" else CUT
