"""A learned number beside the scores of each row, whose share is left out of the weights."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.operations import AppendColumn, DropColumn
from tracer.decoder.part import ComputeSoftmax, HeadContext, Part
from tracer.decoder.roles import Role, SoftmaxRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.sinks.scenario import HeadKeys
from tracer.scenario.part import keys_of

AXIS = Axis("sink", ("sink",))

SINK = Role("sink", parameter=True)
SCORES_AND_SINK = Role("scores_and_sink", to_weights=True, hides=True)
WEIGHTS_AND_SINK = Role("weights_and_sink", to_weights=True)
UNMASKED_AND_SINK = Role("unmasked.scores_and_sink")
UNMASKED_WEIGHTS_AND_SINK = Role("unmasked.weights_and_sink")

WITH_SINK = {
    roles.WEIGHTS: (SCORES_AND_SINK, WEIGHTS_AND_SINK),
    roles.UNMASKED_WEIGHTS: (UNMASKED_AND_SINK, UNMASKED_WEIGHTS_AND_SINK),
}
"""By the result of a softmax, the scores and the shares with the sink."""


def softmax_with_sink(
    tape: Tape, at: HeadContext, compute: ComputeSoftmax, own: SoftmaxRoles, scores: Value
) -> Value:
    """The columns of softmax([S s]) without the last: scores S (n, m), sink s (1,) → (n, m).

    Without a sink, softmax(S).
    """
    sink = keys_of(at.parameters, HeadKeys).sink
    if sink is None:
        return compute(own, scores)
    if SINK not in at.recorded:
        at.recorded[SINK] = tape.given(SINK, sink, (AXIS,))
    joined, all_shares = WITH_SINK[own.shares]
    with_sink = tape.record(joined, AppendColumn(), scores, at.recorded[SINK])
    shares = compute(replace(own, shares=all_shares), with_sink)
    return tape.record(own.shares, DropColumn(), shares)


PART = Part(
    roles={
        roles.B_V: (SINK,),
        roles.MASKED: (SCORES_AND_SINK,),
        roles.EXP_SUM: (WEIGHTS_AND_SINK,),
        roles.WEIGHTS: (UNMASKED_AND_SINK,),
        roles.UNMASKED_EXP_SUM: (UNMASKED_WEIGHTS_AND_SINK,),
    },
    softmax=softmax_with_sink,
)
