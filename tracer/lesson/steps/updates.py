"""What is told of the update: how the weights are moved."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.operations import Copy
from tracer.decoder.roles import Derivation, Role, derived
from tracer.decoder.tape import Record
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import RoleText, Step, StepKind

PARAMETERS = tuple(role for role in roles.ROLES if role.parameter)

ALIKE = 1.1
"""Steps are of about the same size if the largest is at most so many times the smallest."""


def _velocity(record: Record) -> str:
    if isinstance(record.operation, Copy):
        return "The velocity; nothing was going on before:"
    return "The velocity: what was going on, and the new gradient:"


def _direction(record: Record) -> str:
    """How large the steps are: those of weights with a gradient may be alike."""
    sizes = abs(record.output.array)
    moved = sizes[sizes > 0]
    if not moved.size or moved.max() > ALIKE * moved.min():
        return "The step of each weight, before the learning rate:"
    which = "Each weight" if moved.size == sizes.size else "Each weight with a gradient"
    return f"{which} gets a step of about the same size:"


OF_UPDATES: dict[Derivation, RoleText] = {
    "decayed": RoleText(Symbol("g′"), "With the decay, which draws each weight to 0:"),
    "velocity": RoleText(Symbol("v"), _velocity),
    "first_moment": RoleText(Symbol("m"), "The running mean of the gradients:"),
    "squared": RoleText(Symbol("²"), "The gradients, squared:"),
    "second_moment": RoleText(Symbol("v"), "The running mean of their squares:"),
    "unbiased_first": RoleText(Symbol("m̂"), "Both began with 0, which is made up for:"),
    "unbiased_second": RoleText(Symbol("v̂")),
    "direction": RoleText(Symbol("d"), _direction),
    "new": RoleText(Symbol("W"), "The new weights:"),
}
"""The symbol of what an update needs, and a few words before its lines."""


def _nothing_to_shrink(step: Step, ctx: LessonContext) -> Sentence | None:
    """That the norm is small enough, if it is."""
    if step.last.output.role is not roles.GRADIENT_NORM:
        return None
    return ("It is no larger than it may be, so that nothing is shrunk.",)


def _of_each(derivation: Derivation, symbol: str, caption: str) -> dict[Role, RoleText]:
    """What is told of something that each parameter has."""
    return {derived(role, derivation): RoleText(Symbol(symbol), caption) for role in PARAMETERS}


CLIP_STEP = StepKind(
    "clip",
    "Clipping",
    "gradients that are too large are shrunk together",
    ("Where all gradients together are larger than they may be, all are shrunk alike.",),
    {
        **_of_each("squares", "Σ", "The squares of the gradients of each parameter, added up:"),
        roles.SQUARES: RoleText(Symbol("Σ", "squares"), "All of them together:"),
        roles.GRADIENT_NORM: RoleText(
            Symbol("norm"), "The norm, the root of all squares together:"
        ),
        roles.LARGEST_NORM: RoleText(Symbol("c"), "The largest that it may be:"),
        roles.SHRINK: RoleText(Symbol("f"), "What all gradients are multiplied with:"),
        **_of_each("clipped", "g", "The gradient, shrunk:"),
    },
    reasons=(
        (
            "The direction of the gradient stays, only its length is limited, so that a step "
            "cannot become large because of a single large gradient.",
        ),
    ),
    claim=_nothing_to_shrink,
    everywhere=True,
    only_with="decoder-trace train --clip 1",
)


def _update_goal(step: Step, ctx: LessonContext) -> Sentence:
    """Where the weights go, in the first step: decay draws them to 0, a gradient of 0 nowhere."""
    by = [record.output.role.derivation for record in step.records]
    stay = not step.last.inputs[1].array.all()
    if "decayed" in by:
        return ("Each weight is moved by its gradient and by the decay, which draws it to 0.",)
    which = "Each weight with a gradient other than 0" if stay else "Each weight"
    return (f"{which} is moved against its gradient.",)


UPDATE_STEP = StepKind(
    "update",
    "The update",
    "the weights are moved against their gradients",
    _update_goal,
    {
        derived(role, derivation): telling
        for role in PARAMETERS
        for derivation, telling in OF_UPDATES.items()
    },
    reasons=(
        (
            "The gradient describes the loss only near the weights as they are, therefore all is "
            "computed anew before the next step.",
        ),
    ),
    only_with="decoder-trace train",
)

KINDS = (CLIP_STEP, UPDATE_STEP)
