"""The update of every parameter by its gradient, recorded on the tape.

SGD with momentum (Polyak 1964), Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019),
clipping by norm (Pascanu, Mikolov and Bengio 2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tracer.decoder import elementwise as el, roles
from tracer.decoder.operations import AccumulateGradients, Copy, Recorded, SumOfSquares
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.optimizer import Optimizer

ONE = Decimal(1)


@dataclass(frozen=True)
class OptimizerState:
    """The number of earlier steps, and the moments and velocities of the last one by address."""

    steps: int = 0
    kept: Mapping[str, Value] = field(default_factory=dict)


def update(
    tape: Tape, optimizer: Optimizer, gradients: Mapping[Value, Value], state: OptimizerState
) -> tuple[dict[Value, Value], OptimizerState]:
    """Record the update of each parameter by its gradient; return new values and next state."""
    if optimizer.clip is not None and gradients:
        gradients = _clipped(tape, optimizer.clip, gradients)
    step = _Update(tape, optimizer, state)
    new = {w: step.new(w, g) for w, g in gradients.items()}
    return new, OptimizerState(state.steps + 1, step.kept)


def _clipped(
    tape: Tape, largest: Decimal, gradients: Mapping[Value, Value]
) -> Mapping[Value, Value]:
    """The gradients, all scaled by the same factor if their norm is above `largest`."""

    def record(w: Value, g: Value, name: roles.Derivation, by: Recorded, *others: Value) -> Value:
        with tape.within(g.place):
            axes = g.axes if others else ()
            return tape.record_as(roles.derived(w.role, name), by, axes, g, *others)

    squares = [record(w, g, "squares", SumOfSquares()) for w, g in gradients.items()]
    with tape.within(roles.Place(phase="gradient")):
        total = tape.record_as(roles.SQUARES, AccumulateGradients(), (), *squares)
        norm = tape.record(roles.GRADIENT_NORM, el.SquareRoot(), total)
        if norm.numbers <= tape.arithmetic.array(largest):
            return gradients
        most = tape.given(roles.LARGEST_NORM, largest, ())
        factor = tape.record(roles.SHRINK, el.Divide(), most, norm)
    return {w: record(w, g, "clipped", el.Times(), factor) for w, g in gradients.items()}


@dataclass(eq=False)
class _Update:
    tape: Tape
    optimizer: Optimizer
    state: OptimizerState
    kept: dict[str, Value] = field(default_factory=dict)

    def new(self, w: Value, g: Value) -> Value:
        """W - η · direction."""
        with self.tape.within(replace(w.place, phase="update")):
            match self.optimizer.kind:
                case "sgd":
                    direction = self.sgd(w, g)
                case "adam":
                    direction = self.adam(w, self.decayed(w, g))
                case "adamw":
                    direction = self.adam(w, g)
                    w = self.shrunk(w)
            step = el.Combine(ONE, -self.optimizer.learning_rate)
            return self.record(w, "new", step, w, direction)

    def sgd(self, w: Value, g: Value) -> Value:
        """g + λ W; with momentum, μ · the last velocity + g + λ W."""
        g, momentum = self.decayed(w, g), self.optimizer.momentum
        if not momentum:
            return g
        return self.keep(w, "velocity", Copy(), el.Combine(momentum, ONE), g)

    def adam(self, w: Value, g: Value) -> Value:
        """m̂ / (√v̂ + ε)."""
        adam, steps = self.optimizer, self.state.steps + 1
        one, two = adam.beta_1, adam.beta_2
        m = self.keep(w, "first_moment", el.Scale(1 - one), el.Combine(one, 1 - one), g)
        squared = self.record(w, "squared", el.Square(), g)
        v = self.keep(w, "second_moment", el.Scale(1 - two), el.Combine(two, 1 - two), squared)
        mean = self.record(w, "unbiased_first", el.BiasCorrection(one, steps), m)
        spread = self.record(w, "unbiased_second", el.BiasCorrection(two, steps), v)
        return self.record(w, "direction", el.Ratio(adam.epsilon), mean, spread)

    def decayed(self, w: Value, g: Value) -> Value:
        """g + λ W."""
        decay = self.optimizer.weight_decay
        return self.record(w, "decayed", el.Combine(ONE, decay), g, w) if decay else g

    def shrunk(self, w: Value) -> Value:
        """(1 - η λ) W."""
        optimizer = self.optimizer
        if not optimizer.weight_decay:
            return w
        factor = 1 - optimizer.learning_rate * optimizer.weight_decay
        return self.record(w, "decayed", el.Scale(factor), w)

    def keep(
        self, w: Value, derivation: roles.Derivation, first: Recorded, later: Recorded, g: Value
    ) -> Value:
        """Record what the next step needs: `first` of g, or `later` of the last step's and g."""
        before = self.state.kept.get(self.tape.address(roles.derived(_of(w), derivation)))
        operation, inputs = (later, (before, g)) if before else (first, (g,))
        kept = self.record(w, derivation, operation, *inputs)
        self.kept[kept.address] = kept
        return kept

    def record(
        self, w: Value, derivation: roles.Derivation, operation: Recorded, *inputs: Value
    ) -> Value:
        return self.tape.record_as(roles.derived(_of(w), derivation), operation, w.axes, *inputs)


def _of(w: Value) -> roles.Role:
    return w.role.of or w.role
