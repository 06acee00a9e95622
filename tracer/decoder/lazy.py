"""Values whose numbers are read or computed, with those they depend on, when first used."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tracer.checkpoints.parameter import Parameter
from tracer.console import progress
from tracer.decoder import memory, operations as op
from tracer.decoder.axes import Axes
from tracer.decoder.contract import Along
from tracer.decoder.no_result import no_result
from tracer.decoder.operations import Recorded
from tracer.decoder.results import result
from tracer.decoder.roles import OF_WORDS, WEIGHTS, Place, Role
from tracer.decoder.value import WORD, Form, Value
from tracer.errors import Located, TracerError
from tracer.formula.arithmetic import Arithmetic, Array, no_rounding

READ_IN_PARTS = (op.MatMul, op.Dot, op.TakeColumn, op.Rows)
"""Operations that can read a matrix of a file themselves, in parts."""

MANY_ROWS = 32
"""Fewer rows are computed at once, and always fit into memory: the model's weights are larger."""


@dataclass(frozen=True)
class LazyContext:
    """What lazy values compute with. It holds no values: dropping a trace frees its memory."""

    arithmetic: Arithmetic
    pinned: Container[str]
    located: Located


class LazyValue(Value):
    """A value whose numbers are fetched at the first access, and kept."""

    __slots__ = ("is_ready", "lazy_context")

    def __init__(
        self,
        role: Role,
        place: Place,
        address: str,
        axes: Axes,
        form: Form,
        lazy_context: LazyContext,
    ) -> None:
        self.role, self.place, self.address, self.axes, self.form = role, place, address, axes, form
        self.lazy_context, self.is_ready = lazy_context, False

    def __getattr__(self, name: str) -> Any:
        """Fetch the numbers: Python calls this for a slot that is still empty."""
        if name not in ("numbers", "computed") or self.is_ready:
            raise AttributeError(name)
        self.fetch()
        return self.numbers

    def fetch(self) -> None:
        """Read or compute the numbers, and keep them."""
        raise NotImplementedError


class LazyTensor(LazyValue):
    """Numbers of a file. A layer's weights are read for one operation and not kept."""

    __slots__ = ("stored",)

    def __init__(self, stored: object, *labels: Any) -> None:
        super().__init__(*labels)
        self.stored = stored

    def fetch(self) -> None:
        """Read the numbers, and keep them."""
        self.numbers = self.computed = self.lazy_context.arithmetic.array(self.stored)
        self.is_ready = True

    def operand(self, operation: Recorded) -> Array:
        """The numbers for one operation: of a matrix in a file, some read only what they use."""
        if isinstance(operation, READ_IN_PARTS) and self._is_in_file:
            return cast(Array, self.stored)
        is_kept = self.is_ready or self.place.layer is None or not self.role.parameter
        return self.numbers if is_kept else self.lazy_context.arithmetic.array(self.stored)

    def read(self, index: Along) -> Any:
        """Return a row, a column or an entry; of a matrix in a file, no more is read."""
        return cast(Array, self.stored)[index] if self._is_in_file else self.numbers[index]

    @property
    def _is_in_file(self) -> bool:
        """Whether it is a matrix of a file, that nobody has looked at as a whole."""
        is_matrix = isinstance(self.stored, Parameter) and len(self.axes) > 1
        return is_matrix and not self.is_ready


class LazyResult(LazyValue):
    """The result of an operation whose inputs may be lazy, too."""

    __slots__ = ("inputs", "operation")

    def __init__(self, operation: Recorded, inputs: tuple[Value, ...], *labels: Any) -> None:
        super().__init__(*labels)
        self.operation, self.inputs = operation, inputs

    def fetch(self) -> None:
        """Compute it after its inputs.

        Raises:
            TracerError: there is no result, or the numbers do not fit into memory.
        """
        needed = self._needed()
        if self.shape and self.shape[0] >= MANY_ROWS:
            memory.check_memory([value for value in needed if not value.role.to_weights])
        to_weights: list[LazyResult] = []
        with self.lazy_context.arithmetic.context():
            reports = progress.is_shown()  # asked once: there may be thousands
            for done, value in enumerate(needed):
                if reports:
                    progress.report(value.address, done, len(needed))
                value.keep(value._result())
                if value.role.to_weights and value is not self:
                    to_weights.append(value)
                elif value.role is WEIGHTS:
                    for each in to_weights:  # computed again if they are shown
                        each.forget()
                    to_weights.clear()

    def keep(self, numbers: Array) -> None:
        """Keep the numbers."""
        self.numbers = self.computed = numbers
        self.is_ready = True

    def again(self, inputs: tuple[Value, ...]) -> LazyResult:
        """Return the result of the same operation for other inputs."""
        labels = self.role, self.place, self.address, self.axes, self.form, self.lazy_context
        return type(self)(self.operation, inputs, *labels)

    def forget(self) -> None:
        """Free the memory of the numbers."""
        del self.numbers, self.computed
        self.is_ready = False

    def _needed(self) -> list[LazyResult]:
        """What has to be computed, itself last; not found by recursion: there may be thousands."""
        order: dict[LazyResult, None] = {}
        waiting = [self]
        while waiting:
            value = waiting[-1]
            for each in value.inputs:
                if isinstance(each, LazyResult) and not each.is_ready and each not in order:
                    waiting.append(each)
            if waiting[-1] is value:
                order[waiting.pop()] = None
        return list(order)

    def read_words(self, row: int, words: list[int]) -> Array:
        """Return the numbers of some words in a row of logits; the others are not computed."""
        if self.is_ready:
            return self.numbers[row, words]

        def some(of: Value) -> Array:
            if isinstance(of, LazyResult) and of.role in OF_WORDS:
                return of.read_words(row, words)[np.newaxis]
            if of.per_token:
                return of.numbers[row : row + 1]
            columns = [words if axis.name == WORD else slice(None) for axis in of.axes]
            operand = self._operand(of)
            return operand[tuple(columns)] if columns else operand

        with self.lazy_context.arithmetic.context():
            return np.asarray(self._computed([some(value) for value in self.inputs])[0])

    def _result(self) -> Array:
        return self._computed([self._operand(value) for value in self.inputs])

    def _operand(self, value: Value) -> Array:
        return value.operand(self.operation) if type(value) is LazyTensor else value.numbers

    def _computed(self, arrays: list[Array]) -> Array:
        """The result for these operands, which may be some rows of the inputs."""
        context = self.lazy_context
        try:
            return result(context.arithmetic, self.operation, arrays, self.axes, no_rounding)
        except ArithmeticError as error:
            problem = no_result(error, self.address, self.place, self.inputs, context.pinned)
            raise TracerError(*context.located([problem])) from None


class LazyRows(LazyResult):
    """A result for words: each row follows from the same row of the inputs and can be read alone.

    A vocabulary is wide, and few of many rows are shown.
    """

    __slots__ = ("rows",)

    def __init__(self, *recorded: Any) -> None:
        super().__init__(*recorded)
        self.rows: dict[int, Any] = {}

    def fetch(self) -> None:
        """Compute all rows, some at once if each gives one number or one word."""
        if len(self.axes) > 1:
            super().fetch()
            return
        begins = range(0, self.shape[0], MANY_ROWS)
        parts = [self._some(slice(begin, begin + MANY_ROWS))[self] for begin in begins]
        self.numbers = self.computed = np.concatenate(parts)
        self.is_ready = True

    def read(self, index: Along) -> Any:
        """Return a row or a number of it, computed with the same row of what it follows from."""
        row = index[0]
        if self.is_ready or isinstance(row, slice):
            return self.numbers[index]
        if row not in self.rows:
            for value, numbers in self._some(slice(row, row + 1)).items():
                value.rows[row] = numbers[0]
        return self.rows[row][index[1:]] if index[1:] else self.rows[row]

    def read_computed(self, row: int) -> Any:
        """Return a row."""
        return self.read((row,))

    def _some(self, rows: slice) -> dict[LazyRows, Array]:
        """Compute some rows, and the same rows of the values that they follow from."""
        found: dict[LazyRows, Array] = {}

        def some(value: LazyRows, of: Value) -> Array:
            if isinstance(of, LazyRows) and of in found:
                return found[of]
            return of.numbers[rows] if of.per_token else value._operand(of)

        for value in self._needed():
            if isinstance(value, LazyRows):
                arrays = [some(value, each) for each in value.inputs]
                with self.lazy_context.arithmetic.context():
                    found[value] = value._computed(arrays)
        return found


@dataclass(frozen=True)
class Patch:
    """A value of another pass that replaces one of this pass: all of it, or pairs of rows."""

    other: Value
    rows: tuple[tuple[int, int], ...] | None
    """The row here, and the row there; None for all of it."""

    def apply(self, own: Value) -> Value:
        """Return a value of this pass with the other's numbers."""
        form = own.form if own.form is self.other.form else Form.ROUNDED_FOR_PRINT
        numbers = self.replaced(own.numbers, self.other.numbers)
        computed = self.replaced(own.computed, self.other.computed)
        return Value(own.role, own.place, own.address, numbers, own.axes, form, computed)

    def replaced(self, own: Array | None, other: Array) -> Array:
        """Return an array with the other's rows."""
        if self.rows is None:
            return other
        changed = np.array(own)
        for here, there in self.rows:
            changed[here] = other[there]
        return changed


class LazyPatched(LazyValue):
    """A value with numbers of another pass."""

    __slots__ = ("own", "patch")

    def __init__(self, own: Value, patch: Patch, lazy_context: LazyContext) -> None:
        super().__init__(own.role, own.place, own.address, own.axes, own.form, lazy_context)
        self.own, self.patch = own, patch

    def fetch(self) -> None:
        """Compute both values, and keep the numbers."""
        own = self.own.numbers if self.patch.rows is not None else None
        self.numbers = self.computed = self.patch.replaced(own, self.patch.other.numbers)
        self.is_ready = True
