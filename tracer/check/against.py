"""Compare another program's arrays with a trace, in the order of computation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracer.console import progress
from tracer.decoder.comparison import gap
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value
from tracer.scenario.activations import DumpedArray

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""The allowed difference by number type, relative to the largest number."""

HIDDEN_FROM = -1e4
"""Programs use the smallest float or -10⁹ instead of -∞; numbers below this count as -∞."""


@dataclass(frozen=True)
class ComparedValue:
    """A value compared with theirs; without `at` their shapes differ.

    `largest` is the largest difference, `at` its index, `here` and `there` the two numbers;
    `relative` is the difference relative to our largest number.
    """

    value: Value
    theirs: DumpedArray
    allowed: float
    """The relative difference that does not count."""
    at: tuple[int, ...] | None = None
    here: float = 0.0
    there: float = 0.0
    largest: float = 0.0
    relative: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the difference exceeds the allowed one."""
        return self.at is None or not self.relative <= self.allowed


def compared(
    trace: Trace, dump: Mapping[str, Sequence[DumpedArray]], tolerance: float | None
) -> Iterator[ComparedValue]:
    """Yield the comparison of each array; of a trained model only these values are computed."""
    for record in trace.records:
        value = record.output
        if value.address in dump and not value.role.words:
            progress.report(value.address)
            yield from (_compared(value, theirs, tolerance) for theirs in dump[value.address])


def _compared(value: Value, theirs: DumpedArray, tolerance: float | None) -> ComparedValue:
    allowed = TOLERANCES.get(theirs.kind, TOLERANCES["float64"]) if tolerance is None else tolerance
    numbers = theirs.numbers
    if numbers.ndim == len(value.shape) + 1 and len(numbers) == 1:
        numbers = np.asarray(numbers[0])  # without a batch of one in front
    if numbers.shape != value.shape:
        return ComparedValue(value, theirs, allowed)
    ours = value.array
    if not ours.size:
        return ComparedValue(value, theirs, allowed, ())
    hidden = np.isneginf(ours) & (numbers <= HIDDEN_FROM)
    found = gap(ours, np.where(hidden, ours, numbers))
    here, there = float(ours[found.at]), float(numbers[found.at])
    return ComparedValue(
        value, theirs, allowed, found.at, here, there, found.largest, found.relative
    )
