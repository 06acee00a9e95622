"""The model at a glance, with the way back: each step's box holds its gradient instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracer.formula.expression import Partial
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Box, Figure, Layer, Picture
from tracer.lesson.steps import Step
from tracer.lesson.steps.backward import BACK
from tracer.lesson.texts.picture import picture
from tracer.node import rewritten


def picture_back(ctx: LessonContext, steps: Sequence[Step]) -> Picture:
    """The steps of a pass that the gradient goes back through, with the numbers of the way back."""
    back = {(step.kind, step.place): step for step in steps}
    numbers: dict[int, int] = {}
    boxes: dict[int, Box] = {}
    there: list[Step] = []
    for step in steps:
        kind, value = BACK.get(step.kind), step.last.output
        gone = back.get((kind, replace(step.place, phase="gradient"))) if kind else None
        if gone:
            there.append(step)
            numbers[step.number] = gone.number
            boxes[step.number] = Box(
                gone.number, (Partial(ctx.symbols[value.address]),), value.shape
            )

    def renumbered(layer: Layer) -> Layer:
        if layer.others is None:
            return layer
        first, last = layer.others
        others = [number for step, number in numbers.items() if first <= step <= last]
        return replace(layer, others=(min(others), max(others)))

    drawn = rewritten(picture(ctx, there), Layer, renumbered)
    drawn = rewritten(drawn, Box, lambda box: boxes[box.step])
    assert isinstance(drawn, Picture)
    return replace(drawn, figure=Figure(f"{ctx.trace.name}.way-back", "The way back"))
