"""Queries, keys and values that the scenario gives, so that nothing before them is computed."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.parameters import columns
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import Names, Rows
from tracer.scenario.layers import Head


def typed_queries(tape: Tape, head: Head, tokens: Axis) -> Value:
    """Q (n, d_k), as typed."""
    assert head.Q is not None
    return _typed(tape, roles.QUERY, head.Q, tokens, head.labels.query)


def typed_keys_and_values(tape: Tape, head: Head, tokens: Axis) -> tuple[Value, Value]:
    """K (m, d_k) and V (m, d_v), as typed; `tokens` are those that are attended to."""
    assert head.K is not None and head.V is not None
    key = _typed(tape, roles.KEY, head.K, tokens, head.labels.key)
    return key, _typed(tape, roles.VALUE, head.V, tokens, head.labels.value)


def _typed(tape: Tape, role: roles.Role, rows: Rows, tokens: Axis, labels: Names | None) -> Value:
    named = labels or numbered(role.name[0], 1, columns(rows))
    return tape.given(role, rows, (tokens, Axis(role.name, named)))
