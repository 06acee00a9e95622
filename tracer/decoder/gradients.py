"""The backward pass: the gradient of the loss at every value that depends on a learned number.

Reverse mode (Linnainmaa 1970; Rumelhart, Hinton and Williams 1986), recorded on the tape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import assert_never

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.contract import Contract
from tracer.decoder.gather import Gather
from tracer.decoder.part import all_norms, slopes
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.formula import expression as ex
from tracer.node import found as nodes
from tracer.scenario.model import GRADIENT

LEARNED = (
    *(roles.EMBEDDING, roles.POSITION, roles.ENCODER_OUTPUT),
    *(roles.QUERY, roles.KEY, roles.VALUE),
)
"""Given numbers that have a gradient, besides the parameters."""

SIDES: tuple[roles.Derivation, ...] = ("left", "right", "third", "fourth")
"""The names of an operation's operands, to which it passes its gradient."""

TERMS: tuple[roles.Derivation, ...] = ("terms_of_left", "terms_of_right", "terms_of_third")
"""The names of an operand's terms, which are added up where several entries read one number."""

TOTALS: dict[ex.Along, op.Recorded | None] = {
    **{"entry": None, "row": op.Total(), "column": op.ColumnTotal()},
}
"""What adds up the terms of a gradient, by the operand's numbers that an entry reads."""

PRODUCTS = {each.spec: each for each in (op.MatMul(), op.Dot(), op.TransposedMatMul())}
"""The products of matrices."""


def along(operation: el.Elementwise, operand: int) -> ex.Along:
    """Which number of an operand an entry reads: its own, its row's, its column's or the only one.

    The operand stands in one place of the formula, or everywhere alike.
    """
    operands = nodes(operation.expression(), ex.Operand)
    return next(each.along for each in operands if each.position == operand)


@dataclass(frozen=True)
class GradientPath:
    """One path along which a value acts on the loss: what computes its part of the gradient.

    With `Copy` it is the input itself, such as the gradient of the result of `by`.
    """

    by: Record
    side: roles.Derivation
    operation: op.Recorded
    inputs: tuple[Value, ...]


def gradients(
    tape: Tape, is_trained: Callable[[Value], bool], upstream: Collection[str] = ()
) -> dict[Value, Value]:
    """Record the gradient of the loss at each value that depends on a learned number.

    Of parameters, learned are those for which `is_trained` is true. With `upstream`, the addresses
    of given gradients, the backward pass begins there instead of at a loss.

    Raises:
        TracerError: no learned number acts on the loss, or the scenario pins a part of a softmax.
    """
    records = tuple(tape.records)
    losses, counted = _losses(records) if not upstream else ((), 0)
    back = _BackwardPass(
        tape, {record.output: record for record in records}, _learned(records, is_trained)
    )
    paths: dict[Value, list[GradientPath]] = defaultdict(list)
    found: dict[Value, Value] = {}
    for record in reversed(records):
        value = record.output
        if f"{GRADIENT}{value.address}" in upstream:
            found[value] = gradient = back.begun(value)
            passed = back.to_operands(record, gradient)
        elif value in losses:
            passed = back.from_the_loss(record, counted)
        elif value in paths:
            found[value] = gradient = back.gathered(value, paths.pop(value))
            passed = back.to_operands(record, gradient)
        else:
            continue
        for operand, path in passed:
            if operand in back.learned:
                paths[operand].append(path)
    if not found:
        message = "nothing is learned: all values between the loss and the weights are given"
        raise TracerError(Problem(message, address="loss", yaml_path=("given",)))
    return found


def _side(operand: int) -> roles.Derivation:
    """The side of an operand; of many rows, which are at places of their own, the last side."""
    return SIDES[min(operand, len(SIDES) - 1)]


def _losses(records: Sequence[Record]) -> tuple[tuple[Value, ...], int]:
    """The losses of each example, and how many are averaged, 1 of a sum; none if pinned."""
    of_losses = {of.loss for of in roles.LOSSES}
    loss = next((record for record in records if record.output.role in of_losses), None)
    if loss is None or not isinstance(loss.operation, op.MeanOf | op.SumOf):
        return (), 0
    producer = next(record for record in records if record.output is loss.inputs[0])
    joined = isinstance(producer.operation, op.Join)
    counted = len(loss.operation.counted) if isinstance(loss.operation, op.MeanOf) else 1
    return producer.inputs if joined else loss.inputs, counted


def _learned(records: Sequence[Record], is_trained: Callable[[Value], bool]) -> set[Value]:
    """The values that are learned or computed from learned ones."""
    found = set[Value]()
    for record in records:
        value, operation = record.output, record.operation
        is_parameter = value.role.parameter and not value.role.frozen
        can_learn = is_parameter or value.role in LEARNED
        is_given = isinstance(operation, op.Given) and can_learn and is_trained(value)
        comes_from = not isinstance(operation, op.Pinned) and not found.isdisjoint(record.inputs)
        if isinstance(operation, op.Pinned) and operation.given_rows is not None:
            message = "only some of its rows are given; for gradients, give all or none"
            raise TracerError(
                Problem(message, address=value.address, yaml_path=("given", value.address))
            )
        if is_given or comes_from:
            found.add(value)
    return found


@dataclass(frozen=True)
class _BackwardPass:
    tape: Tape
    producers: dict[Value, Record]
    learned: set[Value]

    def record(self, of: Value, role: roles.Role, operation: op.Recorded, *inputs: Value) -> Value:
        """Record the gradient of a value, which has the value's axes."""
        with self.tape.within(replace(of.place, phase="gradient")):
            return self.tape.record_as(role, operation, of.axes, *inputs)

    def begun(self, value: Value) -> Value:
        """∂L/∂value, as it is given."""
        address = f"{GRADIENT}{value.address}"
        if value not in self.learned:
            message = "no trained parameter acts on this value, so its gradient changes nothing"
            raise TracerError(Problem(message, address=address, yaml_path=("given", address)))
        with self.tape.within(replace(value.place, phase="gradient")):
            # The value's own numbers replace given ones of a wrong shape, which are a problem.
            return self.tape.given(roles.derived(value.role, "gradient"), value.numbers, value.axes)

    def gathered(self, value: Value, paths: Sequence[GradientPath]) -> Value:
        """∂L/∂value: the sum over its paths."""
        role = roles.derived(value.role, "gradient")
        if len(paths) == 1:
            return self.record(value, role, paths[0].operation, *paths[0].inputs)
        ordered = sorted(paths, key=lambda path: path.by.output.place.example or 0)
        summands = [self.along(value, path) for path in ordered]
        return self.record(value, role, op.AccumulateGradients(), *summands)

    def along(self, value: Value, path: GradientPath) -> Value:
        """The gradient along one path of several."""
        if isinstance(path.operation, op.Copy):
            return path.inputs[0]
        by = path.by.output
        with self.tape.within(replace(by.place, phase="gradient")):
            role = roles.derived(by.role, path.side)
            return self.tape.record_as(role, path.operation, value.axes, *path.inputs)

    def from_the_loss(self, record: Record, counted: int) -> Iterator[tuple[Value, GradientPath]]:
        """∂L/∂z = (p - t) / n, softmax or sigmoid and cross-entropy together; ∂L/∂y = 2 c d / n."""
        match record.operation:
            case el.NegativeLogLikelihood(columns):
                yield from self.from_words(record, record.inputs[0], columns, counted)
            case el.Combine(_, smoothing):
                yield from self.from_smoothed_words(record, counted, smoothing)
            case op.Mean():
                yield from self.from_numbers(record, counted * record.inputs[0].shape[1])
            case op.Total():
                yield from self.from_numbers(record, counted)

    def from_smoothed_words(
        self, record: Record, counted: int, smoothing: Decimal
    ) -> Iterator[tuple[Value, GradientPath]]:
        """The same with label smoothing, which is computed of the rows with a target."""
        correct = self.producers[record.inputs[0]]
        rows = self.producers[correct.inputs[0]] if correct.inputs else correct
        match correct.operation, rows.operation:
            case el.NegativeLogLikelihood(columns), op.Rows(with_target):
                (p,) = rows.inputs
                of_row = dict(zip(with_target, columns, strict=True))
                every = tuple(of_row.get(row) for row in range(p.shape[0]))
                yield from self.from_words(record, p, every, counted, smoothing)

    def from_words(
        self,
        record: Record,
        p: Value,
        columns: tuple[int | None, ...],
        counted: int,
        smoothing: Decimal = Decimal(0),
    ) -> Iterator[tuple[Value, GradientPath]]:
        """∂L/∂z of the probabilities p (n, words), by the column of each row's target."""
        if p in self.learned:
            by = el.SoftmaxCrossEntropyGrad(columns, counted, smoothing, p.shape[1])
            yield self.exponents(self.producers[p]), GradientPath(record, "left", by, (p,))

    def from_numbers(self, record: Record, n: int) -> Iterator[tuple[Value, GradientPath]]:
        """The same of a squared error or a binary cross-entropy, whose mean is of n numbers."""
        entries = self.producers[record.inputs[0]]
        inner = self.producers[entries.inputs[0]]
        match entries.operation, inner.operation:
            case el.Square() | el.MultipliedSquare() as square, el.Difference():
                factor = square.factor if isinstance(square, el.MultipliedSquare) else Decimal(1)
                operation = el.SquaredErrorGrad(n, factor)
                yield inner.inputs[0], GradientPath(record, "left", operation, (inner.output,))
            case el.NegativeLog(), el.OfTarget():
                z, target = inner.inputs
                sigmoids = (v for v in self.producers if v.role is roles.SIGMOID)
                p = next(v for v in sigmoids if v.place == entries.output.place)
                grad = el.BinaryCrossEntropyGrad(n)
                yield z, GradientPath(record, "left", grad, (p, target))

    def exponents(self, share: Record) -> Value:
        """The scores of the softmax that ends in `share`.

        The largest score, which may be subtracted first, changes no share.
        """
        exp, total = share.inputs
        if isinstance(self.producers[total].operation, op.Pinned):
            message = "a part of this softmax is given, so it passes on no gradient"
            where = total.address
            raise TracerError(Problem(message, address=where, yaml_path=("given", where)))
        scores = self.producers[exp].inputs[0]
        record = self.producers[scores]
        is_shifted = isinstance(record.operation, el.Subtract)
        return record.inputs[0] if is_shifted else scores

    def to_operands(self, record: Record, g: Value) -> Iterator[tuple[Value, GradientPath]]:
        """Yield what an operation passes to each of its inputs; g is the gradient of its result."""
        x, operation = record.inputs, record.operation

        def to(operand: int, by: op.Recorded, *inputs: Value) -> tuple[Value, GradientPath]:
            return x[operand], GradientPath(record, SIDES[operand], by, inputs)

        assert not isinstance(operation, op.Trained)
        match operation:
            case Gather():
                shapes = [operand.shape for operand in x]
                for operand in dict.fromkeys(move.operand for move in operation.moves(*shapes)):
                    side = "left" if isinstance(operation, op.Concat) else _side(operand)
                    by = operation.backward(operand, *shapes)
                    yield x[operand], GradientPath(record, side, by, (g,))
            case el.Mask() | el.Penalize():
                yield to(0, op.Copy(), g)
            case el.Add():
                yield to(0, op.Copy(), g)
                yield to(1, op.Copy(), g)
            case el.Subtract():
                yield to(0, op.Copy(), g)
                yield to(1, op.NegativeTotal(), g)
            case Contract() if operation.is_matrix_product:
                for operand, other in ((0, x[1]), (1, x[0])):
                    spec, is_g_first = operation.gradient(operand)
                    factors = (g, other) if is_g_first else (other, g)
                    yield to(operand, PRODUCTS[spec], *factors)
                if x[2:]:
                    yield to(2, op.ColumnTotal(), g)
            case op.Convolve(window):
                yield to(0, op.ConvolveBack(g.shape[0], window), g, x[1])
                yield to(1, op.Convolve(g.shape[0]), x[0], g)
            case op.MixExperts(rows):
                weights, *outputs = x
                yield to(0, op.ExpertDots(rows), g, *outputs)
                for expert, (own, y) in enumerate(zip(rows, outputs, strict=True)):
                    by = el.TimesExpertWeight(own, expert)
                    yield y, GradientPath(record, "right", by, (g, weights))
            case el.Divide() | el.Times():
                yield to(0, operation, g, x[1])
                if isinstance(operation, el.Times) and x[1] in self.learned:
                    role = roles.derived(record.output.role, "terms_of_right")
                    with self.tape.within(replace(record.output.place, phase="gradient")):
                        dots = self.tape.record_as(role, op.RowDot(), g.axes[:1], g, x[0])
                    yield to(1, op.SumOf(tuple(range(g.shape[0]))), dots)
            case el.Scale() | el.DivideBy():
                yield to(0, operation, g)
            case el.DivideByRowSum():
                scores = self.exponents(record)
                inputs = record.output, self.above(record, g)
                yield scores, GradientPath(record, "left", el.Multiply(), inputs)
            case el.Normalize():
                yield from self.through_norm(record, operation, g)
            case el.SquareRoot(epsilon, outside):
                root_slope = el.RootSlope(epsilon if outside else Decimal(0))
                yield to(0, root_slope, g, record.output)
            case op.Mean(sample):
                width = x[0].shape[1]
                yield to(0, el.BroadcastDivide(width - sample, width), g)
            case el.Square():
                yield to(0, el.TwiceProduct(), g, x[0])
            case el.Adapt(alpha, rank):
                yield to(1, el.AdaptGrad(alpha, rank), g)
            case el.Multiply():
                yield to(0, el.Multiply(), g, x[1])
                yield to(1, el.Multiply(), g, x[0])
            case el.Activate(function):
                of = slopes()[record.output.role]
                role = of.of_relu if function == "relu" else of.smooth
                slope = self.record(x[0], role, el.Slope(function), x[0])
                yield to(0, el.Multiply(), g, slope)
            case op.Rotate(layout):
                yield to(0, op.RotateBack(layout), g, x[1], x[2])
            case op.Given() | op.Pinned():
                return
            case el.Exp() | op.Total() | op.Largest():
                return  # a softmax is differentiated as a whole
            case el.NegativeLogLikelihood() | op.MeanOf() | op.SumOf():
                return  # and so is softmax with the loss
            case op.GroupExtreme() | el.DivideByScale() | el.SharedExponent() | el.TwoToThe():
                return  # quantized weights are frozen
            case op.LargestSoFar():
                return  # a running maximum is beside the softmax that is differentiated
            case op.PowerOfTwo():
                return  # it depends on no value
            case op.DivTerm() | el.Outer() | el.Sin() | el.Cos() | el.Turns() | el.Ramp():
                return  # positions of sines and cosines are not learned
            case el.Interpolate():
                return  # and neither are their frequencies
            case op.RowDot(negative=False):
                yield to(0, el.ScaleRows(), x[1], g)
                yield to(1, el.ScaleRows(), x[0], g)
            case el.Elementwise() if not any(along(operation, i) == "one" for i in range(len(x))):
                for i, each in enumerate(x):
                    by, total = el.GradientOf(operation, i), TOTALS[along(operation, i)]
                    if total is None:
                        yield to(i, by, g, *x)
                    elif each in self.learned:
                        terms = roles.derived(record.output.role, TERMS[i])
                        yield to(i, total, self.record(record.output, terms, by, g, *x))
            case el.Elementwise() | Contract():
                raise TypeError(f"{operation.name} passes on no gradient")
            case op.Cumulate() | op.ArgMax() | op.Pick():
                return  # they occur in generation only
            case _:
                assert_never(operation)

    def above(self, share: Record, g: Value) -> Value:
        """g minus each row's mean of g, weighted by the shares: (n, m)."""
        weights = share.output
        with self.tape.within(replace(weights.place, phase="gradient")):
            mean = roles.derived(weights.role, "mean")
            average = self.tape.record_as(mean, op.RowDot(), weights.axes[:1], weights, g)
            difference = roles.derived(weights.role, "difference")
            return self.tape.record_as(difference, el.Subtract(), weights.axes, g, average)

    def through_norm(
        self, record: Record, operation: el.Normalize, g: Value
    ) -> Iterator[tuple[Value, GradientPath]]:
        """What d / σ · γ + β passes to d and σ, γ and β."""
        deviation, std, *parameters = record.inputs
        gain = parameters[0] if operation.gain else None
        norm = standardized = record.output
        of = next(each for each in all_norms() if norm.role in (each.layer_norm, each.rms_norm))
        if (gain or operation.shift) and (gain in self.learned or std in self.learned):
            standardized = self.record(norm, of.standardized, el.Normalize(), deviation, std)
        if operation.shift:
            yield parameters[-1], GradientPath(record, "fourth", op.ColumnTotal(), (g,))
        if gain:
            yield gain, GradientPath(record, "third", op.ColumnDot(), (g, standardized))
        if deviation not in self.learned:
            return
        if gain:
            times_gain = el.TimesRow(operation.unit_offset)
            g = self.record(norm, roles.derived(norm.role, "scaled"), times_gain, g, gain)
        along = GradientPath(record, "left", el.Normalize(), (g, std))
        if std not in self.learned:
            yield deviation, along
            return
        direct = self.along(deviation, along)
        yield deviation, GradientPath(record, "left", op.Copy(), (direct,))
        inputs = direct, standardized
        yield std, GradientPath(record, "right", op.RowDot(negative=True), inputs)
