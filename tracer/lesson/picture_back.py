"""The model at a glance, with the way back: each step's box holds its gradient instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tracer.formula.expression import Partial
from tracer.lesson.document import Box, Figure, Layer, Picture
from tracer.lesson.picture import picture
from tracer.lesson.steps import Step
from tracer.lesson.steps.way_back import BACK
from tracer.lesson.told import Told


def picture_back(told: Told, steps: Sequence[Step]) -> Picture:
    """The steps of a pass that the gradient goes back through, with the numbers of the way back."""
    back = {(step.kind, step.place): step for step in steps}
    numbers: dict[int, int] = {}
    there: list[Step] = []
    for step in steps:
        kind = BACK.get(step.kind)
        gone = back.get((kind, replace(step.place, phase="gradient"))) if kind else None
        if gone:
            numbers[step.number] = gone.number
            there.append(step)
    signs = {step.number: (Partial(told.symbols[step.last.output.address]),) for step in there}
    boxes = {
        step.number: Box(numbers[step.number], signs[step.number], step.last.output.shape)
        for step in there
    }
    drawn = _with(picture(told, there), boxes)
    assert isinstance(drawn, Picture)
    return replace(drawn, figure=Figure(f"{told.trace.name}.way-back", "The way back"))


def _with(part: Any, boxes: Mapping[int, Box]) -> Any:
    """A part of a picture with other boxes, found by the numbers of those that it has."""
    match part:
        case Box():
            return boxes[part.step]
        case Layer() if part.others:
            first, last = part.others
            numbers = [box.step for step, box in boxes.items() if first <= step <= last]
            inner = _with(replace(part, others=None), boxes)
            return replace(inner, others=(min(numbers), max(numbers)))
        case tuple():
            return tuple([_with(each, boxes) for each in part])
        case _ if is_dataclass(part) and not isinstance(part, type | Figure):
            parts = {field.name: getattr(part, field.name) for field in fields(part)}
            return type(part)(**{name: _with(each, boxes) for name, each in parts.items()})
        case _:
            return part
