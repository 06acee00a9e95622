"""The output of a sub-layer, multiplied by a constant before its input is added."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import Scale
from tracer.decoder.part import Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.residual_scale.scenario import SubLayerKeys
from tracer.scenario.networks import SubLayer
from tracer.scenario.part import keys_of

SCALED_OUTPUT = Role("residual.scaled", RoundingRule.WORKING)


def scaled(tape: Tape, parameters: SubLayer, change: Value) -> Value:
    """s · f: (n, d_model) → (n, d_model); f without a factor."""
    factor = keys_of(parameters, SubLayerKeys).residual_scale
    return change if factor is None else tape.record(SCALED_OUTPUT, Scale(factor), change)


PART = Part(roles={roles.NORM_AFTER.standardized: (SCALED_OUTPUT,)}, added=scaled)
