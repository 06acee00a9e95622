"""LaTeX → passages: displayed mathematics, prose, what is set verbatim; no comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.audit.passage import Kind, Passage, blank, with_mathematics

_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_VERBATIM = re.compile(r"\\begin\{(verbatim|lstlisting|minted|alltt)\*?\}")


def passages(content: str) -> Iterator[Passage]:
    """The passages of a text in LaTeX."""
    at = 0
    for opening in _VERBATIM.finditer(content):
        if opening.start() < at:
            continue
        end = content.find(f"\\end{{{opening[1]}", opening.end())
        if end < 0:
            break
        yield from _set(content[at : opening.start()], at)
        yield Passage(content[opening.end() : end], opening.end(), Kind.CODE)
        at = end
    yield from _set(content[at:], at)


def _set(content: str, start: int) -> Iterator[Passage]:
    """What is not verbatim."""
    content = _COMMENT.sub(lambda found: blank(found[0]), content).replace("~", " ")
    return with_mathematics(content, start)
