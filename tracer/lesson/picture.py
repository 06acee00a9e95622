"""The model at a glance: the steps of a pass as boxes, with the ways between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from tracer.decoder.operations import Add, Pinned
from tracer.decoder.roles import ENCODER_OUTPUT, SubLayer
from tracer.lesson.document import Box, Figure, Heads, Layer, Name, Part, Picture, Row, Sign, Tower
from tracer.lesson.steps import Step
from tracer.lesson.steps.inputs import ENCODER_STEP, INPUT_STEP, ROTARY_STEP
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP
from tracer.lesson.steps.tokenization import TOKENIZATION_STEP
from tracer.lesson.told import Told

NAMES: dict[SubLayer, str] = {
    "attention": "attention",
    "cross_attention": "cross-attention",
    "ffn": "FFN",
}


def picture(told: Told, steps: Sequence[Step], layers: Sequence[range] = ()) -> Picture:
    """All steps of a pass, each in one box; layers that are built alike are drawn once.

    `layers` are those that each layer of the pass stands for: itself, if nothing is said.
    """
    trace, encoder = told.trace, None
    before: list[Step] = []
    behind: list[Step] = []
    layered: list[Step] = []
    for step in steps:
        if step.place.sub_layer == "lens" or step.kind is TOKENIZATION_STEP:
            continue  # one looks at the model, the other comes before it
        if step.place.layer:
            layered.append(step)
        elif step.kind is ENCODER_STEP:
            words = tuple(map(Name, step.last.output.axes[0].labels))
            encoder = Tower(words, _box(step, told))
        elif INPUT_STEP in [earlier.kind for earlier in before]:
            behind.append(step)
        else:
            before.append(step)
    return Picture(
        tuple(map(Name, trace.tokens)),
        _rows(before, told),
        encoder,
        _layers(layered, told, layers),
        _rows(behind, told),
        Figure(f"{trace.name}.model", "The model"),
    )


def _layers(steps: Sequence[Step], told: Told, stands_for: Sequence[range]) -> tuple[Layer, ...]:
    """The layers; of some that follow each other and look the same, the first."""
    built = [list(layer) for _, layer in groupby(steps, lambda step: step.place.layer)]
    ranges = stands_for or [range(number, number + 1) for number in range(1, len(built) + 1)]
    found = []
    alike = groupby(
        zip(built, ranges, strict=True), lambda layer: _parts(_counted_from_1(layer[0]), told)
    )
    for _, layers in alike:
        several = list(layers)
        (first, numbers), (last, last_numbers) = several[0], several[-1]
        end = last[-1].number + len(last) * (len(last_numbers) - 1)
        others = (first[-1].number + 1, end) if end > first[-1].number else None
        found.append(Layer(numbers[0], last_numbers[-1], _parts(first, told), others))
    return tuple(found)


def _counted_from_1(steps: Sequence[Step]) -> list[Step]:
    return [replace(step, number=number) for number, step in enumerate(steps, 1)]


def _parts(layer: Sequence[Step], told: Told) -> tuple[Part, ...]:
    by_sub_layer = groupby(layer, lambda step: step.place.sub_layer)
    return tuple(_part(NAMES[name], list(steps), told) for name, steps in by_sub_layer if name)


def _part(name: str, steps: Sequence[Step], told: Told) -> Part:
    """A sub-layer; a sum that is pinned adds nothing, so no way leads around it."""
    for i, step in enumerate(steps):
        if step.kind is RESIDUAL_STEP and isinstance(step.last.operation, Add):
            inside, behind = _inside(steps[:i], told), _rows(steps[i + 1 :], told)
            return Part(name, inside, _box(step, told), behind)
    return Part(name, _inside(steps, told))


def _inside(steps: Sequence[Step], told: Told) -> tuple[Row | Heads, ...]:
    found: list[Row | Heads] = []
    for of_heads, steps_of_it in groupby(steps, lambda step: step.place.head is not None):
        some = list(steps_of_it)
        found += [_heads(some, told)] if of_heads else _rows(some, told)
    return tuple(found)


def _heads(steps: Sequence[Step], told: Told) -> Heads:
    heads = [list(head) for _, head in groupby(steps, lambda step: step.place.head)]
    crosses = tuple(any(map(_reads_encoder, head)) for head in heads)
    return Heads(tuple(_rows(head, told) for head in heads), crosses)


def _reads_encoder(step: Step) -> bool:
    return any(
        value.role is ENCODER_OUTPUT
        for record in step.records
        if not isinstance(record.operation, Pinned)
        for value in record.inputs
    )


def _rows(steps: Sequence[Step], told: Told) -> tuple[Row, ...]:
    """Steps from below: beside each other, until one reads another of the row."""
    rows: list[list[Step]] = []
    for step in steps:
        if rows and not any(_reads(step, other) for other in rows[-1]):
            rows[-1].append(step)
        else:
            rows.append([step])
    return tuple(tuple(_box(step, told) for step in row) for row in rows)


def _reads(step: Step, other: Step) -> bool:
    given = {record.output for record in other.records}
    return any(value in given for record in step.records for value in record.inputs)


def _box(step: Step, told: Told) -> Box:
    """The step's sign; of a pinned one that it is given, for nothing is done there."""
    value = step.last.output
    pinned = [record for record in step.records if isinstance(record.operation, Pinned)]
    if step.last in pinned:
        sign: Sign = (told.symbols[value.address], " given")
    else:
        sign = (*step.kind.sign_of(step, told), *([", in part given"] if pinned else []))
    return Box(step.number, sign, value.shape, bool(pinned), step.kind is ROTARY_STEP)
