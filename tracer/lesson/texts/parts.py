"""The parts of a calculation, and all its steps, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import Copy, DropColumn
from tracer.decoder.part import all_norms
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.working.formulas import formula

PARTS: doc.Sentence = ("The parts, in order:",)
STEPS: doc.Sentence = (
    "All steps in one table. Steps of one kind share a row, with the first one's formula.",
)

OF_SUB_LAYERS: dict[roles.SubLayer, str] = {
    "attention": "values are added up, weighted by attention",
    "cross_attention": "tokens gather information from the encoder",
    "ffn": "each token is transformed separately",
}
"""What a sub-layer does."""

FROM_EACH_OTHER = "tokens gather information from each other"

FUNCTIONS: dict[roles.Role, ex.OfModels] = {
    roles.WEIGHTS: "softmax",
    roles.PROBABILITIES: "softmax",
    **{norm.layer_norm: "LayerNorm" for norm in all_norms()},
    **{norm.rms_norm: "RMSNorm" for norm in all_norms()},
}
"""Steps of several operations that have one name."""

HEADER = ("steps", "result", "formula", "step")
NONE = "–"
MOST_NUMBERS = 4
"""So many numbers of like steps are listed."""


def parts(ctx: LessonContext, steps: Sequence[Step]) -> tuple[doc.Block, ...]:
    """A table of the parts of the calculation: their steps, and what each does."""
    rows = []
    for name, together in groupby(steps, lambda s: sentences.part(s, ctx.at(s.place))):
        of_part = list(together)
        first, last = of_part[0], of_part[-1]
        numbers = str(first.number) if last is first else f"{first.number} to {last.number}"
        rows.append((name, numbers, what_part_does(of_part, ctx)))
    return (doc.Paragraph(PARTS), doc.Table.of(("part", "steps", "what it does"), rows))


def what_part_does(steps: Sequence[Step], ctx: LessonContext) -> str:
    """What a part does: its sub-layer and what is around it, or what its steps compute."""
    place = steps[0].place
    if place.sub_layer not in OF_SUB_LAYERS:
        return "; ".join(step.kind.summary for step in steps)
    what = _gathers(place, ctx.at(place)) if place.sub_layer == "attention" else None
    what = what or OF_SUB_LAYERS[place.sub_layer]
    around = dict.fromkeys(
        _inside_sentence(step.kind.title) for step in steps if not step.kind.inner
    )
    return f"{what}; with {' and '.join(around)}" if around else what


def _gathers(place: roles.Place, ctx: LessonContext) -> str:
    """From which tokens self-attention gathers information, as far as the mask says it."""
    mask = ctx.mask_at(place)
    if not ctx.trace.scenario.has_numbers and len(ctx.names) > 1:
        return FROM_EACH_OTHER + ", as far as the mask allows" * (mask is not None)
    if not (seen := ctx.visible_tokens_at(place)):
        return ""
    sees_itself = mask is None or np.isfinite(np.diagonal(mask.array)).all()
    return f"each token gathers information from {'itself and ' * bool(sees_itself)}{seen}"


def _inside_sentence(title: str) -> str:
    """The title of a residual connection or a norm, inside a sentence."""
    return title if "Norm" in title else title.lower()


def every_step(ctx: LessonContext, steps: Sequence[Step]) -> tuple[doc.Block, ...]:
    """A table of all steps: what each is for, and its formula; like steps in one row."""
    alike: dict[tuple[object, ...], list[Step]] = {}
    for step in steps:
        place = step.place
        key = (step.kind, place.encoder, place.sub_layer, place.tower_norm)
        alike.setdefault(key, []).append(step)
    rows = []
    for first, *others in alike.values():
        numbers = _listed([first.number, *(step.number for step in others)])
        symbol = ctx.symbols[first.last.output.address]
        right = _formula(first, ctx) or NONE
        name = f"{sentences.named(first)} ({first.kind.summary})"
        rows.append((numbers, symbol, right, name))
    return (doc.Paragraph(STEPS), doc.Table.of(HEADER, rows))


def _listed(numbers: Sequence[int]) -> str:
    """`4, 11`, or `4, 11, …, 58` if there are many."""
    shown: Iterable[object] = numbers
    if len(numbers) > MOST_NUMBERS:
        shown = (*numbers[: MOST_NUMBERS - 2], "…", numbers[-1])
    return ", ".join(map(str, shown))


def _formula(step: Step, ctx: LessonContext) -> ex.Expression | None:
    """The right side of a step's formula, if it has one."""
    if step.is_partly_given:
        return None
    function = FUNCTIONS.get(step.last.output.role)
    if function and not isinstance(step.last.operation, DropColumn):
        return ex.Call(function, (ctx.symbols[step.records[0].inputs[0].address],))
    if isinstance(step.last.operation, Copy):
        return ctx.symbols[step.last.inputs[0].address]
    chain = formula(step.last, ctx.symbols)
    return chain.sides[1] if chain else None
