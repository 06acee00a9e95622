"""What is told of the update: how the weights are moved."""

from __future__ import annotations

from tracer.decoder.roles import (
    GRADIENT_NORM,
    LARGEST_NORM,
    ROLES,
    SHRINK,
    SQUARES,
    Derivation,
    derived,
)
from tracer.formula.expression import Symbol
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told

PARAMETERS = tuple(role for role in ROLES if role.parameter)

OF_UPDATES: dict[Derivation, Telling] = {
    "decayed": Telling(Symbol("g′"), "With the decay, which draws each weight to 0:"),
    "velocity": Telling(Symbol("v"), "The velocity: what was going on, and the new gradient:"),
    "first_moment": Telling(Symbol("m"), "The running mean of the gradients:"),
    "squared": Telling(Symbol("²"), "The gradients, squared:"),
    "second_moment": Telling(Symbol("v"), "The running mean of their squares:"),
    "unbiased_first": Telling(Symbol("m̂"), "Both began with 0, which is made up for:"),
    "unbiased_second": Telling(Symbol("v̂")),
    "direction": Telling(Symbol("d"), "Each weight gets a step of about the same size:"),
    "new": Telling(Symbol("W"), "The new weights:"),
}
"""The symbol of what an update needs, and a few words before its lines."""


def _nothing_to_shrink(step: Step, told: Told) -> Sentence | None:
    """That the norm is small enough, if it is."""
    if step.last.output.role is not GRADIENT_NORM:
        return None
    return ("It is no larger than it may be, so that nothing is shrunk.",)


CLIP_STEP = Kind(
    "clip",
    "Clipping",
    "gradients that are too large are shrunk together",
    ("Where all gradients together are larger than they may be, all are shrunk alike.",),
    {
        **{
            derived(role, "squares"): Telling(
                Symbol("Σ"), "The squares of the gradients of each parameter, added up:"
            )
            for role in PARAMETERS
        },
        SQUARES: Telling(Symbol("Σ", "squares"), "All of them together:"),
        GRADIENT_NORM: Telling(Symbol("norm"), "The norm, the root of all squares together:"),
        LARGEST_NORM: Telling(Symbol("c"), "The largest that it may be:"),
        SHRINK: Telling(Symbol("f"), "What all gradients are multiplied with:"),
        **{
            derived(role, "clipped"): Telling(Symbol("g"), "The gradient, shrunk:")
            for role in PARAMETERS
        },
    },
    sign=(),
    reasons=(
        (
            "The direction stays, only the length is cut: one batch that is far off cannot throw "
            "the weights far away.",
        ),
    ),
    claim=_nothing_to_shrink,
    everywhere=True,
    only_with="decoder-trace train --clip 1",
)

UPDATE_STEP = Kind(
    "update",
    "The update",
    "the weights are moved against their gradients",
    ("Each weight is moved a little against its gradient.",),
    {
        derived(role, derivation): telling
        for role in PARAMETERS
        for derivation, telling in OF_UPDATES.items()
    },
    sign=(),
    reasons=(
        (
            "The gradient says in which direction the loss grows, and only for a small step how "
            "fast: so the step is small, against it, and all is computed anew before the next.",
        ),
    ),
    only_with="decoder-trace train",
)

KINDS = (CLIP_STEP, UPDATE_STEP)
