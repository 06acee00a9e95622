"""SwiGLU: two projections of a vector, of which one is the gate of the other (Shazeer 2020)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from tracer.decoder import elementwise as el, roles
from tracer.decoder.part import Part
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.swiglu.scenario import SWIGLU, NetworkKeys
from tracer.scenario.networks import Network
from tracer.scenario.part import keys_of

CLAMPED_HIDDEN = Role("hidden.clamped")
CLAMPED_UP = Role("up.clamped")


def swiglu(
    tape: Tape, parameters: Network, hidden: Value, project_up: Callable[[], Value]
) -> Value | None:
    """g σ(α g) ⊙ (u + c): g and u (n, d_ff) → (n, d_ff). None with another activation.

    With a limit L, min(L, g) takes the place of g, and max(-L, min(L, u)) that of u (gpt-oss).
    """
    if parameters.activation != SWIGLU:
        return None
    keys = keys_of(parameters, NetworkKeys)
    scale, limit, offset = keys.gate_scale or Decimal(1), keys.gate_limit, keys.offset
    if limit is not None:
        hidden = tape.record(CLAMPED_HIDDEN, el.AtMost(limit), hidden)
    gate = tape.record(roles.ACTIVATION, el.ScaledSilu(scale), hidden)
    up = project_up()
    if limit is not None:
        up = tape.record(CLAMPED_UP, el.Clamp(limit), up)
    multiply = el.MultiplyShifted(offset) if offset else el.Multiply()
    return tape.record(roles.GATED, multiply, gate, up)


PART = Part(
    roles={roles.HIDDEN: (CLAMPED_HIDDEN,), roles.UP: (CLAMPED_UP,)},
    gate=swiglu,
)
