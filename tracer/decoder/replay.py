"""Passes of a trained model with patches, from the records of the pass without them.

Its numbers are computed on demand, and which operations a pass records does not depend on them,
unless tokens choose networks. So only what follows from the patches is recorded anew, and an
operation of several passes is computed at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.elementwise import Elementwise
from tracer.decoder.forward import Trace
from tracer.decoder.lazy import LazyPatched, LazyResult, LazyTensor, Patch
from tracer.decoder.routing import has_chosen_rows
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.arithmetic import Array

OF_ROWS = (op.MatMul, op.Dot, op.Total, op.Mean, op.Largest, op.Rotate, Elementwise)
"""Operations of which each row follows from the same row of the operands with rows of tokens."""

_PATCHED = op.Pinned()


def can_replay(found: Trace, patched: Collection[str]) -> bool:
    """Return whether the pass with patches at these addresses has the same operations."""
    values = [found[address] for address in patched]
    return (
        found.scenario.on_demand
        and all(isinstance(value, (LazyResult, LazyTensor)) for value in values)
        and not any(value.role.hides for value in values)
        and not any(map(has_chosen_rows, found.values.values()))
    )


def replay(found: Trace, patches: Mapping[str, Patch]) -> Trace:
    """Return the pass with patches at these addresses; other values are those of the pass."""
    replaced: dict[Value, Value] = {}
    records = list[Record]()
    for record in found.records:
        output = record.output
        patch = patches.get(output.address)
        if patch is None and replaced.keys().isdisjoint(record.inputs):
            records.append(record)
            continue
        inputs = tuple([replaced.get(value, value) for value in record.inputs])
        operation, value = record.operation, _again(output, inputs)
        if patch is not None and isinstance(output, (LazyResult, LazyTensor)):
            operation, value = _PATCHED, LazyPatched(value, patch, output.lazy_context)
        if value is not output:
            replaced[output] = value
        records.append(Record(operation, inputs, value))
    return Trace(found.name, found.scenario, found.pencil, tuple(records), found.others)


def _again(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return the value for other inputs; a given value stays."""
    if isinstance(value, LazyResult):
        return value.again(inputs)
    if isinstance(value, LazyPatched):
        return LazyPatched(_again(value.own, inputs), value.patch, value.lazy_context)
    return value


def fetch_together(runs: Sequence[Trace]) -> None:
    """Compute the output of passes that have the same operations, each operation at once.

    Raises:
        TracerError: no result follows.
    """
    waiting = defaultdict[int, list[LazyResult]](list)
    for run in runs:
        for place, value in _needed(run).items():
            waiting[place].append(value)
    for place in sorted(waiting):
        _fetch_alike(waiting[place])


def _needed(run: Trace) -> dict[int, LazyResult]:
    """What the output needs and is not computed yet, by the places of its records."""
    needed, found = {run[roles.OUTPUT.name]}, dict[int, LazyResult]()
    for place in range(len(run.records) - 1, -1, -1):
        value = run.records[place].output
        if value in needed and isinstance(value, LazyResult) and not value.is_ready:
            found[place] = value
            needed.update(value.inputs)
    return found


def _fetch_alike(values: Sequence[LazyResult]) -> None:
    """Compute the same value of several passes: at once, if its rows follow from those of others.

    Each matrix of the model is then read once for all passes.
    """
    first = values[0]
    shared = [all(v.inputs[i] is x for v in values) for i, x in enumerate(first.inputs)]
    if len(values) == 1 or not _is_of_rows(first, shared):
        for value in values:
            value.fetch()
        return
    operands: list[Array] = [
        np.concatenate([value.inputs[i].numbers for value in values])
        if x.per_token
        else first._operand(x)
        for i, x in enumerate(first.inputs)
    ]
    with first.lazy_context.arithmetic.context():
        found = first._computed(operands)
    for value, numbers in zip(values, np.split(found, len(values)), strict=True):
        value.keep(numbers)


def _is_of_rows(value: LazyResult, shared: Sequence[bool]) -> bool:
    """Return whether the rows of the operands can stand below each other."""
    operation, inputs = value.operation, value.inputs
    if not isinstance(operation, OF_ROWS) or not (value.per_token and inputs[0].per_token):
        return False
    others = list(zip(inputs, shared, strict=True))[1:]
    if isinstance(operation, (op.MatMul, op.Dot)):
        return all(is_shared and not x.per_token for x, is_shared in others)
    return all(x.per_token or (is_shared and len(x.axes) < 2) for x, is_shared in others)
