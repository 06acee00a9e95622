"""The way back: the gradient of the loss at every value that leads to something learned.

Reverse mode (Linnainmaa 1970; Rumelhart, Hinton and Williams 1986): from the loss back, each
operation hands the gradient of its result on to its inputs. Every line of it is on the tape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

from tracer.decoder import elementwise as el, operations as op, roles, training_operations as learn
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.frozen import frozen

LEARNED = (roles.EMBEDDING, roles.POSITION, roles.ENCODER_OUTPUT)
"""Given numbers that have a gradient, besides the parameters."""

SIDES: tuple[roles.Derivation, ...] = ("left", "right", "third", "fourth")
"""Which operand of an operation a gradient is handed on to."""


@frozen
class GradientPath:
    """One way by which a value acts on the loss: what gives its part of the gradient.

    Where nothing is done to the gradient of the result, it is that gradient itself.
    """

    by: Record
    side: roles.Derivation
    operation: op.Recorded | None
    inputs: tuple[Value, ...]


def gradients(tape: Tape) -> dict[Value, Value]:
    """Record the gradient of the loss at all that leads to something learned; by that value.

    Raises:
        TracerError: no learned number acts on the loss, or the scenario pins a part of a softmax.
    """
    records = tuple(tape.records)
    losses, counted = _losses(records)
    back = _BackwardPass(tape, {record.output: record for record in records}, _learned(records))
    ways: dict[Value, list[GradientPath]] = defaultdict(list)
    found: dict[Value, Value] = {}
    for record in reversed(records):
        value = record.output
        if value in losses and isinstance(record.operation, el.NegativeLogLikelihood):
            handed = back.from_the_loss(record, record.operation, counted)
        elif value in ways:
            found[value] = gradient = back.gathered(value, ways.pop(value))
            handed = back.to_operands(record, gradient)
        else:
            continue
        for operand, way in handed:
            if operand in back.learned:
                ways[operand].append(way)
    if not found:
        message = "nothing is learned here: between the loss and the weights all is given"
        raise TracerError(Problem(message, address="loss", yaml_path=("given",)))
    return found


def _losses(records: Sequence[Record]) -> tuple[tuple[Value, ...], int]:
    """The losses of the tokens, one value for each example, and over how many the loss is the mean.

    A loss that is pinned is no mean of any.
    """
    loss = records[-1]
    if not isinstance(loss.operation, op.MeanOf):
        return (), 0
    producer = next(record for record in records if record.output is loss.inputs[0])
    joined = isinstance(producer.operation, op.Join)
    return producer.inputs if joined else loss.inputs, len(loss.operation.counted)


def _learned(records: Sequence[Record]) -> set[Value]:
    """The values that are learned, or that come from some that are."""
    found = set[Value]()
    for record in records:
        value, operation = record.output, record.operation
        is_given = isinstance(operation, op.Given) and (
            value.role.parameter or value.role in LEARNED
        )
        comes_from = not isinstance(operation, op.Pinned) and not found.isdisjoint(record.inputs)
        if is_given or comes_from:
            found.add(value)
    return found


@frozen
class _BackwardPass:
    tape: Tape
    producers: dict[Value, Record]
    learned: set[Value]

    def record(self, of: Value, role: roles.Role, operation: op.Recorded, *inputs: Value) -> Value:
        """Record a gradient, with the axes of the value that it is of."""
        with self.tape.within(replace(of.place, phase="gradient")):
            return self.tape.record_as(role, operation, of.axes, *inputs)

    def gathered(self, value: Value, ways: Sequence[GradientPath]) -> Value:
        """∂L/∂value: what its ways come to together."""
        role = roles.derived(value.role, "gradient")
        if len(ways) == 1:
            (way,) = ways
            return self.record(value, role, way.operation or op.Copy(), *way.inputs)
        return self.record(
            value, role, learn.AccumulateGradients(), *[self.along(value, way) for way in ways]
        )

    def along(self, value: Value, way: GradientPath) -> Value:
        """The gradient along one way of several."""
        if way.operation is None:
            return way.inputs[0]
        by = way.by.output
        with self.tape.within(replace(by.place, phase="gradient")):
            role = roles.derived(by.role, way.side)
            return self.tape.record_as(role, way.operation, value.axes, *way.inputs)

    def from_the_loss(
        self, record: Record, surprise: el.NegativeLogLikelihood, counted: int
    ) -> Iterator[tuple[Value, GradientPath]]:
        """∂L/∂z = (p - y) / n: softmax and cross-entropy together."""
        (p,) = record.inputs
        if p in self.learned:
            share = self.producers[p]
            operation = el.SoftmaxCrossEntropyGrad(surprise.columns, counted)
            yield self.exponents(share), GradientPath(record, "left", operation, (p,))

    def exponents(self, share: Record) -> Value:
        """The scores of a softmax, whose last step is on record.

        Their largest, which may be taken away first, changes no share.
        """
        exp, total = share.inputs
        if isinstance(self.producers[total].operation, op.Pinned):
            message = "a part of a softmax is given here, which nothing can be learned through"
            raise TracerError(
                Problem(message, address=total.address, yaml_path=("given", total.address))
            )
        scores = self.producers[exp].inputs[0]
        record = self.producers[scores]
        is_shifted = isinstance(record.operation, el.Subtract)
        return record.inputs[0] if is_shifted else scores

    def to_operands(self, record: Record, g: Value) -> Iterator[tuple[Value, GradientPath]]:
        """What an operation hands on to each of its inputs, g being the gradient of its result."""
        x = record.inputs

        def to(operand: int, operation: op.Recorded, *inputs: Value) -> tuple[Value, GradientPath]:
            return x[operand], GradientPath(record, SIDES[operand], operation, inputs)

        operation = record.operation
        assert not isinstance(operation, learn.OfTraining)
        match operation:
            case el.Add() | op.Concat() | op.Copy() | el.Mask() | el.Subtract():
                yield from self.passed_on(record, g)
            case op.MatMul():
                yield to(0, op.Dot(), g, x[1])
                yield to(1, learn.TransposedMatMul(), x[0], g)
                if x[2:]:
                    yield to(2, learn.ColumnTotal(), g)
            case op.Dot():
                yield to(0, op.MatMul(), g, x[1])
                yield to(1, learn.TransposedMatMul(), g, x[0])
            case el.Divide():
                yield to(0, el.Divide(), g, x[1])
            case el.DivideByRowSum():
                scores = self.exponents(record)
                yield (
                    scores,
                    GradientPath(
                        record,
                        "left",
                        el.Multiply(),
                        (record.output, self.above(record, g)),
                    ),
                )
            case el.Normalize():
                yield from self.through_norm(record, operation, g)
            case el.SquareRoot(epsilon, outside):
                slope = el.RootSlope(epsilon if outside else Decimal(0))
                yield to(0, slope, g, record.output)
            case op.Mean(sample):
                width = x[0].shape[1]
                yield to(0, el.BroadcastDivide(width - sample, width), g)
            case el.Square():
                yield to(0, el.TwiceProduct(), g, x[0])
            case el.Multiply():
                yield to(0, el.Multiply(), g, x[1])
                yield to(1, el.Multiply(), g, x[0])
            case el.Activate(function):
                role = roles.OPEN if function == "relu" else roles.SLOPE
                yield to(
                    0,
                    el.Multiply(),
                    g,
                    self.record(x[0], role, el.Slope(function), x[0]),
                )
            case op.Rotate(layout):
                yield to(0, learn.RotateBack(layout), g, x[1], x[2])
            case op.Given() | op.Pinned():
                return
            case (
                el.Exp()
                | op.Total()
                | op.Largest()
                | op.MeanOf()
                | op.Join()
                | el.NegativeLogLikelihood()
            ):
                return  # gone back through as a whole: softmax, and softmax with the loss
            case op.DivTerm() | el.Outer() | el.Sin() | el.Cos() | op.Interleave():
                return  # nothing of the positions' waves is learned
            case el.Elementwise():
                for operand in range(len(x)):
                    yield to(operand, el.GradientOf(operation, operand), g, *x)
            case op.Append() | op.Reused() | op.Select() | op.Cumulate() | op.ArgMax() | op.Pick():
                return  # they stand in generated texts
            case _:
                assert_never(operation)

    def passed_on(self, record: Record, g: Value) -> Iterator[tuple[Value, GradientPath]]:
        """Where an input is only moved or added to, its gradient is that of the result."""
        x = record.inputs
        match record.operation:
            case el.Add():
                yield x[0], GradientPath(record, "left", None, (g,))
                yield x[1], GradientPath(record, "right", None, (g,))
            case el.Subtract():
                yield x[0], GradientPath(record, "left", None, (g,))
                yield x[1], GradientPath(record, "right", learn.NegativeTotal(), (g,))
            case op.Concat():
                start = 0
                for head in x:
                    stop = start + head.shape[1]
                    yield head, GradientPath(record, "left", learn.Columns(start, stop), (g,))
                    start = stop
            case _:
                yield x[0], GradientPath(record, "left", None, (g,))

    def above(self, share: Record, g: Value) -> Value:
        """How far the gradient of each weight is above their mean, weighted by the weights."""
        weights = share.output
        with self.tape.within(replace(weights.place, phase="gradient")):
            mean = roles.derived(weights.role, "mean")
            rows = weights.axes[:1]
            average = self.tape.record_as(mean, learn.RowDot(), rows, weights, g)
            difference = roles.derived(weights.role, "difference")
            return self.tape.record_as(difference, el.Subtract(), weights.axes, g, average)

    def through_norm(
        self, record: Record, operation: el.Normalize, g: Value
    ) -> Iterator[tuple[Value, GradientPath]]:
        """d / σ · γ + β: on to d and σ, γ and β."""
        deviation, std, *parameters = record.inputs
        gain = parameters[0] if operation.gain else None
        norm = standardized = record.output
        if (gain or operation.shift) and (gain in self.learned or std in self.learned):
            standardized = self.record(norm, roles.STANDARDIZED, el.Normalize(), deviation, std)
        if operation.shift:
            yield parameters[-1], GradientPath(record, "fourth", learn.ColumnTotal(), (g,))
        if gain:
            yield gain, GradientPath(record, "third", learn.ColumnDot(), (g, standardized))
        if deviation not in self.learned:
            return
        if gain:
            g = self.record(norm, roles.derived(norm.role, "scaled"), el.TimesRow(), g, gain)
        along = GradientPath(record, "left", el.Normalize(), (g, std))
        if std not in self.learned:
            yield deviation, along
            return
        direct = self.along(deviation, along)
        yield deviation, GradientPath(record, "left", None, (direct,))
        yield (
            std,
            GradientPath(record, "right", learn.RowDot(negative=True), (direct, standardized)),
        )
