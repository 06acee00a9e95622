"""The tape: every value of a forward pass with its address, and the operation that made it."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from tracer.errors import Problem, TracerError
from tracer.operations import Array, Axes, Given, Operation, Part
from tracer.rounding import Carry, Digits, Rounding, round_half_away

PRECISION = 50
"""Significant digits of "full precision": far more than any line prints."""

STEP_ENDS = frozenset(
    (
        *("position", "input", "query", "key", "value", "scores", "weights", "output"),
        *("residual", "norm", "hidden", "logits", "probabilities"),
    )
)
"""The last names of the addresses at which `carry: step` rounds."""


@dataclass(frozen=True, eq=False)
class Value:
    """A labelled array of Decimals; `given` numbers are printed as they were typed."""

    address: str
    array: Array
    axes: Axes
    given: bool = False

    @property
    def per_token(self) -> bool:
        """Whether the first axis has one entry for each token."""
        return bool(self.axes) and self.axes[0].name == "token"


@dataclass(frozen=True, eq=False)
class Step:
    """One recorded operation."""

    operation: Operation
    inputs: tuple[Value, ...]
    output: Value


@dataclass
class Tape:
    """Records a forward pass, rounding on the way as `rounding` says."""

    rounding: Rounding
    steps: list[Step] = field(default_factory=list)
    _scope: tuple[str, ...] = ()

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Addresses recorded inside begin with `name`."""
        outer = self._scope
        self._scope = (*outer, name)
        try:
            yield
        finally:
            self._scope = outer

    def address(self, name: str) -> str:
        """The address of `name` in the current scope."""
        return ".".join((*self._scope, name))

    def given(self, address: str, numbers: object, axes: Axes) -> Value:
        """Record numbers that are not computed; `address` is the whole address."""
        value = Value(address, np.array(numbers, dtype=object), axes, given=True)
        self.steps.append(Step(Given(), (), value))
        return value

    def record(self, name: str, operation: Operation, *inputs: Value) -> Value:
        """Compute an operation and record it under `name` in the current scope.

        Raises:
            TracerError: there is no result: a division by zero, or e to a power beyond all bounds.
        """
        assert not isinstance(operation, Given)
        address = self.address(name)
        arrays = [value.array for value in inputs]
        try:
            with decimal.localcontext(prec=PRECISION):
                result = operation.result(*arrays, part=self._part(address))
        except (decimal.DivisionByZero, decimal.InvalidOperation):
            raise TracerError(Problem(_DIVISION_BY_ZERO, address=address)) from None
        except decimal.Overflow:
            raise TracerError(Problem("too large a number to work with", address=address)) from None
        if self._rounds_here(address):
            result = _rounded(result, self.rounding.digits_for(address))
        value = Value(address, result, operation.axes(*(value.axes for value in inputs)))
        self.steps.append(Step(operation, inputs, value))
        return value

    def _rounds_here(self, address: str) -> bool:
        match self.rounding.carry:
            case Carry.LINE:
                return True
            case Carry.STEP:
                return address.rpartition(".")[2] in STEP_ENDS
            case Carry.NEVER:
                return False

    def _part(self, address: str) -> Part:
        if self.rounding.carry is not Carry.LINE:
            return lambda array: array
        digits = self.rounding.digits_within(address)
        return lambda array: _rounded(array, digits)


_DIVISION_BY_ZERO = "a division by zero: all numbers of the row are equal, so σ is 0; set epsilon"


def _rounded(array: Array, digits: Digits) -> Array:
    """Each finite number rounded; infinities and words stay."""

    def rounded(number: Decimal | str) -> Decimal | str:
        if isinstance(number, str) or not number.is_finite():
            return number
        return round_half_away(number, digits.places(number))

    return np.asarray(np.frompyfunc(rounded, 1, 1)(array), dtype=array.dtype)
