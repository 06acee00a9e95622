"""Attention sinks: a learned number takes part in the softmax (gpt-oss, Agarwal et al. 2025)."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import Exp
from tracer.decoder.operations import AppendColumn, DropColumn
from tracer.decoder.roles import SINK, SinkRoles, SoftmaxRoles
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.layers import Head

AXIS = Axis("sink", ("sink",))


def learned_sink(tape: Tape, head: Head) -> Value | None:
    """Record the sink s (1,) of a head; None without one."""
    return None if head.sink is None else tape.given(SINK, head.sink, (AXIS,))


def softmax_with_sink(
    tape: Tape,
    roles: SoftmaxRoles,
    of_sink: SinkRoles,
    scores: Value,
    sink: Value | None,
    *,
    shifted: bool,
    exp: Exp,
) -> Value:
    """The columns of softmax([S s]) without the last: scores S (n, m), sink s (1,) → (n, m).

    Without a sink, softmax(S).
    """
    if sink is None:
        return softmax(tape, roles, scores, shifted=shifted, exp=exp)
    joined = tape.record(of_sink.scores, AppendColumn(), scores, sink)
    inside = replace(roles, shares=of_sink.shares)
    shares = softmax(tape, inside, joined, shifted=shifted, exp=exp)
    return tape.record(roles.shares, DropColumn(), shares)
