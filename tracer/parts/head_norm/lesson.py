"""The steps of the norm of a head's output."""

from __future__ import annotations

from tracer.decoder.elementwise import Normalize
from tracer.decoder.operations import AccumulateGradients
from tracer.decoder.roles import derived
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps import sub_layers
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.steps.kind import InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.head_norm.decoder import NORM

RESULT = head_symbol("O", "N")


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    operation = sub_layers.division_of(step).operation
    learned = isinstance(operation, Normalize) and (operation.gain or operation.shift)
    several = learned and ctx.heads_of(step.place) > 1
    shared: Sentence = ("All heads use the same learned numbers here.",)
    return (*([shared] if several else []), *sub_layers.why_epsilon(step))


def _at_the_scale(step: Step, ctx: LessonContext) -> Sentence:
    learned = {record.output.role.of for record in step.records}
    own = {"γ": NORM.gain, "β": NORM.shift}
    names = " and ".join(name for name, role in own.items() if role in learned)
    of_heads = {value.place.head for record in step.records for value in record.inputs}
    several = isinstance(step.last.operation, AccumulateGradients) and len(of_heads) > 1
    added = ": add up the contributions of all heads" * several
    return (f"Compute the gradient at {names}{added}.",)


NORM_STEP = InnerKind(
    "output_norm",
    "Output, normalized",
    "the head's output for each token, normalized",
    lambda step, ctx: sub_layers.normalizes(step, "output"),
    {**sub_layers.layer_norm_roles(NORM, RESULT), **sub_layers.rms_norm_roles(NORM, RESULT)},
    gradient=sub_layers.through_norm(" of the head's output", NORM),
    sign=("norm ", Symbol("O")),
    short="output norm",
    reasons=_reasons,
    groups=("norm",),
)
SCALE_STEP = InnerKind(
    "output_norm_scale_back",
    "Gradient at the scale of the outputs",
    "the gradient of the loss at γ and β of the outputs",
    _at_the_scale,
    {derived(each, "gradient"): RoleText(Symbol("∂")) for each in (NORM.gain, NORM.shift)},
    gradient=None,
    sign=None,
    claim=effect_of_raising,
)

PART = LessonPart(kinds={"weighted_sum": (NORM_STEP,)}, backward={SCALE_STEP: NORM_STEP})
