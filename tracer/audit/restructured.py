"""reStructuredText → passages: prose, literal blocks, mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.audit.passage import FILL, Kind, Passage, with_mathematics

_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\. math::[ \t]*(.*\n(?:(?:\1[ \t]+\S.*|[ \t]*)\n?)*)", re.MULTILINE
)
_ROLE = re.compile(r":math:`([^`]{0,500})`")
_STRONG = re.compile(r"(?<![\w*])\*{1,2}(?=[^\s*])|(?<=[^\s*])\*{1,2}(?![\w*(])")
_OPTION = re.compile(r":(?:label|nowrap|name|class|no-wrap|number):[^\n]*")


def passages(content: str) -> Iterator[Passage]:
    """The passages of a text in reStructuredText."""
    at = 0
    for block in _DIRECTIVE.finditer(content):
        yield from _prose(content[at : block.start()], at)
        inside = _OPTION.sub(lambda found: FILL * len(found[0]), block[2])
        yield Passage(inside, block.start(2), Kind.MATH)
        at = block.end()
    yield from _prose(content[at:], at)


def _prose(content: str, start: int) -> Iterator[Passage]:
    content = _ROLE.sub(lambda f: f"{FILL * 7}{f[1]}{FILL}", content)
    return with_mathematics(_STRONG.sub(lambda f: FILL * len(f[0]), content), start, Kind.CODE)
