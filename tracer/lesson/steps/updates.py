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
from tracer.lesson.expression import Symbol
from tracer.lesson.steps.kind import Kind, Telling

GRADIENT = Symbol("g")

OF_UPDATES: dict[Derivation, Telling] = {
    "squares": Telling(Symbol("s"), "The squares of all its gradients, added up:"),
    "clipped": Telling(GRADIENT, "The gradient, shrunk:"),
    "decayed": Telling(GRADIENT, "With the decay, which draws each weight to 0:"),
    "velocity": Telling(Symbol("v"), "The velocity: what was going on, and the new gradient:"),
    "first_moment": Telling(Symbol("m"), "The running mean of the gradients:"),
    "squared": Telling(Symbol("g²"), "The gradients, squared:"),
    "second_moment": Telling(Symbol("v"), "The running mean of their squares:"),
    "unbiased_first": Telling(Symbol("m̂"), "Both began with 0, which is made up for:"),
    "unbiased_second": Telling(Symbol("v̂")),
    "direction": Telling(Symbol("d"), "Each weight gets a step of about the same size:"),
    "new": Telling(Symbol("W"), "The new weights:"),
}
"""The symbol of what an update needs, and a few words before its lines."""

CLIP_STEP = Kind(
    "clip",
    "Clipping",
    "gradients that are too large are shrunk together",
    ("Where all gradients together are larger than they may be, all are shrunk alike.",),
    {
        SQUARES: Telling(Symbol("Σ", "squares")),
        GRADIENT_NORM: Telling(Symbol("norm"), "The norm, the root of all squares together:"),
        LARGEST_NORM: Telling(Symbol("c"), "The largest that it may be:"),
        SHRINK: Telling(Symbol("f"), "What all gradients are multiplied with:"),
    },
    sign=(),
    reasons=(
        (
            "The direction stays, only the length is cut: one batch that is far off cannot throw "
            "the weights far away.",
        ),
    ),
    only_with="decoder-trace train --clip 1",
)

UPDATE_STEP = Kind(
    "update",
    "The update",
    "the weights are moved against their gradients",
    ("Each weight is moved a little against its gradient.",),
    {
        derived(role, derivation): telling
        for role in ROLES
        if role.parameter
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
