"""Every kind of step, declared once, by part of the model.

A role that the decoder records and no kind tells would be a gap on the page: it is refused here.
"""

from __future__ import annotations

from collections import Counter

from tracer.decoder import roles
from tracer.decoder.roles import ROLES, Role, derived
from tracer.formula.expression import Symbol
from tracer.lesson.steps import (
    attention,
    attribution,
    backward,
    experts,
    ffn,
    inputs,
    learned_merges,
    lora,
    score_attribution,
    sub_layers,
    tokenization,
    training,
    updates,
    words,
)
from tracer.lesson.steps.alibi import DISTANCE
from tracer.lesson.steps.kind import Naming, RoleText, Step, StepKind, SymbolOf
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.sinks import SINK


def _as_named(role: Role) -> SymbolOf:
    """W_Q¹, b_1: the role's name, with the head's number."""
    base, _, below = role.name.partition("_")
    return head_symbol(base, below)


KINDS: tuple[StepKind, ...] = (
    *learned_merges.KINDS,
    *tokenization.KINDS,
    *(*inputs.KINDS, *lora.KINDS, *attention.KINDS, *sub_layers.KINDS, *experts.KINDS),
    *(*ffn.KINDS, *words.KINDS),
    *training.KINDS,
)
"""All kinds, in the order in which help and messages name them."""

OPERANDS: dict[Role, SymbolOf] = {
    **{role: _as_named(role) for role in ROLES if role.parameter},
    **lora.OPERANDS,
    roles.ROUTER: Symbol("W", "r"),
    **{norm.gain: Symbol("γ") for norm in roles.NORMS},
    **{norm.shift: Symbol("β") for norm in roles.NORMS},
    roles.SINK: SINK,
    roles.W_U: Symbol("W", "U"),
    roles.B_U: Symbol("b", "U"),
    roles.MASK: Symbol("M"),
    roles.SQUARED_TARGET: training.T,
    roles.BINARY_TARGET: training.T,
    roles.DISTANCE: DISTANCE,
    roles.EMBEDDINGS: Symbol("W", "E"),
    roles.POSITIONS: Symbol("W", "P"),
}
"""The symbols of what belongs to the step that uses it: parameters, the mask, targets."""

AFTER_THE_PASS: tuple[StepKind, ...] = (
    *(*backward.FORWARD, *updates.KINDS),
    *(*attribution.KINDS, *score_attribution.KINDS),
)
"""The kinds of the backward pass, of the updates and of an attribution."""

KIND_OF: dict[Role, StepKind] = {
    role: kind for kind in (*KINDS, *AFTER_THE_PASS) for role in kind.roles
}


def symbol_of(role: Role) -> SymbolOf:
    """The symbol of a role."""
    return OPERANDS[role] if role in OPERANDS else KIND_OF[role].roles[role].symbol


NO_GRADIENT = (
    "learned_merges",
    "tokenization",
    "rotary",
    "unmasked",
    "block",
    "blocks",
    "probabilities",
    "prediction",
    "sampling",
    "loss",
)
"""Steps that no gradient passes through, or that the loss takes back as one."""


def unexplained_roles() -> list[str]:
    """The roles that no step explains, or several: parameters are operands; gradients count too."""
    kinds = (*KINDS, *AFTER_THE_PASS)
    explained = Counter([*OPERANDS, *(role for kind in kinds for role in kind.roles)])
    misplaced = [role for role in ROLES if role.parameter and role not in OPERANDS]
    gradients = [
        f"the gradient of {role.name}"
        for kind in KINDS
        for role in kind.roles
        if kind.name not in NO_GRADIENT
        and role not in backward.WITHOUT
        and derived(role, "gradient") not in KIND_OF
    ]
    return [r.name for r in ROLES if explained[r] != 1 or r in misplaced] + gradients


if _gaps := unexplained_roles():
    raise AssertionError(f"not explained by exactly one step: {', '.join(_gaps)}")

__all__ = ["KINDS", "KIND_OF", "OPERANDS", "Naming", "RoleText", "Step", "StepKind", "symbol_of"]
