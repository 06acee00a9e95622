"""The tape: every value of a pass with its address, and the operation that computed it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias, get_args

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.axes import Axes
from tracer.decoder.elementwise import Mask
from tracer.decoder.lazy import (
    MANY_ROWS,
    LazyContext,
    LazyPatched,
    LazyResult,
    LazyRows,
    LazyTensor,
    Patch,
)
from tracer.decoder.no_result import no_result
from tracer.decoder.pencil import Pencil
from tracer.decoder.pinned import (
    MisfitError,
    filled,
    form_of,
    given_rows,
    operation_of,
    operation_of_rows,
)
from tracer.decoder.results import result
from tracer.decoder.value import TOKEN, Form, Value
from tracer.errors import Located, Problem, TracerError
from tracer.formula.arithmetic import ON_DEMAND, SHAPES, Arithmetic, Array, RoundPart, no_rounding
from tracer.names import closest
from tracer.scenario.given import GivenRows
from tracer.scenario.model import GRADIENT

_GIVEN, _PATCHED = op.Given(), op.Pinned()

_MOVED, _CHOSEN = get_args(op.Moved), frozenset(get_args(op.Chosen))

Overrides: TypeAlias = Mapping[str, Mapping[tuple[int, ...], Decimal]]
"""Single numbers, by address and index, that replace computed ones."""

_AS_THEY_ARE, _ROUNDED = Form.AS_THEY_ARE, Form.ROUNDED_FOR_PRINT
"""Looking up an enum member is slow in Python 3.11, and each value needs two."""


@dataclass(eq=False, slots=True)
class Record:
    """One recorded operation; a pinned value has the `inputs` it would be computed from."""

    operation: op.Operation
    inputs: tuple[Value, ...]
    output: Value

    def of_row(self, row: int) -> Record:
        """The record of one row: a computed row of a value with given rows has its operation."""
        given = self.operation
        if not isinstance(given, op.Pinned) or given.computed is None:
            return self
        is_given = given.given_rows is None or row in given.given_rows
        return self if is_given else Record(given.computed, self.inputs, self.output)


@dataclass(eq=False)
class Tape:
    """Records a pass inside `computing()`, with one arithmetic and the pencil's rounding.

    A value at a `pinned` address is taken from there. `overrides` replace single computed numbers.
    """

    arithmetic: Arithmetic
    pencil: Pencil
    pinned: Mapping[str, Any] = field(default_factory=dict)
    overrides: Overrides = field(default_factory=dict)
    located: Located = tuple
    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    routing: roles.Routing = field(default_factory=dict)
    """The networks that tokens go to, where their logits do not decide."""
    address_in_file: Mapping[str, str] = field(default_factory=dict)
    """The scenario's address of a value pinned in another example of a batch."""
    patches: Mapping[str, Patch] = field(default_factory=dict)
    """Values of another pass, by address, that replace those of this pass."""
    unpatched: Mapping[str, Record] = field(default_factory=dict)
    """The same pass without the patches: what they do not change is taken from it."""
    given_anew: Container[str] = ()
    """The addresses that are pinned here, but not in the unpatched pass."""
    standardizes: bool = False
    """Whether norms record their numbers before γ and β, too."""
    place: roles.Place = field(default_factory=roles.Place)
    _prefix: str = ""
    """The prefix of addresses at the place, which every value needs."""
    parameters: dict[str, Value] = field(default_factory=dict)
    """Parameters, and what is computed of them, by address; all examples of a batch share them."""

    def computing(self) -> AbstractContextManager[Any]:
        """The context of the operations, to be entered once for a pass."""
        return self.arithmetic.context()

    def at(
        self,
        *,
        layer: int | None = None,
        sub_layer: roles.SubLayer | None = None,
        head: int | None = None,
        block: int | None = None,
        token: int | None = None,
        network: roles.Network | None = None,
        rotary: int | None = None,
        tower_norm: roles.TowerNorm | None = None,
        encoder: bool = False,
    ) -> AbstractContextManager[None]:
        """Values recorded inside are at this part of the present place: a layer, a head."""
        outer = self.place
        return self.within(
            roles.Place(
                layer or outer.layer,
                sub_layer or outer.sub_layer,
                head or outer.head,
                block,
                token,
                rotary,
                tower_norm,
                encoder or outer.encoder,
                example=outer.example,
                network=network or outer.network,
            )
        )

    @contextmanager
    def within(self, place: roles.Place) -> Iterator[None]:
        """Values recorded inside are at this place."""
        outer, prefix = self.place, self._prefix
        self.place, self._prefix = place, place.prefix
        try:
            yield
        finally:
            self.place, self._prefix = outer, prefix

    @cached_property
    def _lazy_context(self) -> LazyContext:
        return LazyContext(self.arithmetic, self.pinned, self.located)

    def address(self, role: roles.Role) -> str:
        """The address of a role here."""
        return self.place.address(role)

    def given(self, role: roles.Role, numbers: object, axes: Axes) -> Value:
        """Record numbers of the scenario."""
        address = self._prefix + role.name
        if role.parameter and self.place.example:
            return self.shared(role)
        if role.parameter and self.place.sub_layer == "lens" and role.name in self.parameters:
            return self.parameters[role.name]  # the lens reads with those of the pass
        if self.unpatched and (unchanged := self._unchanged(address, ())):
            return self._append(unchanged.operation, (), unchanged.output)
        if address in self.pinned and (pinned := self._pinned(role, address, axes)):
            return self._recorded(operation_of(self.pinned[address]), (), pinned)
        # Typed numbers are printed as typed; an array with a shape comes from a file.
        from_file = hasattr(numbers, "shape")
        form = _ROUNDED if from_file else _AS_THEY_ARE
        if from_file and self.arithmetic is ON_DEMAND:
            stored = LazyTensor(numbers, role, self.place, address, axes, form, self._lazy_context)
            return self._recorded(_GIVEN, (), stored)
        array = np.array(numbers, object) if role.words else self.arithmetic.array(numbers)
        numbers = array if not self.overrides else self._with_overrides(address, array)
        typed = Value(role, self.place, address, numbers, axes, form, array)
        return self._recorded(_GIVEN, (), typed)

    def shared(self, role: roles.Role) -> Value:
        """A parameter, or what is computed of parameters: all examples of a batch share it."""
        address, value = self.address(role), self.parameters[self.place.base_address(role)]
        if self.pinned.get(address) is not self.pinned.get(value.address):
            self._misfit(value.address, "given in one example, and all have the same parameters")
        return value

    def record(self, role: roles.Role, operation: op.Forward, *inputs: Value) -> Value:
        """Compute an operation of the pass and record its result.

        Raises:
            TracerError: a division by zero, or a number beyond all bounds.
        """
        return self._computed(role, operation, operation.axes(*[x.axes for x in inputs]), inputs)

    def record_as(
        self, role: roles.Role, operation: op.Recorded, axes: Axes, *inputs: Value
    ) -> Value:
        """The same for a result with given axes, such as a gradient.

        Raises:
            TracerError: there is no result.
        """
        return self._computed(role, operation, axes, inputs)

    def _computed(
        self, role: roles.Role, operation: op.Recorded, axes: Axes, inputs: tuple[Value, ...]
    ) -> Value:
        address = self._prefix + role.name
        if self.unpatched and (unchanged := self._unchanged(address, inputs)):
            return self._append(unchanged.operation, inputs, unchanged.output)
        if address in self.pinned and (pinned := self._pinned(role, address, axes)):
            return self._recorded(operation_of(self.pinned[address]), inputs, pinned)
        is_moved = isinstance(operation, _MOVED)
        form = _form_of_moved(operation, inputs) if is_moved else _ROUNDED
        if role.words:
            form = _AS_THEY_ARE
        if self.arithmetic is ON_DEMAND:
            place, lazy_context = self.place, self._lazy_context
            kind = LazyRows if role in roles.OF_WORDS and _has_many_rows(axes) else LazyResult
            waiting = kind(operation, inputs, role, place, address, axes, form, lazy_context)
            return self._recorded(operation, inputs, waiting)
        is_chosen = type(operation) in _CHOSEN
        arrays = [value.computed if is_chosen else value.numbers for value in inputs]
        part: RoundPart = no_rounding
        rounds = self.pencil.rounds
        if rounds:
            said_at = address if self.place.example is None else self.place.base_address(role)
            part = self.pencil.part(said_at)
        try:
            numbers = computed = result(self.arithmetic, operation, arrays, axes, part)
        except ArithmeticError as error:
            problem = no_result(error, address, self.place, inputs, self.pinned)
            raise TracerError(problem) from None
        if rounds and not role.words:
            if is_moved:
                kept = self.pencil.chosen_copy(role, said_at, computed)
            else:
                operand = inputs[0].numbers if inputs else None
                kept = self.pencil.kept(role, said_at, computed, operand)
            if kept is not None:
                numbers, form = kept, _AS_THEY_ARE
        if self.overrides:
            numbers = self._with_overrides(address, numbers)
        done = Value(role, self.place, address, numbers, axes, form, computed)
        return self._recorded(operation, inputs, done)

    def check_pinned(self) -> None:
        """Raise a TracerError for pinned numbers of a wrong shape or at an unknown address."""
        if not self.pinned:
            return
        values = [record.output for record in self.records]
        known = {value.address: value.role for value in values if value.place.phase == "forward"}
        numbers = [
            value.address
            for value in values
            if value.address in known and not value.place.example and not value.role.words
        ]
        for address in self.pinned:
            # The examples of a batch share the loss and the parameters.
            in_file = self.address_in_file.get(address, address)
            of = address.removeprefix(GRADIENT)
            if of != address and of in known and not known[of].words:
                continue  # where a backward pass begins
            if address in known and known[address].words:
                self._misfit(address, "these are words; only numbers can be given")
            elif not (address in known or in_file in known or self._is_left_out(address)):
                prefix = GRADIENT if in_file.startswith(GRADIENT) else ""
                near = closest(in_file, [f"{prefix}{each}" for each in numbers])
                self._misfit(address, f"given, but no such value exists{near}")
        if self.problems:
            raise TracerError(*self.problems)

    def _is_left_out(self, address: str) -> bool:
        """Whether it is part of a pinned value of a file, so that it is not computed."""
        whole, _, _ = address.rpartition(".")
        return isinstance(self.pinned[address], np.ndarray) and whole in self.pinned

    def _misfit(self, address: str, message: str) -> None:
        in_file = self.address_in_file.get(address, address)
        problem = Problem(message, address=in_file, yaml_path=("given", in_file))
        if problem not in self.problems:
            self.problems.append(problem)

    def _recorded(self, operation: op.Operation, inputs: tuple[Value, ...], value: Value) -> Value:
        if self.patches and (patch := self.patches.get(value.address)):
            operation, value = _PATCHED, self._patched(value, patch)
        if self.pinned and isinstance(given := self.pinned.get(value.address), GivenRows):
            operation, value = self._with_given_rows(given, operation, value)
        return self._append(operation, inputs, value)

    def _append(self, operation: op.Operation, inputs: tuple[Value, ...], value: Value) -> Value:
        """Record a value as it is."""
        self.records.append(Record(operation, inputs, value))
        if value.role.parameter or value.role.of_parameters:
            self.parameters[value.address] = value
        return value

    def _unchanged(self, address: str, inputs: tuple[Value, ...]) -> Record | None:
        """The record of the unpatched pass, if it has the same inputs and is not patched."""
        found = self.unpatched.get(address)
        is_same = found and found.inputs == inputs and address not in self.patches
        return found if is_same and address not in self.given_anew else None

    def _patched(self, value: Value, patch: Patch) -> Value:
        lazy = self.arithmetic is ON_DEMAND
        return LazyPatched(value, patch, self._lazy_context) if lazy else patch.apply(value)

    def _with_given_rows(
        self, given: GivenRows, operation: op.Operation, value: Value
    ) -> tuple[op.Operation, Value]:
        """The value with the given rows, and how it is computed; unchanged if they do not fit."""
        try:
            patch = given_rows(given, value, self.arithmetic, rounds=self.pencil.rounds)
        except MisfitError as error:
            self._misfit(value.address, str(error))
            return operation, value
        return operation_of_rows(given, patch, operation), self._patched(value, patch)

    def _with_overrides(self, address: str, numbers: Array) -> Array:
        if address not in self.overrides:
            return numbers
        changed = np.array(numbers)
        for at, number in self.overrides[address].items():
            changed[at] = number
        return changed

    def _pinned(self, role: roles.Role, address: str, axes: Axes) -> Value | None:
        """The value pinned at an address, if its shape fits."""
        if role.words:
            return None
        pinned = self.pinned[address]
        if isinstance(pinned, GivenRows):
            pinned = pinned.whole
        if pinned is None:
            return None
        if self.arithmetic is SHAPES and axes and axes[0].positions is not None:
            return None  # which tokens a network gets is only known from the numbers
        try:
            array = filled(pinned, role, tuple(len(axis.labels) for axis in axes))
        except MisfitError as error:
            self._misfit(address, str(error))
            return None
        numbers = self.arithmetic.array(array)
        form = form_of(pinned, rounds=self.pencil.rounds)
        return Value(role, self.place, address, numbers, axes, form, numbers)


def _has_many_rows(axes: Axes) -> bool:
    """Whether there are more tokens than texts show rows of; the rows of a lens are all shown."""
    return axes[0].name == TOKEN and len(axes[0].labels) > MANY_ROWS


def _form_of_moved(operation: op.Recorded, inputs: tuple[Value, ...]) -> Form:
    if isinstance(operation, Mask):
        return inputs[0].form  # the scores' form; the added mask has no digits of its own
    as_they_are = all(value.form is _AS_THEY_ARE for value in inputs)
    return _AS_THEY_ARE if as_they_are else _ROUNDED
