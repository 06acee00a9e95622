"""The backward pass: a step for each kind of forward step that a gradient passes through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from tracer.decoder import roles
from tracer.decoder.operations import AccumulateGradients
from tracer.decoder.roles import OfGradient, Side, derived
from tracer.formula.expression import Partial, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps import query_key_norm
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.steps.gradients import gradient_at
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind

OF_GRADIENTS = frozenset((*get_args(Side), *get_args(OfGradient)))
"""What is derived from a value in the backward pass: it belongs to the value's backward step."""


def backward_kinds(forward: Iterable[StepKind]) -> dict[StepKind, StepKind]:
    """Return the kind of backward step for each kind of forward step that has a gradient."""
    found: dict[StepKind, StepKind] = {}
    by_gradient: dict[Gradient, StepKind] = {}
    for kind in forward:
        if kind.gradient:
            if kind.gradient not in by_gradient:
                by_gradient[kind.gradient] = _backward_kind(kind, kind.gradient)
            found[kind] = by_gradient[kind.gradient]
    return found


def _backward_kind(forward: StepKind, gradient: Gradient) -> StepKind:
    goal = gradient.goal
    return type(forward)(
        f"{forward.name}_back",
        f"Gradient {gradient.title}",
        f"the gradient of the loss at: {forward.summary}",
        gradient_at(goal) if isinstance(goal, str) else goal,
        gradient.own,
        gradient=None,
        sign=None,
        reasons=gradient.reasons,
        claim=effect_of_raising,
        only_with="decoder-trace train",
    )


def _back_to_scale(norm: roles.NormRoles, kind: StepKind, whose: str) -> StepKind:
    """Return the kind of step that adds up the gradients of γ and β over the heads."""
    return type(kind)(
        f"{kind.name}_scale_back",
        f"Gradient at the scale of the {whose}",
        f"the gradient of the loss at γ and β of the {whose}",
        _at_the_scale,
        {derived(role, "gradient"): RoleText(Symbol("∂")) for role in (norm.gain, norm.shift)},
        gradient=None,
        sign=None,
        claim=effect_of_raising,
        only_with="decoder-trace train",
    )


def _at_the_scale(step: Step, ctx: LessonContext) -> Sentence:
    learned = " and ".join(
        name
        for name in ("γ", "β")
        if any(ctx.symbols[r.output.address] == Partial(Symbol(name)) for r in step.records)
    )
    of_heads = {value.place.head for record in step.records for value in record.inputs}
    several = isinstance(step.last.operation, AccumulateGradients) and len(of_heads) > 1
    added = ": add up the contributions of all heads" * several
    return (f"Compute the gradient at {learned}{added}.",)


SCALES: dict[StepKind, StepKind] = {
    _back_to_scale(roles.QUERY_NORM, query_key_norm.QUERY_NORM_STEP, "queries"): (
        query_key_norm.QUERY_NORM_STEP
    ),
    _back_to_scale(roles.KEY_NORM, query_key_norm.KEY_NORM_STEP, "keys"): (
        query_key_norm.KEY_NORM_STEP
    ),
}
"""Steps of the backward pass without a forward step of their own; each goes with one."""
