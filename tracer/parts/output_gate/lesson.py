"""The steps of the gate of a head's output."""

from __future__ import annotations

from tracer.decoder.elementwise import Sigmoid
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.gradients import gradient_at, of_weights
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.output_gate import decoder

W_G, B_G = head_symbol("W", "G"), head_symbol("b", "G")


def _gate_goal(step: Step, ctx: LessonContext) -> Sentence:
    function = "the sigmoid" if isinstance(step.last.operation, Sigmoid) else "SiLU"
    read = ctx.symbols[step.records[0].inputs[0].address]
    return (
        *(f"Each column of the head's output has a gate: {function} of a projection of ", read),
        ".",
    )


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    if not isinstance(step.last.operation, Sigmoid):
        return ()
    return (("A sigmoid is between 0 and 1: each gate keeps a share of its number.",),)


GATE_STEP = InnerKind(
    "output_gate",
    "Gate of the output",
    "how much of each column of the output is kept",
    _gate_goal,
    {
        decoder.LOGITS: RoleText(head_symbol("g"), "The projection:"),
        decoder.GATE: RoleText(head_symbol("G"), "The output's gate:"),
    },
    gradient=Gradient(
        "at the gate of the output",
        gradient_at("each gate of the output"),
        (decoder.W_G, decoder.B_G),
        reasons=of_weights,
    ),
    sign=(Symbol("G"),),
    short="output gate",
    reasons=_reasons,
)

GATED_STEP = InnerKind(
    "gated_output",
    "Gated output",
    "the head's output, multiplied by its gate",
    ("The head's output is multiplied by its gate, element by element.",),
    {decoder.GATED: RoleText(head_symbol("O", "G"))},
    gradient=Gradient("at the gated output", "the gated output of the head"),
    sign=(Symbol("O"), " ⊙ ", Symbol("G")),
)

PART = LessonPart(
    kinds={"weighted_sum": (GATE_STEP, GATED_STEP)},
    operands={decoder.W_G: W_G, decoder.B_G: B_G},
)
