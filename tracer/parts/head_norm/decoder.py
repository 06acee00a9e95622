"""LayerNorm(O) or RMSNorm(O) of each head's output O; its γ and β are recorded once."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import norm_roles
from tracer.decoder.sub_layers import NormParameters, learned, normalize
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.head_norm.scenario import AttentionKeys
from tracer.scenario.part import keys_of

NORM = norm_roles("output_norm")


def normalized(tape: Tape, at: HeadContext, x: Value | Axis, output: Value) -> Value:
    """The output of a head, normalized: (n, d_v) → (n, d_v); the same without a norm."""
    norm = keys_of(at.attention.parameters, AttentionKeys).output_norm
    if norm is None:
        return output
    recorded = at.attention.recorded
    if at.number == 1:
        with tape.within(replace(tape.place, head=None)):
            own = learned(tape, norm, NORM, output)
        recorded |= {value.role: value for value in (*own.gain, *own.shift)}
    gain, shift = (
        (recorded[role],) if role in recorded else () for role in (NORM.gain, NORM.shift)
    )
    return normalize(tape, output, norm, NormParameters(gain, shift), NORM)


PART = Part(
    roles={roles.HEAD_OUTPUT: tuple(vars(NORM).values())},
    norms=(NORM,),
    head_output=normalized,
    head_outputs=(NORM.layer_norm, NORM.rms_norm),
)
