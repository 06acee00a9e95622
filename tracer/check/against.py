"""Compare another program's arrays with a trace, in the order of computation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracer.console import progress
from tracer.decoder.comparison import Floats, differences
from tracer.decoder.elementwise import Add, Subtract
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.scenario.activations import DumpedArray

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""The allowed difference by number type, relative to the largest number of the entry's row and
column that is no outlier."""

OUTLIER = 10
"""A row or column whose largest number is so many times that of the others has its own."""
NOT_CHANNELS = ("key", "token", "word")
"""Columns whose numbers are shares of a row, or compared within it: one of them is no outlier."""

ROUNDING = {"float64": 2**-53, "float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}
"""The largest relative error of a rounded number."""
JUMP = 30
"""Rounding alone seldom makes a step's differences so many times as large as all before it."""
FEW_RECORDS = 12
"""The most values from one compared value to the next that count as one step."""

HIDDEN_FROM = -1e4
"""Programs use the smallest float or -10⁹ instead of -∞; numbers below this count as -∞."""


@dataclass(frozen=True)
class ComparedValue:
    """A value compared with theirs; without `at` their shapes differ.

    `relative` is the largest relative difference, `at` its index, `here` and `there` the two
    numbers; `difference` is how far they are apart.
    """

    value: Value
    theirs: DumpedArray
    allowed: float
    """The relative difference that does not count."""
    at: tuple[int, ...] | None = None
    here: float = 0.0
    there: float = 0.0
    difference: float = 0.0
    relative: float = 0.0
    is_largest: bool = True
    """Whether no two other numbers are further apart."""
    has_outliers: bool = False
    """Whether some numbers are compared with less than the largest one."""
    jumps: float | None = None
    """How many times as large as before its differences are, if rounding is no reason for that."""

    @property
    def differs(self) -> bool:
        """Whether the difference exceeds the allowed one."""
        return self.at is None or not self.relative <= self.allowed


def compared(
    trace: Trace, dump: Mapping[str, Sequence[DumpedArray]], tolerance: float | None
) -> Iterator[ComparedValue]:
    """Yield the comparison of each array; of a trained model only these values are computed."""
    before, since = dict[str, float](), list[Record]()
    for record in trace.records:
        value = record.output
        since.append(record)
        if value.address in dump and not value.role.words:
            progress.report(value.address)
            for theirs in dump[value.address]:
                found = _compared(value, theirs, tolerance)
                if tolerance is None:
                    found = _with_jump(found, before.get(theirs.kind), since)
                before[theirs.kind] = max(before.get(theirs.kind, 0), found.relative)
                yield found
            since.clear()


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
    off = differences(ours, np.where(hidden, ours, numbers))
    scales = _scales(ours, value)
    relative = off / scales
    at = tuple(map(int, np.unravel_index(int(np.argmax(relative)), off.shape)))
    return ComparedValue(
        *(value, theirs, allowed, at, float(ours[at]), float(numbers[at])),
        difference=float(off[at]),
        relative=float(relative[at]),
        is_largest=bool(off[at] == off.max()),
        has_outliers=bool(np.ptp(scales)),
    )


def _scales(ours: Floats, value: Value) -> Floats:
    """Return, for each number, the one that its difference is relative to.

    It is the largest of its row and column, outliers apart: a residual stream may have a channel
    of 3,000, beside which errors in all others would be small.
    """
    sizes = np.where(np.isfinite(ours), np.abs(ours), 0.0)
    scales = np.full(ours.shape, sizes.max() or 1.0)
    for number, axis in enumerate(value.axes):
        if number == 0 or axis.name not in NOT_CHANNELS:
            others = tuple(i for i in range(sizes.ndim) if i != number)
            own = _without_outliers(sizes.max(axis=others))
            scales = np.minimum(scales, np.expand_dims(own, others))
    return scales


def _without_outliers(largest: Floats) -> Floats:
    """Return, for the largest number of each row, that of all rows that are of its size."""
    known = np.sort(largest[largest > 0])
    if not known.size:
        return np.ones_like(largest)
    typical = known[(known.size - 1) // 2]
    bounds = OUTLIER * np.maximum(largest, typical)
    return np.array(known[np.searchsorted(known, bounds, "right") - 1])


def _with_jump(
    found: ComparedValue, before: float | None, since: Sequence[Record]
) -> ComparedValue:
    """Return a comparison that differs if its differences have become much larger in one step.

    A tolerance allows for errors that many steps have added up, behind which a wrong ε of a norm
    would disappear.
    """
    rounding = ROUNDING.get(found.theirs.kind, ROUNDING["float64"])
    if before is None or found.at is None or found.differs or len(since) > FEW_RECORDS:
        return found
    usual = max(before, rounding)
    if found.relative <= max(JUMP * usual, found.allowed / 100):
        return found
    cancelled = max(map(_cancelled, since))
    allowed = max(JUMP * usual * cancelled, found.allowed / 100)
    if found.relative <= allowed:
        return found
    return replace(found, allowed=allowed, jumps=found.relative / usual)


def _cancelled(record: Record) -> float:
    """Return by how much a sum or difference is smaller than its terms, which enlarges errors."""
    if not isinstance(record.operation, Add | Subtract):
        return 1.0
    terms = max(_largest(each.array) for each in record.inputs)
    result = _largest(record.output.array)
    return max(terms / result, 1.0) if result else float("inf")


def _largest(numbers: Floats) -> float:
    return float(np.abs(numbers).max(initial=0, where=np.isfinite(numbers)))
