"""The update: every parameter moved a little against its gradient; each line is on the tape.

SGD with momentum (Polyak 1964), Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019),
clipping by norm (Pascanu, Mikolov and Bengio 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tracer.decoder import elementwise as el, roles
from tracer.decoder.operations import Copy, Recorded
from tracer.decoder.tape import Tape
from tracer.decoder.training_operations import AccumulateGradients, SumOfSquares
from tracer.decoder.value import Value
from tracer.frozen import frozen
from tracer.scenario.optimizer import Optimizer

ONE = Decimal(1)


@frozen
class Learned:
    """A parameter and its gradient."""

    parameter: Value
    gradient: Value


@frozen
class OptimizerState:
    """What an optimizer keeps of the steps before: how many, and its means by their addresses."""

    steps: int = 0
    kept: Mapping[str, Value] = field(default_factory=dict)


def update(
    tape: Tape, optimizer: Optimizer, learned: Sequence[Learned], state: OptimizerState
) -> tuple[dict[Value, Value], OptimizerState]:
    """The new numbers of every parameter, and what the next step needs to know of this one."""
    if optimizer.clip is not None:
        learned = _clipped(tape, optimizer.clip, learned)
    step = _Update(tape, optimizer, state)
    new = {each.parameter: step.new(each.parameter, each.gradient) for each in learned}
    return new, OptimizerState(state.steps + 1, step.kept)


def _clipped(tape: Tape, largest: Decimal, learned: Sequence[Learned]) -> Sequence[Learned]:
    """The gradients, shrunk together where their norm is larger than it may be."""
    squares = [_squares(tape, each) for each in learned]
    with tape.within(roles.Place(phase="gradient")):
        total = tape.record_as(roles.SQUARES, AccumulateGradients(), (), *squares)
        norm = tape.record(roles.GRADIENT_NORM, el.SquareRoot(), total)
        if norm.numbers <= tape.arithmetic.array(largest):
            return learned
        factor = tape.record(
            roles.SHRINK, el.Divide(), tape.given(roles.LARGEST_NORM, largest, ()), norm
        )
    return [replace(each, gradient=_shrunk(tape, each, factor)) for each in learned]


def _squares(tape: Tape, each: Learned) -> Value:
    with tape.within(each.gradient.place):
        role = roles.derived(each.parameter.role, "squares")
        return tape.record_as(role, SumOfSquares(), (), each.gradient)


def _shrunk(tape: Tape, each: Learned, factor: Value) -> Value:
    g = each.gradient
    with tape.within(g.place):
        return tape.record_as(
            roles.derived(each.parameter.role, "clipped"), el.Times(), g.axes, g, factor
        )


@dataclass
class _Update:
    tape: Tape
    optimizer: Optimizer
    state: OptimizerState
    kept: dict[str, Value] = field(default_factory=dict)

    def new(self, w: Value, g: Value) -> Value:
        """W - η · its direction."""
        with self.tape.within(replace(w.place, phase="update")):
            match self.optimizer.kind:
                case "sgd":
                    direction = self.sgd(w, g)
                case "adam":
                    direction = self.adam(w, self.decayed(w, g))
                case "adamw":
                    direction = self.adam(w, g)
                    w = self.shrunk(w)
            return self.record(
                w, "new", el.Combine(ONE, -self.optimizer.learning_rate), w, direction
            )

    def sgd(self, w: Value, g: Value) -> Value:
        """g + λ W; with momentum, μ times the velocity before, and that."""
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
        v = self.keep(
            w,
            "second_moment",
            el.Scale(1 - two),
            el.Combine(two, 1 - two),
            squared,
        )
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
        """Record what the next step needs: from the one before, where there is one."""
        before = self.state.kept.get(self.tape.address(roles.derived(_of(w), derivation)))
        kept = (
            self.record(w, derivation, first, g)
            if before is None
            else self.record(w, derivation, later, before, g)
        )
        self.kept[kept.address] = kept
        return kept

    def record(
        self, w: Value, derivation: roles.Derivation, operation: Recorded, *inputs: Value
    ) -> Value:
        return self.tape.record_as(roles.derived(_of(w), derivation), operation, w.axes, *inputs)


def _of(w: Value) -> roles.Role:
    """The parameter's role, also of one that was decayed."""
    return w.role.of or w.role
