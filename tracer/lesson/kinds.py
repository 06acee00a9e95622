"""The kind of value that a number comes from, by which formats may color it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tracer.decoder import roles
from tracer.decoder.part import all_norms
from tracer.decoder.roles import Role
from tracer.formula.expression import Blank, Number

Kind: TypeAlias = Literal["stream", "query", "key", "output"]
"""The residual stream, scores and weights; queries and hidden units; keys; values and outputs."""

_KINDS: dict[Role, Kind | None] = {
    **dict.fromkeys((roles.QUERY, roles.HIDDEN, roles.ACTIVATION, roles.POSITION), "query"),
    **dict.fromkeys(
        (role for of in all_norms() for role in (of.mean, of.variance, of.std)), "query"
    ),
    **dict.fromkeys((roles.KEY, roles.KEYS), "key"),
    **dict.fromkeys((roles.VALUE, roles.VALUES, roles.HEAD_OUTPUT, roles.CONCAT), "output"),
    **dict.fromkeys((roles.ATTENTION_OUTPUT, roles.FFN_OUTPUT), "output"),
    **dict.fromkeys((roles.MASK, roles.D_K, roles.SCALE, roles.POSITION_INDEX), None),
    **dict.fromkeys((roles.EMBEDDING_WIDTH, roles.EMBEDDING_SCALE), None),
}
"""Values that meet in an operation are of different kinds; all others are of the stream."""


def kind(number: Number | Blank) -> Kind | None:
    """The kind of a number; none for an intermediate, a constant or a learned one."""
    if isinstance(number, Blank) or number.entry is None or number.entry.value.role.parameter:
        return None
    return _KINDS.get(number.entry.value.role, "stream")
