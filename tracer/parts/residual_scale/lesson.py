"""The residual connection with a factor, and the factor in attributions."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.elementwise import Scale
from tracer.decoder.vector_parts import KEY, QUERY, ScoreSide
from tracer.formula.expression import Number, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.attribution import attribution_kind, texts_of
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.score_attribution import OF_OUTPUT, kind_of_side
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP, why_added
from tracer.lesson.wiring import summands
from tracer.parts.residual_scale.decoder import SCALED_OUTPUT

SMALLER: Sentence = ("A factor below 1 makes each change smaller.",)


def _factor(step: Step) -> Number | None:
    """The factor; None if the product is given."""
    found = (r.operation.a for r in step.records if isinstance(r.operation, Scale))
    return next(map(Number, found), None)


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    """Say what is added; in a parallel block it is not the sub-layer's input."""
    factor = _factor(step)
    assert factor
    multiplied = ("The sub-layer's output is multiplied by ", factor, ", a constant of the model")
    added, change = summands(step.last)
    read = "its input" if ctx.sources.get(change) is added else ctx.symbols[added.address]
    return (*multiplied, "; then ", read, " is added.")


def _sign(step: Step, ctx: LessonContext) -> Sign:
    factor = _factor(step)
    return ("× ", factor, ", +") if factor else ("+",)


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    factor = _factor(step)
    added = why_added(step, ctx)
    return (*added, SMALLER) if factor and abs(factor.value) < 1 else added


def _is_scaled(step: Step, ctx: LessonContext) -> bool:
    return any(record.output.role is SCALED_OUTPUT for record in step.records)


OF_PRODUCT = {
    SCALED_OUTPUT: RoleText(
        lambda naming: Symbol("s", naming.sub_layer), "The output, multiplied by the factor:"
    )
}
OF_SUM = replace(RESIDUAL_STEP.roles[roles.RESIDUAL], caption="The product is added:")

SCALED_RESIDUAL = replace(
    RESIDUAL_STEP,
    goal=_goal,
    roles={**OF_PRODUCT, roles.RESIDUAL: OF_SUM},
    sign=_sign,
    reasons=_reasons,
)


def _through_factor(step: Step, ctx: LessonContext) -> Sentence:
    """Say by which factor the direction is multiplied."""
    factor = _factor(step)
    assert factor
    return ("The sub-layer's output is multiplied by ", factor, ", and so is the direction.")


DIRECTION_STEP = attribution_kind(
    "direction_scaled",
    "Direction before the factor",
    "the direction of the sub-layer's output before its factor",
    _through_factor,
    texts_of("before", SCALED_OUTPUT),
)


def _of_parts(step: Step, ctx: LessonContext) -> Sentence:
    """Say by which factor the parts are multiplied."""
    factor = _factor(step)
    if factor is None:
        return OF_OUTPUT
    return ("The sub-layer's output is multiplied by ", factor, ", and so are its parts.")


def _parts(side: ScoreSide) -> StepKind:
    """Return the kind of step that multiplies the parts of a side."""
    texts = (texts_of(side.row, SCALED_OUTPUT), texts_of(side.part, SCALED_OUTPUT))
    return kind_of_side(side, "factor", "parts times the factor", _of_parts, *texts)


PART = LessonPart(
    kinds={
        "direction_norm_after": (DIRECTION_STEP,),
        "query_output_parts": (_parts(QUERY),),
        "key_output_parts": (_parts(KEY),),
    },
    texts={"residual": OF_PRODUCT},
    instead=((_is_scaled, SCALED_RESIDUAL),),
)
