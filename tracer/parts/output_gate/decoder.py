"""A head's output, multiplied by a gate: O ⊙ σ(x W_G + b_G)."""

from __future__ import annotations

from decimal import Decimal

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.parameters import bias
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.output_gate.scenario import AttentionKeys, HeadKeys
from tracer.scenario.part import keys_of

W_G, B_G = Role("W_G", parameter=True), Role("b_G", parameter=True)
LOGITS = Role("output_gate.logits")
GATE = Role("output_gate")
GATED = Role("gated_output")


def gated(tape: Tape, at: HeadContext, x: Value | Axis, output: Value) -> Value:
    """O ⊙ f(x W_G + b_G): x (n, d_model), O (n, d_v) → (n, d_v); O without W_G."""
    keys = keys_of(at.parameters, HeadKeys)
    if keys.W_G is None:
        return output
    assert isinstance(x, Value)
    w = tape.given(W_G, keys.W_G, (x.axes[1], output.axes[1]))
    logits = tape.record(LOGITS, op.MatMul(), x, w, *bias(tape, B_G, keys.b_G, w))
    is_silu = keys_of(at.attention.parameters, AttentionKeys).output_gate == "silu"
    gate = tape.record(GATE, el.ScaledSilu(Decimal(1)) if is_silu else el.Sigmoid(), logits)
    return tape.record(GATED, el.Multiply(), output, gate)


PART = Part(
    roles={roles.HEAD_OUTPUT: (W_G, B_G, LOGITS, GATE, GATED)},
    head_output=gated,
    head_outputs=(GATED,),
)
