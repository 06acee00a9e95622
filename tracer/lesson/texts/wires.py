"""The wires of a picture: which box reads which, from the tape."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tracer.decoder.value import Value
from tracer.lesson import document as doc
from tracer.lesson.steps.kind import Step


def wires(
    steps: Sequence[Step], boxes: Collection[doc.Box], folded: Mapping[int, int]
) -> tuple[doc.Wire, ...]:
    """Return the wires between boxes; what is computed without a box is passed through.

    `folded` maps the steps of repeated layers to those of the layer that is drawn. No wire
    begins at a box `aside`, which all heads use.
    """
    tape = _Tape(steps, {box.step for box in boxes}, folded)
    aside = {box.step for box in boxes if box.aside}
    return tuple(
        doc.Wire(source, step.number)
        for step in steps
        if step.number in tape.boxes
        for source in sorted(set(tape.sources(step)) - aside)
    )


class _Tape:
    """The records of a pass, grouped by the boxes that show them."""

    def __init__(
        self, steps: Sequence[Step], boxes: Collection[int], folded: Mapping[int, int]
    ) -> None:
        self.boxes, self.folded = boxes, folded
        self.steps = {step.number: step for step in steps}
        self.made = {r.output: (step.number, r) for step in steps for r in step.records}

    def sources(self, reader: Step) -> Iterator[int]:
        """The nearest boxes that a step is computed from."""
        seen: set[Value] = {record.output for record in reader.records}
        ahead = [value for record in reader.records for value in record.inputs]
        while ahead:
            value = ahead.pop()
            if value in seen or value not in self.made:
                continue
            seen.add(value)
            number, record = self.made[value]
            box = self.folded.get(number, number)
            if box in self.boxes and not (box != number and self._in_one_layer(box, reader)):
                yield box
            else:
                ahead += record.inputs

    def _in_one_layer(self, box: int, reader: Step) -> bool:
        """Whether a box and a step lie in the same layer; there, repetition adds no wire."""
        place = self.steps[box].place
        return (place.encoder, place.layer) == (reader.place.encoder, reader.place.layer)
