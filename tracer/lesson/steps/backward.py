"""The backward pass: a step for each kind of forward step that a gradient passes through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from tracer.decoder.roles import OfGradient, OfTerms, Side
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.steps.gradients import gradient_at
from tracer.lesson.steps.kind import Gradient, StepKind

OF_GRADIENTS = frozenset((*get_args(Side), *get_args(OfGradient), *get_args(OfTerms)))
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
    )
