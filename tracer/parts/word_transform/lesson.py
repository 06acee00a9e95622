"""The steps of the transform before the unembedding: hidden units, activation and norm."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.elementwise import Activate
from tracer.decoder.roles import derived
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext, counted
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps import sub_layers
from tracer.lesson.steps.attribution import (
    attribution_kind,
    direction_through,
    largest_term,
    texts_of,
)
from tracer.lesson.steps.ffn import OF_SLOPES, activation_claim, through_activation
from tracer.lesson.steps.gradients import of_weights
from tracer.lesson.steps.illustrations import activation
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind, linear_sign
from tracer.lesson.steps.part import LessonPart
from tracer.parts.word_transform.decoder import ACTIVATION, B_M, HIDDEN, NORM, SLOPES, W_M

HIDDEN_UNITS, ACTIVE, RESULT = Symbol("h", "M"), Symbol("a", "M"), Symbol("y", "M")


def _function(step: Step) -> str:
    operation = step.last.operation
    assert isinstance(operation, Activate)
    return operation.function


def _hidden_goal(step: Step, ctx: LessonContext) -> Sentence:
    y, w, *_ = (ctx.symbols[value.address] for value in step.last.inputs)
    units = counted(step.last.output.shape[1], "hidden unit")
    return (y, " is transformed before the logits are computed. ", w, " maps it to ", *units, ".")


def _why_transformed(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the transform is for where the embeddings are also the unembedding."""
    if not ctx.trace.scenario.is_tied:
        return ()
    return (
        (
            *("The columns of ", Symbol("W", "U"), " are the embeddings. With the transform, the "),
            "model can compare another vector with them than its output.",
        ),
    )


def _activation_sign(step: Step, ctx: LessonContext) -> Sign:
    return (ACTIVATIONS[_function(step)].title,)


HIDDEN_STEP = StepKind(
    "transform",
    "Transform: hidden units",
    "the hidden units between the output and the logits",
    _hidden_goal,
    {HIDDEN: RoleText(HIDDEN_UNITS)},
    gradient=Gradient(
        *("at the hidden units of the transform", "each hidden unit of the transform", (W_M, B_M)),
        reasons=of_weights,
    ),
    sign=linear_sign,
    short="transform",
    reasons=_why_transformed,
)

ACTIVATION_STEP = StepKind(
    "transform_activation",
    "Transform: activation",
    "the hidden units of the transform after the activation",
    lambda step, ctx: ACTIVATIONS[_function(step)].goal,
    {ACTIVATION: RoleText(ACTIVE)},
    gradient=Gradient(
        "at the activations of the transform",
        through_activation,
        own={SLOPES.smooth: OF_SLOPES, SLOPES.of_relu: OF_SLOPES},
    ),
    sign=_activation_sign,
    short="activation",
    groups=("transform",),
    claim=activation_claim,
    illustrate=activation,
)

NORM_STEP = replace(
    sub_layers.NORM_STEP,
    name="transform_norm",
    title="Transform: LayerNorm",
    summary="the transformed output, centered and scaled",
    gradient=sub_layers.through_norm(" of the transform", NORM, NORM.gain, NORM.shift),
    roles=sub_layers.layer_norm_roles(NORM, RESULT),
    short="LayerNorm",
    groups=("norm", "transform"),
)

RMS_NORM_STEP = replace(
    sub_layers.RMS_NORM_STEP,
    name="transform_rms_norm",
    title="Transform: RMSNorm",
    summary="the transformed output, scaled",
    gradient=NORM_STEP.gradient,
    roles=sub_layers.rms_norm_roles(NORM, RESULT),
    short="RMSNorm",
    groups=("norm", "transform_norm", "transform"),
)

DIRECTION_STEP = direction_through(
    "direction_transform", "Direction before the norm of the transform", NORM
)

PART_STEP = attribution_kind(
    "transform_part",
    "Part of the transform",
    "what the activations of the transform add to the result",
    (
        "The activation of the transform is not linear, so the direction ends there. The part is "
        "the dot product of the token's activations and the direction. An entry of the output ",
        *(Symbol("y"), " can be attributed further."),
    ),
    texts_of("row", ACTIVATION),
    texts_of("terms", ACTIVATION, caption="Each activation times its direction:"),
    texts_of("part", ACTIVATION, caption="The part of the transform:"),
    inner=False,
    claim=largest_term,
)

PART = LessonPart(
    kinds={
        "output": (HIDDEN_STEP, ACTIVATION_STEP, NORM_STEP, RMS_NORM_STEP),
        "direction": (DIRECTION_STEP, PART_STEP),
    },
    texts={
        "direction": {
            derived(role, "logit_direction"): RoleText(Symbol("u"))
            for role in (ACTIVATION, NORM.layer_norm, NORM.rms_norm)
        }
    },
    operands={W_M: Symbol("W", "M"), B_M: Symbol("b", "M")},
    in_code={
        "unembedding.transform.W_M": "W_M",
        "unembedding.transform.b_M": "b_M",
        "unembedding.transform.hidden": "h_M",
        "unembedding.transform.activation": "a_M",
        "unembedding.transform.norm": "y_M",
        "unembedding.transform.norm.gain": "gamma_M",
        "unembedding.transform.norm.shift": "beta_M",
    },
)
