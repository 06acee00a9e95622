"""The text of the update: how the weights change."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.part import all_roles
from tracer.decoder.roles import Derivation, Role, derived
from tracer.decoder.tape import Record
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import RoleText, Step, StepKind

PARAMETERS = tuple(role for role in all_roles() if role.parameter and not role.frozen)

ALIKE = 1.1
"""Steps are of about the same size if the largest is at most this many times the smallest."""


def _direction(record: Record) -> str:
    """Return what the steps are, or that those of weights with a gradient are about equal."""
    sizes = abs(record.output.array)
    moved = sizes[sizes > 0]
    if not moved.size or moved.max() > ALIKE * moved.min():
        return "The step of each weight, before the learning rate is applied:"
    which = "Each weight" if moved.size == sizes.size else "Each weight with a gradient"
    return f"{which} gets a step of about the same size:"


OF_UPDATES: dict[Derivation, RoleText] = {
    "decayed": RoleText(Symbol("g′"), "With weight decay:"),
    "velocity": RoleText(
        Symbol("v"), "The velocity; the first step has no earlier velocity to add:"
    ),
    "first_moment": RoleText(Symbol("m"), "The running mean of the gradients:"),
    "squared": RoleText(Symbol("²"), "The squared gradients:"),
    "second_moment": RoleText(Symbol("v"), "The running mean of the squared gradients:"),
    "unbiased_first": RoleText(
        Symbol("m̂"), "Bias correction, because both running means start at 0:"
    ),
    "unbiased_second": RoleText(Symbol("v̂")),
    "direction": RoleText(Symbol("d"), _direction),
    "new": RoleText(Symbol("W"), "The new weights:"),
}
"""The symbol and the caption of each value that an update computes."""


def _nothing_to_shrink(step: Step, ctx: LessonContext) -> Sentence | None:
    """Return that the norm does not exceed the limit, if it does not."""
    if step.last.output.role is not roles.GRADIENT_NORM:
        return None
    return ("The norm does not exceed the limit, so the gradients stay as they are.",)


def _of_each(derivation: Derivation, symbol: str, caption: str) -> dict[Role, RoleText]:
    """Return the text of a value that each parameter has."""
    return {derived(role, derivation): RoleText(Symbol(symbol), caption) for role in PARAMETERS}


CLIP_STEP = StepKind(
    "clip",
    "Clipping",
    "gradients with a large norm are scaled down together",
    ("If the norm of all gradients exceeds the limit, all are scaled down by the same factor.",),
    {
        **_of_each("squares", "Σ", "The sum of the squared gradients of each parameter:"),
        roles.SQUARES: RoleText(Symbol("Σ", "squares"), "Their total:"),
        roles.GRADIENT_NORM: RoleText(
            Symbol("norm"), "The norm of all gradients is the square root of the total:"
        ),
        roles.LARGEST_NORM: RoleText(Symbol("c"), "The limit:"),
        roles.SHRINK: RoleText(Symbol("f"), "The factor for all gradients:"),
        **_of_each("clipped", "g", "The clipped gradient:"),
    },
    gradient=None,
    sign=None,
    reasons=(("Clipping keeps the direction of the gradient and limits its length.",),),
    claim=_nothing_to_shrink,
    everywhere=True,
)


def _update_goal(step: Step, ctx: LessonContext) -> Sentence:
    """Return where the weights go in the first step; a gradient of 0 moves none."""
    by = [record.output.role.derivation for record in step.records]
    stay = not step.last.inputs[1].array.all()
    if "decayed" in by:
        return ("Each weight is updated by its gradient and by weight decay.",)
    which = "Each weight with a gradient other than 0" if stay else "Each weight"
    return (f"{which} moves against its gradient.",)


UPDATE_STEP = StepKind(
    "update",
    "The update",
    "the weights move against their gradients",
    _update_goal,
    {
        derived(role, derivation): telling
        for role in PARAMETERS
        for derivation, telling in OF_UPDATES.items()
    },
    gradient=None,
    sign=None,
    reasons=(
        (
            "The gradient describes the loss only near the current weights; therefore each step of "
            "training computes it again.",
        ),
    ),
)

KINDS = (CLIP_STEP, UPDATE_STEP)
