"""The backward pass as PyTorch computes it: `loss.backward()`, then the `.grad` of each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.gather import Gather
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.lesson.steps.kind import Step

LOSSES = {of.loss for of in roles.LOSSES}


class Grad(Gather):
    """The gradient at a value, the first operand, after a backward pass that the others begin."""

    name = "grad"


def with_autograd(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, with each gradient read from its value instead of computed.

    What only computes a gradient is left out. The steps stay as they are if gradients are given
    that `backward()` does not know of.
    """
    records = [record for step in steps for record in step.records]
    given = [
        record.output for record in records if _is_gradient(record.output) and is_given(record)
    ]
    at = {
        value.address: value
        for record in records
        if record.output.place.phase == "forward"
        for value in (*record.inputs, record.output)
    }
    begins = [record.output for record in records if record.output.role in LOSSES]
    if given:
        begins = [at[_address_of_value(given[0])], given[0]]
    if len(given) > 1 or not begins:
        return list(steps)
    reached = _computed_of(records, begins[0])
    found: dict[Value, Record] = {}
    needed = {value for step in steps for value in _results(step)}
    for record in reversed(records):
        value = record.output
        if value in needed:
            of = at.get(_address_of_value(value)) if _is_gradient(value) else None
            is_read = of in reached and not is_given(record)
            found[value] = Record(Grad(), (of, *begins), value) if of and is_read else record
            needed.update(found[value].inputs)
    kept = [
        replace(step, records=tuple(found[r.output] for r in step.records if r.output in found))
        for step in steps
    ]
    # The backward pass is called in a step that a text shows, and not in that of another example.
    first = next((step for step in kept if step.number and reads_gradients(step)), None)
    return sorted(kept, key=lambda step: (step.place.phase != "forward") + _follows(step, first))


def _computed_of(records: Sequence[Record], whole: Value) -> set[Value]:
    """The values that a value is computed of, apart from those of experts without tokens."""
    found = {whole}
    for record in reversed(records):
        if record.output in found:
            found.update(value for value in record.inputs if 0 not in value.shape)
    return found


def reads_gradients(step: Step) -> bool:
    """Return whether a step reads gradients that `backward()` has computed."""
    return any(isinstance(record.operation, Grad) for record in step.records)


def is_given(record: Record) -> bool:
    """Return whether the numbers of a record come from outside."""
    return isinstance(record.operation, Given | Pinned)


def _follows(step: Step, first: Step | None) -> bool:
    return step.place.phase != "forward" and step is not first


def _results(step: Step) -> list[Value]:
    """What is kept of a step in any case: of the backward pass its gradients, or else its result.

    Nothing of the gradients in the other examples of a batch, which no text shows.
    """
    values = [record.output for record in step.records]
    if step.place.phase != "gradient":
        return values
    if step.place.example:
        return []
    return [value for value in values if _is_gradient(value)] or [step.last.output]


def _is_gradient(value: Value) -> bool:
    return value.place.phase == "gradient" and value.role.derivation == "gradient"


def _address_of_value(gradient: Value) -> str:
    """The address of the value that a gradient is at."""
    assert gradient.role.of
    return replace(gradient.place, phase="forward").address(gradient.role.of)
