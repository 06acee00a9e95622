"""Compare another program's arrays with a trace, in the order of computation.

Each value is compared twice: with the scenario's own, and with what follows from the file's numbers
before it. Only the second comparison says whether a step is wrong: in the first, a mistake differs
in everything that follows, and errors of rounding add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.check.recomputation import Allowed, Recomputation
from tracer.console import progress
from tracer.decoder.comparison import Floats, differences
from tracer.decoder.forward import Trace
from tracer.decoder.value import Index, Value, has_token_rows
from tracer.names import distinct
from tracer.scenario.activations import DumpedArray

Dumped = Mapping[str, Sequence[DumpedArray]]

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""The allowed difference of two passes by number type, relative to the largest number of the
entry's row and column that is no outlier."""

OUTLIER = 10
"""A row or column whose largest number is so many times that of the others has its own."""
NOT_CHANNELS = ("key", "token", "word")
"""Columns whose numbers are shares of a row, or compared within it: one of them is no outlier."""

HIDDEN_FROM = -1e4
"""Programs use the smallest float or -10⁹ instead of -∞; numbers below this count as -∞."""


@dataclass(frozen=True, eq=False)
class ComparedStep:
    """A value compared with what follows from the file's numbers before it.

    `own` are the computed numbers, `allowed` are the differences that rounding explains.
    """

    own: Floats
    theirs: Floats
    allowed: Floats

    @cached_property
    def differing(self) -> NDArray[np.bool_]:
        """Which numbers differ by more than rounding explains."""
        return self.differing_from(self.own)

    def differing_from(self, own: Floats) -> NDArray[np.bool_]:
        """Return which numbers differ from others that could have been computed."""
        return np.asarray(~(differences(own, self.theirs) <= self.allowed))

    @cached_property
    def excess(self) -> Floats:
        """How many times as large as the allowed difference each difference is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = differences(self.own, self.theirs) / self.allowed
        return np.nan_to_num(excess, nan=0.0, posinf=np.inf)

    @cached_property
    def at(self) -> Index:
        """The index of the number that differs by the most, compared with what is allowed."""
        return tuple(map(int, np.unravel_index(int(np.argmax(self.excess)), self.own.shape)))


@dataclass(frozen=True, eq=False, kw_only=True)
class LargestDifference:
    """Where two arrays differ most; without `at` their shapes differ.

    `relative` is the largest relative difference, `at` its index, `here` and `there` the two
    numbers; `difference` is how far they are apart.
    """

    allowed: float
    """The relative difference that does not count."""
    at: Index | None = None
    here: float = 0.0
    there: float = 0.0
    difference: float = 0.0
    relative: float = 0.0
    is_largest: bool = True
    """Whether no two other numbers are further apart."""

    @property
    def exceeds(self) -> bool:
        """Whether the relative difference is larger than the allowed one."""
        return not self.relative <= self.allowed


@dataclass(frozen=True, eq=False)
class ComparedValue(LargestDifference):
    """A value compared with theirs."""

    value: Value
    theirs: DumpedArray
    step: ComparedStep | None = None
    """The comparison of this step alone; None if the shapes differ or numbers are rounded."""
    follows: bool = False
    """Whether a value before it is wrong."""

    @property
    def is_wrong(self) -> bool:
        """Whether the value differs from what follows from the file's numbers before it."""
        if self.at is None:
            return True
        if self.step is None:
            return self.exceeds and not self.follows
        return bool(self.step.differing.any())

    @property
    def differs(self) -> bool:
        """Whether the value is wrong or differs because one before it is."""
        return self.is_wrong or (self.exceeds and self.follows)

    @property
    def hides_tokens(self) -> bool:
        """Whether rounding explains even the difference between two neighboring tokens."""
        axes = self.value.axes
        is_vectors = len(axes) == 2 and has_token_rows(self.value)
        if self.step is None or not is_vectors or axes[1].name in NOT_CHANNELS:
            return False
        own = self.step.own
        apart = differences(own[1:], own[:-1])
        near = (apart <= self.step.allowed[1:]).all(axis=-1) & (apart > 0).any(axis=-1)
        return bool(near.any())

    @property
    def differs_in(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """The labels of the rows and of the columns that are wrong; None if all are."""
        found: list[tuple[str, ...] | None] = [None, None]
        if self.step is None:
            return None, None
        for number, axis in enumerate(self.value.axes):
            others = tuple(i for i in range(len(self.value.axes)) if i != number)
            wrong = np.asarray(self.step.differing.any(axis=others))
            if not wrong.all():
                labels = zip(distinct(axis.labels), wrong, strict=True)
                found[number] = tuple(label for label, differs in labels if differs)
        return found[0], found[1]


def numbers_by_address(trace: Trace, dump: Dumped) -> dict[str, Floats]:
    """Return the file's numbers that steps can be computed from: finite, and of our shape."""
    found: dict[str, Floats] = {}
    for address, (theirs, *_) in dump.items():
        value = trace.values.get(address)
        if value is None or value.role.words:
            continue
        numbers = _without_batch(theirs.numbers, value)
        if value.role.hides:
            numbers = np.where(numbers <= HIDDEN_FROM, -np.inf, numbers)
        hidden = np.isneginf(numbers) & value.role.hides
        if numbers.shape == value.shape and (np.isfinite(numbers) | hidden).all():
            found[address] = numbers
    return found


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a pass, each computed from the file's numbers before it."""

    own: Recomputation
    allowed: Allowed

    @staticmethod
    def of(trace: Trace, dump: Dumped) -> Steps:
        """Return the steps of a pass that is computed on demand."""
        numbers = numbers_by_address(trace, dump)
        kinds = {each.kind for arrays in dump.values() for each in arrays}
        return Steps(Recomputation(trace, numbers), Allowed(trace, numbers, kinds))

    def compared(
        self, value: Value, theirs: DumpedArray, tolerance: float | None
    ) -> ComparedStep | None:
        """Return the comparison of a step; None if the file's numbers have no result there."""
        try:
            own = self.own.of(value.address)
        except ArithmeticError:
            return None
        numbers = _like(own, _without_batch(theirs.numbers, value))
        if tolerance is not None:
            return ComparedStep(own, numbers, tolerance * _scales(own, value))
        return ComparedStep(own, numbers, self.allowed.of(value.address, own, theirs.kind))


def compared(
    trace: Trace, steps: Steps | None, dump: Dumped, tolerance: float | None
) -> tuple[ComparedValue, ...]:
    """Return the comparison of each array; of a trained model only these values are computed.

    Without `steps`, the pass rounds its numbers, and only whole passes are compared.
    """
    found: list[ComparedValue] = []
    for record in trace.records:
        value = record.output
        if value.address not in dump or value.role.words:
            continue
        progress.report(value.address)
        for theirs in dump[value.address]:
            of_pass = _compared(value, theirs, tolerance)
            step = None
            if steps and of_pass.at is not None:
                step = steps.compared(value, theirs, tolerance)
            follows = any(each.is_wrong for each in found)
            found.append(replace(of_pass, step=step, follows=follows))
    return tuple(found)


def _compared(value: Value, theirs: DumpedArray, tolerance: float | None) -> ComparedValue:
    allowed = TOLERANCES.get(theirs.kind, TOLERANCES["float64"]) if tolerance is None else tolerance
    numbers = _without_batch(theirs.numbers, value)
    if numbers.shape != value.shape:
        return ComparedValue(value, theirs, allowed=allowed)
    ours = value.array
    off = differences(ours, _like(ours, numbers))
    largest = largest_difference(ours, numbers, off, _scales(ours, value))
    return ComparedValue(value, theirs, allowed=allowed, **largest)


def largest_difference(ours: Floats, theirs: Floats, off: Floats, scales: Floats) -> dict[str, Any]:
    """Return the fields of the largest of some differences, relative to `scales`."""
    if not ours.size:
        return {"at": ()}
    relative = off / scales
    at = tuple(map(int, np.unravel_index(int(np.argmax(relative)), off.shape)))
    return {
        "at": at,
        "here": float(ours[at]),
        "there": float(theirs[at]),
        "difference": float(off[at]),
        "relative": float(relative[at]),
        "is_largest": bool(off[at] == off.max()),
    }


def _without_batch(numbers: Floats, value: Value) -> Floats:
    """Return numbers without a batch of one in front."""
    if numbers.ndim == len(value.shape) + 1 and len(numbers) == 1:
        return np.asarray(numbers[0])
    return numbers


def _like(ours: Floats, numbers: Floats) -> Floats:
    """Return their numbers with -∞ for what stands for it where ours are -∞."""
    return np.where(np.isneginf(ours) & (numbers <= HIDDEN_FROM), ours, numbers)


def _scales(ours: Floats, value: Value) -> Floats:
    """Return, for each number, the one that its difference is relative to."""
    axes = enumerate(value.axes)
    return scales(ours, [i for i, axis in axes if i == 0 or axis.name not in NOT_CHANNELS])


def scales(ours: Floats, axes: Iterable[int]) -> Floats:
    """Return, for each number, the largest of its row and column, outliers apart.

    A residual stream may have a channel of 3,000, beside which errors in all others would be small.
    `axes` are those along which numbers may be of different sizes.
    """
    if not ours.size:
        return ours
    sizes = np.where(np.isfinite(ours), np.abs(ours), 0.0)
    found = np.full(ours.shape, sizes.max() or 1.0)
    for number in axes:
        others = tuple(i for i in range(sizes.ndim) if i != number)
        own = _without_outliers(sizes.max(axis=others))
        found = np.minimum(found, np.expand_dims(own, others))
    return found


def _without_outliers(largest: Floats) -> Floats:
    """Return, for the largest number of each row, that of all rows that are of its size."""
    known = np.sort(largest[largest > 0])
    if not known.size:
        return np.ones_like(largest)
    typical = known[(known.size - 1) // 2]
    bounds = OUTLIER * np.maximum(largest, typical)
    return np.array(known[np.searchsorted(known, bounds, "right") - 1])
