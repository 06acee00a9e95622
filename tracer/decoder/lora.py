"""LoRA: weights that are frozen, plus a product of two small matrices (Hu et al. 2021)."""

from __future__ import annotations

from tracer.decoder.axes import Axes, Axis, numbered
from tracer.decoder.elementwise import Adapt
from tracer.decoder.operations import MatMul
from tracer.decoder.roles import LoraRoles as LoraRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import shape_of
from tracer.scenario.layers import Lora


def adapted(tape: Tape, roles: LoraRoles, parameters: Lora, axes: Axes) -> Value:
    """W + α / r · A B: W (d, k), A (d, r), B (r, k) → (d, k). The examples of a batch share it."""
    if tape.place.example:
        parts = (roles.frozen, roles.a, roles.b, roles.low_rank, roles.adapted)
        return [tape.shared(role) for role in parts][-1]
    rank = shape_of(parameters.A)[1]
    between = Axis("rank", numbered("r", 1, rank))
    frozen = tape.given(roles.frozen, parameters.frozen, axes)
    # B, which is often 0 at first, comes first: A then has a gradient of 0, which teaches nothing.
    b = tape.given(roles.b, parameters.B, (between, axes[1]))
    a = tape.given(roles.a, parameters.A, (axes[0], between))
    low_rank = tape.record(roles.low_rank, MatMul(), a, b)
    return tape.record(roles.adapted, Adapt(parameters.alpha, rank), frozen, low_rank)
