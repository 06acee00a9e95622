"""Styles, and the hue of a number, which shows the kind of value that it comes from.

Each hue has a contrast of at least 4.5 : 1 on black and on white; color-blind readers can tell
those apart that meet in an operation. Parameters and intermediate numbers have no hue.
"""

from __future__ import annotations

from tracer.formula.expression import Blank, Expression, Number
from tracer.lesson.kinds import Kind, kind
from tracer.renderers.notation import Marking, pieces

BLUE, CLAY, MAGENTA, GREEN, GRAY = (f"color({code})" for code in (63, 131, 163, 29, 243))
"""Colors of the 256-color palette, the same in every terminal, with enough contrast."""

TITLE = SECTION = RESULT = MARKED = "bold"
LABEL = RULE = GRAY
NAME = "italic"

_HUES: dict[Kind | None, str] = {
    "stream": BLUE,
    "query": MAGENTA,
    "key": GREEN,
    "output": CLAY,
    None: "",
}


def hue(number: Number | Blank) -> str:
    """The hue of a number; none for an intermediate or a learned one."""
    return _HUES[kind(number)]


_MARKING = Marking(lambda of: [hue(of)] if isinstance(of, Number) and hue(of) else [])


def hues(expression: Expression) -> list[tuple[int, int, str]]:
    """The spans of an expression as text that have a hue: start, end, hue."""
    spans: list[tuple[int, int, str]] = []
    at = 0
    for words, styles in pieces(_MARKING.write(expression)):
        spans += [(at, at + len(words), style) for style in styles]
        at += len(words)
    return spans
