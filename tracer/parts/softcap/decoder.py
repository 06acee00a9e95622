"""Scores between two limits: c · tanh(s / c)."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import SoftCap
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.softcap.scenario import AttentionKeys
from tracer.scenario.part import keys_of

CAPPED = Role("capped", to_weights=True)


def capped(tape: Tape, scores: Value, at: HeadContext) -> Value:
    """c · tanh(S / c): (n, m) → (n, m); S without a cap."""
    cap = keys_of(at.attention.parameters, AttentionKeys).softcap
    return scores if cap is None else tape.record(CAPPED, SoftCap(cap), scores)


PART = Part(roles={roles.SCORES: (CAPPED,)}, scores=capped)
