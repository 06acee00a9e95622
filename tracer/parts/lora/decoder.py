"""LoRA: weights that are frozen, plus a product of two small matrices (Hu et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracer.decoder import roles
from tracer.decoder.axes import Axes, Axis, numbered
from tracer.decoder.elementwise import Adapt
from tracer.decoder.operations import MatMul
from tracer.decoder.parameters import matrix_of
from tracer.decoder.part import Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.lora.scenario import Lora
from tracer.scenario.fields import shape_of


@dataclass(frozen=True)
class LoraRoles:
    """The roles of weights with LoRA; `adapted` is the sum, at the address of the weights."""

    frozen: Role
    a: Role
    b: Role
    low_rank: Role
    adapted: Role


LORA = {
    weights: LoraRoles(
        Role(f"{weights.name}.frozen", parameter=True, frozen=True),
        Role(f"{weights.name}.A", parameter=True),
        Role(f"{weights.name}.B", parameter=True),
        Role(f"{weights.name}.low_rank", RoundingRule.WORKING, of_parameters=True),
        Role(weights.name, of_parameters=True),
    )
    for weights in (
        *(roles.W_Q, roles.W_K, roles.W_V, roles.W_O),
        *(roles.W_1, roles.W_2, roles.W_3, roles.W_U),
    )
}
"""The roles of each weight matrix that can have LoRA."""


def adapted(tape: Tape, weights: Role, parameters: Any, axes: Axes) -> Value | None:
    """W + α / r · A B: W (d, k), A (d, r), B (r, k) → (d, k). The examples of a batch share it.

    W may be quantized (QLoRA, Dettmers et al. 2023). None for weights without LoRA.
    """
    if not isinstance(parameters, Lora):
        return None
    own = LORA[weights]
    if tape.place.example:
        return [tape.shared(role) for role in vars(own).values()][-1]
    rank = shape_of(parameters.A)[1]
    between = Axis("rank", numbered("r", 1, rank))
    frozen = matrix_of(tape, own.frozen, parameters.frozen, axes)
    # B, which is often 0 at first, comes first: A then has a gradient of 0, which teaches nothing.
    b = tape.given(own.b, parameters.B, (between, axes[1]))
    a = tape.given(own.a, parameters.A, (axes[0], between))
    low_rank = tape.record(own.low_rank, MatMul(), a, b)
    return tape.record(own.adapted, Adapt(parameters.alpha, rank), frozen, low_rank)


PART = Part(
    roles={roles.WORD: tuple(role for own in LORA.values() for role in vars(own).values())},
    weights=adapted,
)
