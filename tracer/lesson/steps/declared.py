"""Every kind of step, declared once, by part of the model.

A role that the decoder records and no kind explains is refused here, when the program starts.
"""

from __future__ import annotations

from collections import Counter
from typing import get_args

from tracer.decoder import roles
from tracer.decoder.part import all_norms, all_roles
from tracer.decoder.roles import OfAttribution, Role
from tracer.decoder.vector_parts import KEY, QUERY
from tracer.formula.expression import Symbol
from tracer.lesson.steps import (
    attention,
    attribution,
    ffn,
    inputs,
    learned_merges,
    score_attribution,
    sub_layers,
    tokenization,
    training,
    updates,
    words,
)
from tracer.lesson.steps.backward import OF_GRADIENTS, backward_kinds
from tracer.lesson.steps.kind import StepKind, SymbolOf
from tracer.lesson.steps.part import lesson_parts, with_parts
from tracer.lesson.steps.query_key_value import head_symbol


def _as_named(role: Role) -> SymbolOf:
    """W_Q¹, b_1: the role's name, with the head's number."""
    base, _, below = role.name.partition("_")
    return head_symbol(base, below)


KINDS: tuple[StepKind, ...] = with_parts(
    (
        *learned_merges.KINDS,
        *tokenization.KINDS,
        *(*inputs.KINDS, *attention.KINDS, *sub_layers.KINDS),
        *(*ffn.KINDS, *words.KINDS),
        *training.KINDS,
    )
)
"""All kinds, in the order in which help and messages name them."""

OPERANDS: dict[Role, SymbolOf] = {
    **{role: _as_named(role) for role in all_roles() if role.parameter},
    **{norm.gain: Symbol("γ") for norm in all_norms()},
    **{norm.shift: Symbol("β") for norm in all_norms()},
    roles.W_U: Symbol("W", "U"),
    roles.B_U: Symbol("b", "U"),
    roles.MASK: Symbol("M"),
    roles.SQUARED_TARGET: training.T,
    roles.BINARY_TARGET: training.T,
    roles.EMBEDDINGS: Symbol("W", "E"),
    roles.POSITIONS: Symbol("W", "P"),
    **{role: symbol for part in lesson_parts() for role, symbol in part.operands.items()},
}
"""The symbols of what belongs to the step that uses it: parameters, the mask, targets."""

BACKWARD = backward_kinds(KINDS)
"""The kind of backward step for each kind of forward step."""

FORWARD: dict[StepKind, StepKind] = {
    **{back: forward for forward, back in reversed(BACKWARD.items())},
    **{back: kind for part in lesson_parts() for back, kind in part.backward.items()},
}
"""The kind of forward step for each kind of backward step, of several the first."""

ATTRIBUTION_KINDS: tuple[StepKind, ...] = with_parts((*attribution.KINDS, *score_attribution.KINDS))
"""The kinds of an attribution, of a logit or of a score."""

AFTER_THE_PASS: tuple[StepKind, ...] = (*FORWARD, *updates.KINDS, *ATTRIBUTION_KINDS)
"""The kinds of the backward pass, of the updates and of an attribution."""

KIND_OF: dict[Role, StepKind] = {
    role: kind for kind in (*KINDS, *AFTER_THE_PASS) for role in kind.roles
}

OF_ATTRIBUTIONS = {each for several in get_args(OfAttribution) for each in get_args(several)}

_FORWARD_OF: dict[Role, StepKind] = {
    role: kind
    for kind in KINDS
    for role in (*kind.roles, *(kind.gradient.learned if kind.gradient else ()))
}
"""The kind of forward step of each value, and of each parameter that has a gradient."""


def kind_of(role: Role) -> StepKind:
    """The kind of step that explains a role; a KeyError if none does.

    What is derived from a value in the backward pass, or in an attribution, belongs to a step that
    goes with the value's own, unless another kind explains it.
    """
    if role in KIND_OF or role.of is None:
        return KIND_OF[role]
    forward = _FORWARD_OF[role.of]
    for side in (QUERY, KEY):
        if role.derivation in (side.row, side.part, side.parts, side.placed):
            return score_attribution.carried(side, forward)
    if role.derivation in OF_GRADIENTS:
        return BACKWARD[forward]
    if role.derivation in ("row", "part", "terms"):
        return attribution.VECTOR_STEP
    if role.derivation in OF_ATTRIBUTIONS:
        return attribution.direction_at(forward)
    return KIND_OF[role]


def symbol_of(role: Role) -> SymbolOf:
    """The symbol of a role."""
    return OPERANDS[role] if role in OPERANDS else KIND_OF[role].roles[role].symbol


def unexplained_roles() -> list[str]:
    """The roles that no step explains, or several: parameters are operands."""
    kinds = (*KINDS, *AFTER_THE_PASS)
    explained = Counter([*OPERANDS, *(role for kind in kinds for role in kind.roles)])
    misplaced = [role for role in all_roles() if role.parameter and role not in OPERANDS]
    return [r.name for r in all_roles() if explained[r] != 1 or r in misplaced]


def unknown_kinds() -> list[str]:
    """The names of kinds that parts add steps, texts or words to, and that do not exist."""
    known = {kind.name for kind in (*KINDS, *ATTRIBUTION_KINDS)}
    asked = [name for part in lesson_parts() for name in (*part.kinds, *part.texts)]
    asked += [kind.name for part in lesson_parts() for _, kind in part.instead]
    return [name for name in asked if name not in known]


if _unknown := unknown_kinds():
    raise AssertionError(f"no such kind of step: {', '.join(_unknown)}")
if _gaps := unexplained_roles():
    raise AssertionError(f"not explained by exactly one step: {', '.join(_gaps)}")
