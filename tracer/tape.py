"""The tape: every value of a forward pass with its address, and the operation that made it."""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from tracer.carry import Carry
from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.operations import Append, Array, Axes, Given, Normalize, Operation, Part
from tracer.rounding import Digits, Rounding, round_half_away

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
    """A labelled array of Decimals.

    `given` numbers are printed as they were typed, `rounded` ones with the digits they have.
    """

    address: str
    array: Array
    axes: Axes
    given: bool = False
    rounded: bool = False

    @property
    def per_token(self) -> bool:
        """Whether the first axis has one entry for each token."""
        return bool(self.axes) and self.axes[0].name == "token"

    def row(self, token: int, tokens: int) -> int:
        """The row of a token; a value that does not hold all tokens holds the last of them."""
        return token - (tokens - len(self.array))


@dataclass(frozen=True, eq=False)
class Step:
    """One recorded operation; of a pinned value, `inputs` are what it would be computed from."""

    operation: Operation
    inputs: tuple[Value, ...]
    output: Value


@dataclass
class Tape:
    """Records a forward pass, rounding on the way as `rounding` says.

    What is recorded at a pinned address is taken from there instead of being computed.
    """

    rounding: Rounding
    pinned: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
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

    def value(self, address: str) -> Value:
        """The value recorded at a whole address; a KeyError where there is none."""
        return {step.output.address: step.output for step in self.steps}[address]

    def given(self, address: str, numbers: object, axes: Axes) -> Value:
        """Record numbers that are not computed; `address` is the whole address."""
        value = self._pinned(address, axes)
        if value is None:
            value = Value(address, np.array(numbers, dtype=object), axes, given=True)
        self.steps.append(Step(Given(), (), value))
        return value

    def _pinned(self, address: str, axes: Axes) -> Value | None:
        """What is pinned at an address, if it has the right shape."""
        if address not in self.pinned or address in _WORDS:
            return None
        array = np.array(self.pinned[address], dtype=object)
        expected = tuple(len(axis.labels) for axis in axes)
        if any(isinstance(entry, tuple) for entry in array.flat):
            self.problems.append(Problem("given as rows of different lengths", address=address))
            return None
        if array.shape == expected:
            return Value(address, array, axes, given=True)
        message = f"given as {_shape(array.shape)}, expected {_shape(expected)}"
        self.problems.append(Problem(message, address=address))
        return None

    def record(self, name: str, operation: Operation, *inputs: Value) -> Value:
        """Compute an operation and record it under `name` in the current scope.

        Raises:
            TracerError: there is no result: a division by zero, or e to a power beyond all bounds.
        """
        assert not isinstance(operation, Given)
        address = self.address(name)
        axes = operation.axes(*(value.axes for value in inputs))
        if pinned := self._pinned(address, axes):
            self.steps.append(Step(Given(), inputs, pinned))
            return pinned
        arrays = [value.array for value in inputs]
        try:
            with decimal.localcontext(prec=PRECISION):
                result = operation.result(*arrays, part=self._part(address))
        except (decimal.DivisionByZero, decimal.InvalidOperation):
            message = _ZERO_DEVIATION if isinstance(operation, Normalize) else _UNDEFINED
            raise TracerError(Problem(message, address=address)) from None
        except decimal.Overflow:
            raise TracerError(Problem("too large a number to work with", address=address)) from None
        # What an earlier trace computed is taken over as it is.
        reused = isinstance(operation, Append) or (inputs[:1] and inputs[0].address == address)
        rounds = not reused and self._rounds_here(address)
        if rounds:
            result = _rounded(result, self.rounding.digits_for(address))
        rounded = rounds or bool(reused and all(value.rounded for value in inputs))
        value = Value(address, result, axes, rounded=rounded)
        self.steps.append(Step(operation, inputs, value))
        return value

    def check_pinned(self) -> None:
        """Raise a TracerError for all that is pinned in a wrong shape, or where nothing is."""
        known = [step.output.address for step in self.steps if step.output.address not in _WORDS]
        message = "given, but there is no such value"
        unknown = [
            Problem(message + closest(address, known), address=address)
            for address in self.pinned
            if address not in known
        ]
        if self.problems or unknown:
            raise TracerError(*self.problems, *unknown)

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


_WORDS = ("tokens", "prediction", "loss.target", "sampling.word")
"""Addresses of words; only numbers can be pinned."""

_ZERO_DEVIATION = "a division by zero: all numbers of the row are equal, so σ is 0; set epsilon"
_UNDEFINED = "no result: a division by zero, or the root or logarithm of a negative number"


def _shape(shape: tuple[int, ...]) -> str:
    """`2×3 numbers`, `one number`."""
    return f"{'×'.join(map(str, shape))} numbers" if shape else "one number"


def _rounded(array: Array, digits: Digits) -> Array:
    """Each finite number rounded; infinities and words stay."""

    def rounded(number: Decimal | str) -> Decimal | str:
        if isinstance(number, str) or not number.is_finite():
            return number
        return round_half_away(number, digits.places(number))

    return np.asarray(np.frompyfunc(rounded, 1, 1)(array), dtype=array.dtype)
