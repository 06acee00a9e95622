"""Styles, and the hue of a number, which shows the kind of value that it comes from.

Each hue has a contrast of at least 4.5 : 1 on black and on white; color-blind readers can tell
those apart that meet in an operation. Parameters and intermediate numbers have no hue.
"""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.part import all_norms
from tracer.decoder.roles import Role
from tracer.formula.expression import Blank, Expression, Number
from tracer.renderers.notation import Marking, pieces

BLUE, CLAY, MAGENTA, GREEN, GRAY = (f"color({code})" for code in (63, 131, 163, 29, 243))
"""Colors of the 256-color palette, the same in every terminal, with enough contrast."""

TITLE = SECTION = RESULT = MARKED = "bold"
LABEL = RULE = GRAY
NAME = "italic"

_HUES: dict[Role, str] = {
    **dict.fromkeys((roles.QUERY, roles.HIDDEN, roles.ACTIVATION), MAGENTA),
    **dict.fromkeys(
        (role for of in all_norms() for role in (of.mean, of.variance, of.std)), MAGENTA
    ),
    roles.POSITION: MAGENTA,
    **dict.fromkeys((roles.KEY, roles.KEYS), GREEN),
    **dict.fromkeys((roles.VALUE, roles.VALUES, roles.HEAD_OUTPUT, roles.CONCAT), CLAY),
    **dict.fromkeys((roles.ATTENTION_OUTPUT, roles.FFN_OUTPUT), CLAY),
    **dict.fromkeys((roles.MASK, roles.D_K, roles.SCALE, roles.POSITION_INDEX), ""),
    **dict.fromkeys((roles.EMBEDDING_WIDTH, roles.EMBEDDING_SCALE), ""),
}
"""The colors of roles; all others are blue: the residual stream, and scores and weights."""


def hue(number: Number | Blank) -> str:
    """The hue of a number; none for an intermediate or a learned one."""
    if isinstance(number, Blank):
        return ""
    if number.entry is None or number.entry.value.role.parameter:
        return ""
    return _HUES.get(number.entry.value.role, BLUE)


_MARKING = Marking(lambda of: [hue(of)] if isinstance(of, Number) and hue(of) else [])


def hues(expression: Expression) -> list[tuple[int, int, str]]:
    """The spans of an expression as text that have a hue: start, end, hue."""
    spans: list[tuple[int, int, str]] = []
    at = 0
    for words, styles in pieces(_MARKING.write(expression)):
        spans += [(at, at + len(words), style) for style in styles]
        at += len(words)
    return spans
