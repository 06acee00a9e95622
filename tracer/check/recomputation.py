"""Each value of a pass from another program's numbers before it, and how far rounding moves it.

A program rounds every number that it stores. How far that moves a result is measured: the value is
computed again with numbers that are each moved by the rounding error of the program's type, up or
down at random (Parker 1997, Monte Carlo arithmetic). So a small number beside a large one, in an
outlier channel or not, has a tolerance of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

from tracer.decoder import operations as op
from tracer.decoder.comparison import Floats
from tracer.decoder.elementwise import Activate, Slope
from tracer.decoder.forward import Trace
from tracer.decoder.lazy import LazyTensor
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.results import result
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.arithmetic import FLOATS, no_rounding

ROUNDING = {"float64": 2**-50, "float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}
"""The largest relative error of a rounded number; more for float64, in which we round, too."""
SMALLEST = {"float64": 1e-300, "float32": 2**-126, "float16": 2**-24, "bfloat16": 2**-126}
"""A difference so small is none: the type has no smaller numbers, or programs set them to 0."""
COUNTED = ROUNDING["float32"]
"""The same of positions, angles and sums: programs compute them in float32 at least."""
SUMS = (op.MatMul, op.Dot, op.Total)
"""Operations that add up the products or the numbers of a row."""
SAMPLES = 6
"""How often a value is computed with moved numbers."""
TIMES = {"float64": 8, "float32": 12, "float16": 8, "bfloat16": 8}
"""Rounding hardly ever moves a number so many times as far as in these samples."""

Change: TypeAlias = Callable[["Recomputation", Record, Sequence[Floats]], Floats | None]
"""Computes an operation in another way from its operands; None where it is not changed."""


def of_records(fits: Callable[[Record], bool], compute: Callable[..., Floats | None]) -> Change:
    """Return a change of some records; `compute` gets the recomputation, the record, operands."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        return compute(at, record, *operands) if fits(record) else None

    return change


def computed(operation: Any, operands: Sequence[Floats], record: Record) -> Floats:
    """Return an operation's result, with the axes of a record's."""
    found = result(FLOATS, operation, [*operands], record.output.axes, no_rounding)
    return np.asarray(found, np.float64)


@dataclass(eq=False)
class Recomputation:
    """Values of a pass, computed from the numbers of a file where it has them.

    `numbers` are those of the file by address. With a `seed`, each number is moved by `unit`.
    """

    trace: Trace
    numbers: Mapping[str, Floats]
    change: Change | None = None
    unit: float = 0.0
    seed: int | None = None
    _found: dict[Value, Floats] = field(default_factory=dict)

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @cached_property
    def order(self) -> dict[Value, int]:
        """The place of each value in the order of the pass."""
        return {record.output: place for place, record in enumerate(self.trace.records)}

    def of(self, address: str) -> Floats:
        """Return a value computed from the numbers before it.

        Raises:
            KeyError: the pass does not compute it.
            ArithmeticError: it has no result.
            ValueError: a change does not fit the shapes.
        """
        value = self.trace.values[address]
        if value not in self._found:
            with FLOATS.context():
                for each in self.needed(value):
                    self._found[each] = self._computed(self.trace.producers[each])
        return self._found[value]

    def needed(self, value: Value) -> list[Value]:
        """Return what has to be computed for a value, itself last, in the order of the pass."""
        found, waiting = {value}, [value]
        while waiting:
            for each in self.trace.producers[waiting.pop()].inputs:
                known = each in found or each in self._found or each.address in self.numbers
                if not known and not each.role.words:
                    found.add(each)
                    waiting.append(each)
        return sorted(found, key=self.order.__getitem__)

    def number(self, value: Value) -> Floats:
        """Return the file's numbers of a value, or those computed from the ones before it."""
        if value.address in self.numbers:
            return self.numbers[value.address]
        return _floats(value) if value.role.parameter else self.of(value.address)

    def operand(self, value: Value, record: Record) -> Floats:
        """Return the numbers of a value as an operation reads them: the file's if it has them."""
        if value.role.parameter and value.address not in self.numbers:
            if record.output.place.phase == "update":
                return self.stored(value)
            if isinstance(value, LazyTensor) and self.change is None:
                return value.operand(record.operation)  # type: ignore[arg-type]
            return _floats(value)
        numbers = self.numbers.get(value.address)
        terms = value.shape[-1] if isinstance(record.operation, SUMS) and value.shape else 1
        return self.moved(value, self._found[value] if numbers is None else numbers, terms)

    def _computed(self, record: Record) -> Floats:
        operation = record.operation
        if isinstance(operation, Given | Pinned):
            return _floats(record.output)
        operands = [self.operand(each, record) for each in record.inputs]
        if self.change and (changed := self.change(self, record, operands)) is not None:
            return changed
        found = computed(operation, operands, record)
        if self.seed is not None and isinstance(operation, Activate | Slope):
            # Programs compute 1 + erf(x), or a tanh, whose error is relative to 1 and not to them.
            factor = operands[0] if isinstance(operation, Activate) else 1.0
            found = found + self.unit * self._signs(found) * factor
        return found

    def _signs(self, numbers: Floats) -> Floats:
        return self._random.choice((-1.0, 1.0), numbers.shape)

    def moved(self, value: Value, numbers: Floats, terms: int = 1) -> Floats:
        """Return the numbers of a value, each moved by its rounding error if there is a seed.

        A program that adds up as many `terms` rounds as many sums, in float32 at least.
        """
        if self.seed is None:
            return numbers
        counted = min(self.unit, COUNTED)
        is_counted = value.role.name.startswith("position.")
        unit = counted if is_counted else max(self.unit, counted * sqrt(terms))
        return numbers * (1 + unit * self._signs(numbers))

    def stored(self, value: Value) -> Floats:
        """Return a parameter, moved where the type of the program cannot store its number.

        An update may be smaller than this rounding error, unlike the result of a product.
        """
        numbers = _floats(value)
        if self.seed is None:
            return numbers
        is_exact = np.frexp(numbers)[0] / self.unit % 1 == 0
        return np.where(is_exact, numbers, self.moved(value, numbers))


def _floats(value: Value) -> Floats:
    return np.asarray(value.numbers, np.float64)


@dataclass(eq=False)
class Allowed:
    """How far each number of a value may be from the computed one, by the rounding of a program."""

    trace: Trace
    numbers: Mapping[str, Floats]
    kinds: Collection[str]
    """The types of the file's numbers; the coarsest is that of the numbers between them."""
    change: Change | None = None

    @cached_property
    def _samples(self) -> list[Recomputation]:
        unit = max(ROUNDING.get(kind, ROUNDING["float64"]) for kind in self.kinds)
        seeds = range(SAMPLES)
        same = (self.trace, self.numbers, self.change, unit)
        return [Recomputation(*same, seed) for seed in seeds]

    def of(self, address: str, own: Floats, kind: str) -> Floats:
        """Return the allowed difference of each number; `own` are the computed ones."""
        moves = [own]
        for sample in self._samples:
            try:
                moves.append(sample.of(address))
            except ArithmeticError:
                continue
        if len(moves) == 1:
            return np.full(own.shape, np.inf)
        with np.errstate(invalid="ignore"):
            squares = np.square(np.stack(moves) - own)
        spread = np.sqrt(np.nan_to_num(squares).sum(axis=0) / (len(moves) - 1))
        if spread.ndim:  # a sample may move a number less than rounding does
            spread = np.maximum(spread, np.median(spread, axis=-1, keepdims=True))
        sizes = np.where(np.isfinite(own), np.abs(own), 0.0)
        kind = kind if kind in ROUNDING else "float64"
        return np.asarray(SMALLEST[kind] + ROUNDING[kind] * sizes + TIMES[kind] * spread)
