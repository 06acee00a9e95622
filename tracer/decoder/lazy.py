"""Values whose numbers are read or computed, with those they depend on, when first used."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from tracer.console import progress
from tracer.dataclass import frozen
from tracer.decoder import memory
from tracer.decoder.axes import Axes
from tracer.decoder.no_result import no_result
from tracer.decoder.operations import Recorded
from tracer.decoder.results import result
from tracer.decoder.roles import Place, Role
from tracer.decoder.value import Form, Value
from tracer.errors import Located, TracerError
from tracer.formula.arithmetic import Arithmetic, Array, no_rounding

MANY_ROWS = 64
"""Whether fewer rows fit into memory is not asked: the weights of a model are larger."""


@frozen
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

    def operand(self) -> Array:
        """The numbers for one operation."""
        is_kept = self.is_ready or self.place.layer is None or not self.role.parameter
        return self.numbers if is_kept else self.lazy_context.arithmetic.array(self.stored)


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
            memory.check(needed)
        with self.lazy_context.arithmetic.context():
            reports = progress.is_shown()  # asked once: there may be thousands
            for done, value in enumerate(needed):
                if reports:
                    progress.report(value.address, done, len(needed))
                value.numbers = value.computed = value._result()
                value.is_ready = True

    def _needed(self) -> list[LazyResult]:
        """What has to be computed, itself last; not found by recursion: there may be thousands."""
        order: dict[LazyResult, None] = {}
        waiting = [self]
        while waiting:
            value = waiting[-1]
            for each in value.inputs:
                if type(each) is LazyResult and not each.is_ready and each not in order:
                    waiting.append(each)
            if waiting[-1] is value:
                order[waiting.pop()] = None
        return list(order)

    def _result(self) -> Array:
        inputs = self.inputs
        arrays = [v.operand() if type(v) is LazyTensor else v.numbers for v in inputs]
        try:
            return result(
                self.lazy_context.arithmetic, self.operation, arrays, self.axes, no_rounding
            )
        except ArithmeticError as error:
            problem = no_result(error, self.address, self.place, inputs, self.lazy_context.pinned)
            raise TracerError(*self.lazy_context.located([problem])) from None
