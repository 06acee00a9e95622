"""A pass of a scenario, and its variants with another rounding or one changed setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from typing import Any

from tracer.check.updates import OF_OPTIMIZER
from tracer.check.variants import OF_PROGRAMS, SLIGHT, VARIANTS, Change
from tracer.decoder.comparison import Floats
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.loss import has_loss
from tracer.decoder.roles import Routing
from tracer.decoder.routing import columns_of_largest, routing_of
from tracer.decoder.tape import Overrides
from tracer.decoder.training import first_step
from tracer.decoder.value import Entry, Index
from tracer.errors import TracerError
from tracer.formula.arithmetic import ON_DEMAND, SHAPES
from tracer.lesson.texts.origins import Origins
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded
from tracer.scenario.model import GRADIENT, UPDATE, Scenario
from tracer.scenario.rounding import MOST_DECIMALS, Rounding

Named = tuple[str, Trace]

MOST_WORKING = 4
NO_RESULT = (TracerError, ArithmeticError, ValueError, TypeError, AssertionError)
"""What is raised by a change of a program that does not fit a scenario."""


def is_trained(address: str) -> bool:
    """Return whether a value belongs to a backward pass or to an optimizer's step."""
    return address.startswith((GRADIENT, UPDATE))


def missing_loss(scenario: Scenario) -> str:
    """Return what a scenario needs for gradients, which are those of a loss; "" if it has it."""
    if scenario.training or scenario.upstream or has_loss(scenario):
        return ""
    words = "targets" if scenario.vocabulary else "vocabulary, unembedding and targets"
    return f"gradients need a loss: add {words} to the scenario, or loss: {{kind: squared, …}}"


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass of a scenario, with its variants."""

    loaded: Loaded
    options: PassOptions

    @cached_property
    def trace(self) -> Trace:
        """The scenario's own pass; only shapes if it has no numbers.

        Raises:
            TracerError: it has no result.
        """
        with self.loaded.locating_problems():
            return self.traced(self.loaded.scenario)

    @cached_property
    def on_demand(self) -> Trace:
        """The pass in floats, of which only what is read is computed.

        Raises:
            TracerError: it has no result.
        """
        return self._computed_on_demand(self.loaded.scenario)

    @cached_property
    def programs(self) -> tuple[Named, ...]:
        """The pass in floats, with each variant in which programs differ, if it has a result."""
        changes = (*self._of_optimizer, *VARIANTS, *OF_PROGRAMS)
        return tuple(self._changed(changes, self._computed_on_demand, NO_RESULT))

    @cached_property
    def slight(self) -> tuple[Named, ...]:
        """Those of them that change numbers by little."""
        return tuple(self._changed(SLIGHT, self._computed_on_demand, NO_RESULT))

    def _changed(
        self,
        changes: Sequence[tuple[str, Change]],
        compute: Callable[[Scenario], Trace],
        no_result: tuple[type[Exception], ...] = (TracerError,),
    ) -> Iterator[Named]:
        """Yield the pass with each change that has an effect, and a result."""
        scenario = self.loaded.scenario
        for name, change in changes:
            try:
                if (other := change(scenario)) is not scenario:
                    yield name, compute(other)
            except no_result:
                continue

    def _computed_on_demand(self, scenario: Scenario) -> Trace:
        return self._computed(scenario, replace(self.options, arithmetic=ON_DEMAND))

    def _computed(self, scenario: Scenario, options: PassOptions) -> Trace:
        """Compute a forward pass, or with gradients the first step of a training."""
        compute = first_step if options.gradients else trace
        return compute(self.loaded.name, scenario, options)

    @cached_property
    def order(self) -> dict[str, int]:
        """The index of each address in the order of computation."""
        return {address: place for place, address in enumerate(self.trace.values)}

    @cached_property
    def origins(self) -> Origins:
        """The operands of its numbers."""
        return Origins(self.trace)

    @cached_property
    def roundings(self) -> tuple[Named, ...]:
        """Passes with other roundings; none for a model whose numbers are not rounded."""
        scenario = self.loaded.scenario
        if scenario.on_demand or scenario.arithmetic == "float64":
            return ()
        compute = partial(self.traced, routing=self.routing)
        return tuple(self._changed([*_roundings(scenario.rounding)], compute))

    @cached_property
    def routing(self) -> Routing:
        """The networks of each token, which roundings and the text's own numbers do not change."""
        return routing_of(self.trace.values.values())

    def routed_by(self, numbers: Mapping[str, Floats]) -> Pass:
        """Return the pass with the networks that a program's logits choose for each token.

        Logits that are nearly equal may be in another order in a program that rounds them.
        """
        routing = dict(self.routing)
        for logits, own in self.routing.items():
            if logits in numbers:
                routing[logits] = columns_of_largest(numbers[logits], max(map(len, own)))
        if routing == self.routing:
            return self
        return Pass(self.loaded, replace(self.options, routing=routing))

    @cached_property
    def unrounded(self) -> Trace:
        """The pass without intermediate rounding, if it has a result."""
        rounded = [trace for _, trace in self.roundings if not trace.pencil.rounds]
        return rounded[0] if rounded else self.trace

    @cached_property
    def variants(self) -> tuple[Named, ...]:
        """Passes with one setting changed in which texts differ."""
        if self.loaded.scenario.on_demand:
            return ()
        return tuple(self._changed((*self._of_optimizer, *VARIANTS), self.traced))

    @property
    def _of_optimizer(self) -> tuple[tuple[str, Change], ...]:
        """The changes of the optimizer, if the pass trains."""
        return OF_OPTIMIZER if self.options.gradients else ()

    def worked_on(self, instead: Overrides) -> Trace | None:
        """Return the pass with some numbers replaced; None if it has no result."""
        if self.loaded.scenario.on_demand:
            return None
        try:
            return self.traced(self.loaded.scenario, instead, self.routing)
        except (TracerError, ArithmeticError):  # numbers that no scenario would be allowed
            return None

    def traced(
        self, scenario: Scenario, instead: Overrides | None = None, routing: Routing | None = None
    ) -> Trace:
        """Return the pass of another scenario; `instead` replaces some of its numbers.

        Raises:
            TracerError: it has no result.
        """
        arithmetic = None if scenario.has_numbers else SHAPES
        options = replace(
            self.options,
            arithmetic=arithmetic,
            overrides=instead,
            routing=routing or self.options.routing,
            located=self.loaded.located,
        )
        return self._computed(scenario, options)


def overrides(numbers: Mapping[Entry, Decimal]) -> Overrides:
    """Return numbers of entries as those that replace a pass's own."""
    found: dict[str, dict[Index, Decimal]] = {}
    for (value, at), number in numbers.items():
        found.setdefault(value.address, {})[at] = number
    return found


def _roundings(own: Rounding) -> Iterator[tuple[str, Change]]:
    """Yield other roundings: another carry mode, other decimals, other working decimals."""
    for carry in Carry:
        if carry is not own.carry:
            yield f"with carry: {carry}", _rounded(carry=carry)
    for decimals in range(max(1, own.decimals - 1), min(MOST_DECIMALS, own.decimals + 3)):
        if decimals != own.decimals:
            yield f"with {decimals} decimals", _rounded(decimals=decimals)
    for working in range(MOST_WORKING + 1) if own.carry is Carry.STEP else ():
        if working != own.working:
            yield f"with working: {working}", _rounded(working=working)


def _rounded(**settings: Any) -> Change:
    """Return a change of the settings of rounding."""

    def change(scenario: Scenario) -> Scenario:
        rounding = scenario.rounding.model_copy(update=settings)
        return scenario.model_copy(update={"rounding": rounding})

    return change
