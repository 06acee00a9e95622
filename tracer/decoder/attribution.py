"""Attribution: a logit as the sum of what each component adds to it (Elhage et al. 2021).

A logit is y W_U[:, w] + b_U[w] for the output y of one token. Its direction u = W_U[:, w] goes back
from y to the embedding, through operations that are linear if the σ of each norm and the weights of
the experts are held as computed:

- a residual connection a + b: both have the same u;
- s x: x has s u, and the direction of a logit z / c is that of z divided by c;
- x W + b: x has W u, and b adds b · u;
- d / σ · γ + β: d has u γ / σ, and β adds β · u; x in d = x - μ has the direction of d minus its
  mean;
- [O¹ … Oʰ]: each head has its columns of u; Σ w_e y_e: an expert's y_e has w_e u.

Where u ends, at a head's output, a hidden layer, the embedding or a given value x, x · u is a part.
All directions are (1, d), for the one token.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.part import all_norms
from tracer.decoder.roles import Role, derived
from tracer.decoder.tape import Record, Tape
from tracer.decoder.token_rows import OneToken, label, starts
from tracer.decoder.value import Entry, Value
from tracer.errors import Problem, TracerError
from tracer.names import count, distinct

ATTRIBUTED = (roles.LOGITS, roles.UNCAPPED_LOGITS, roles.OUTPUT)
"""The values whose entries are sums of parts."""


@dataclass(frozen=True)
class AttributedPart:
    """What a value adds; `terms` are the tokens that a head reads or the hidden units, if split."""

    of: Value
    total: Value
    terms: Value | None = None


@dataclass(frozen=True)
class SourceParts:
    """What a head takes from a token, as the sum of what adds up to that token's value.

    The parts are the largest in size first, `sum` is their sum, and `trace` has their records.
    """

    trace: Trace
    parts: tuple[AttributedPart, ...]
    sum: Value


@dataclass(frozen=True)
class Attribution:
    """The pass with the records of an attribution, and its parts, the largest in size first.

    `other` is the column of the word whose logit is subtracted. `attributed` is the logit or the
    difference of both. The `sum` is that of all parts; `rounding` is what is missing to
    `attributed`, where numbers are rounded on the way.
    """

    trace: Trace
    entry: Entry
    other: int | None
    attributed: Value
    parts: tuple[AttributedPart, ...]
    sum: Value
    rounding: Value | None

    def __repr__(self) -> str:
        return f"<Attribution of {self.attributed.address}: {count(len(self.parts), 'part')}>"


def attribute(
    found: Trace, entry: Entry, other: int | None = None, split: Collection[Role] = ()
) -> Attribution:
    """Record the parts of an entry of the logits or the output, minus that in column `other`.

    The parts at the roles in `split` are sums of terms: of a head, one for each source token.

    The entry must be one that `check` accepts.
    """
    tape = Tape(arithmetic_of(found.scenario), found.pencil)
    back = BackwardDirection(tape, found, entry.at[0], entry, other, split)
    with tape.computing():
        parts = sorted(back.parts(), key=lambda part: -abs(part.total.computed[0]))
        labels, totals = [label(part.of) for part in parts], [part.total for part in parts]
        total = summed(tape, roles.PARTS_SUM, op.Join(), labels, *totals)
        attributed = back.attributed()
        rounding = rounding_of(tape, found, attributed, total)
    whole = with_records(found, tape)
    return Attribution(whole, entry, other, attributed, tuple(parts), total, rounding)


def attribute_source(
    found: Attribution, head: AttributedPart, source: int, split: Collection[Role] = ()
) -> SourceParts:
    """Record what adds up to the term of a split head for one of its tokens (counted from 0)."""
    assert head.terms is not None
    row, projected = found.trace.producers[head.terms].inputs
    u, value = found.trace.producers[projected].inputs
    tape = Tape(arithmetic_of(found.trace.scenario), found.trace.pencil)
    back = BackwardDirection(tape, found.trace, source, found.entry, found.other, split)
    with tape.computing():
        times = el.TimesExpertWeight((0,), source)
        u = back.derive(value, "logit_direction", times, (back.row_axis, u.axes[1]), u, row)
        parts = sorted(back.back_from(value, u), key=lambda part: -abs(part.total.computed[0]))
        labels, totals = [label(part.of) for part in parts], [part.total for part in parts]
        total = summed(tape, roles.PARTS_SUM, op.Join(), labels, *totals)
    return SourceParts(with_records(found.trace, tape), tuple(parts), total)


def attributed(found: Trace, entry: Entry, other: int | None) -> Value:
    """Return an entry, minus that in column `other`: one number, with the digits of the pass."""
    tape = Tape(arithmetic_of(found.scenario), found.pencil)
    with tape.computing():
        return BackwardDirection(tape, found, entry.at[0], entry, other, ()).attributed()


def summed(
    tape: Tape, role: Role, operation: op.Recorded, names: Sequence[str], *inputs: Value
) -> Value:
    """Record all parts, which an operation puts in one row, and their sum."""
    with tape.within(roles.Place(phase="attribution")):
        axes = (Axis("part", tuple(names)),)
        parts = tape.record_as(roles.PARTS, operation, axes, *inputs)
        return tape.record(role, op.SumInOrder(tuple(range(len(names)))), parts)


def rounding_of(tape: Tape, found: Trace, attributed: Value, total: Value) -> Value | None:
    """Record what is missing from the sum of the parts, where numbers are rounded on the way."""
    if not found.pencil.rounds:
        return None
    with tape.within(roles.Place(phase="attribution")):
        return tape.record(roles.ROUNDING, el.Difference(), attributed, total)


def with_records(found: Trace, tape: Tape) -> Trace:
    """Return the pass with the records of an attribution."""
    records = (*found.records, *tape.records)
    return Trace(found.name, found.scenario, found.pencil, records, found.others)


def check_entry(found: Trace, entry: Entry) -> None:
    """Raise a TracerError unless an entry is a sum of parts."""
    value, operation = entry.value, _product(found, entry.value).operation
    known = [each for each in found.values.values() if _is_attributed(found, each)]
    if value not in known:
        sums = " or ".join(each.address for each in known)
        message = f"this value is not a sum of parts, expected an entry of {sums}"
        if value.role is roles.LOGITS and isinstance(operation, el.SoftCap):
            message = f"the soft cap is not linear, so the parts are those of {sums}"
    elif isinstance(operation, op.Pinned):
        message = "given, so it has no parts"
    else:
        return
    raise TracerError(Problem(message, address=value.address))


def _product(found: Trace, value: Value) -> Record:
    """The record of y W_U + b_U, which logits may be before their division."""
    record = found.producers[value]
    divides = isinstance(record.operation, el.DivideBy)
    return found.producers[record.inputs[0]] if divides else record


def _is_attributed(found: Trace, value: Value) -> bool:
    """Whether the entries of a value are sums of parts."""
    capped = isinstance(found.producers[value].operation, el.SoftCap)
    return value.role in ATTRIBUTED and value.place == roles.Place() and not capped


@dataclass(frozen=True)
class BackwardDirection(OneToken):
    """Carries the direction of an entry back to where it ends."""

    entry: Entry
    other: int | None
    split: Collection[Role]

    @property
    def division(self) -> el.DivideBy | None:
        """What divides the logits, if anything does."""
        operation = self.found.producers[self.entry.value].operation
        return operation if isinstance(operation, el.DivideBy) else None

    @property
    def row_axis(self) -> Axis:
        """The one row of a direction."""
        names = distinct(self.found.tokens)
        return Axis("token", (names[self.token],), (self.token - len(names),))

    def attributed(self) -> Value:
        """z_w, or z_w - z_w′: one number."""
        value, (row, column) = self.entry
        if self.other is None:
            return self.derive(value, "attributed", op.TakeEntry(row, column), (), value)
        first = self.derive(value, "word", op.TakeEntry(row, column), (), value)
        other = self.derive(value, "other_word", op.TakeEntry(row, self.other), (), value)
        return self.derive(value, "attributed", el.Difference(), (), first, other)

    def parts(self) -> Iterator[AttributedPart]:
        """The parts, from the last operation back to the first."""
        y, *bias = _product(self.found, self.entry.value).inputs[::2]  # all but W_U
        for b in bias:
            axes, part = (self.row_axis,), derived(b.role, "part")
            if self.division:
                whole = self.of_word(b, derived(b.role, "projected"), b, axes)
                yield AttributedPart(b, self.record(b, part, self.division, axes, whole))
            else:
                yield AttributedPart(b, self.of_word(b, part, b, axes))
        yield from self.back_from(y, self.direction(y))

    def back_from(self, value: Value, u: Value) -> Iterator[AttributedPart]:
        """The parts of the dot product of a value's row and a direction u: (1, d)."""
        waiting = [(value, u)]
        while waiting:
            value, u = waiting.pop()
            record = self.producer(value)
            if self.is_end(record):
                yield self.end(record, u)
            else:
                waiting += reversed(list(self.to_operands(record, u)))

    def direction(self, y: Value) -> Value:
        """The direction of y: the word's column of W_U, or 1 in the column of the entry: (1, d)."""
        value = self.entry.value
        of_output = value.role is roles.OUTPUT
        role = derived(roles.OUTPUT if of_output else y.role, "logit_direction")
        if not of_output:
            product = _product(self.found, value)
            w_u = product.inputs[1]
            axes = (self.row_axis, w_u.axes[0])
            if self.division:
                before = derived(product.output.role, "logit_direction")
                u = self.of_word(y, before, w_u, axes)
                return self.record(y, role, self.division, axes, u)
            return self.of_word(y, role, w_u, axes)
        signs = {self.other: -1, self.entry.at[1]: 1}
        row = [signs.get(column, 0) for column in range(value.shape[1])]
        with self.tape.within(replace(value.place, phase="attribution")):
            return self.tape.given(role, [row], (self.row_axis, value.axes[1]))

    def of_word(self, at: Value, role: Role, weights: Value, axes: Axes) -> Value:
        """The word's column of W_U or entry of b_U, minus that of the other word."""
        column = op.TakeColumn(self.entry.at[1])
        if self.other is None:
            return self.record(at, role, column, axes, weights)
        word = self.derive(weights, "word", column, axes, weights)
        other = self.derive(weights, "other_word", op.TakeColumn(self.other), axes, weights)
        return self.record(at, role, el.Difference(), axes, word, other)

    def to_operands(self, record: Record, u: Value) -> Iterator[tuple[Value, Value]]:
        """Yield each operand that is added, with its direction; u is that of the result."""
        x = record.inputs
        match record.operation:
            case op.Copy():
                yield x[0], u
            case el.Add():
                yield x[1], u
                yield x[0], u
            case el.Scale():
                before = derived(record.output.role, "before")
                yield x[0], self.record(record.output, before, record.operation, u.axes, u)
            case op.MatMul():
                axes = (self.row_axis, x[1].axes[0])
                yield x[0], self.derive(x[0], "logit_direction", op.Dot(), axes, u, x[1])
                yield from ((bias, u) for bias in x[2:])
            case op.Concat():
                for start, head in starts(x):
                    columns = op.Columns(start, start + head.shape[1])
                    axes = (self.row_axis, head.axes[1])
                    yield head, self.derive(head, "logit_direction", columns, axes, u)
            case op.MixExperts():
                for expert, y in self.experts(record):
                    held, times = self.row(x[0], y), el.TimesExpertWeight((0,), expert)
                    yield y, self.derive(y, "logit_direction", times, u.axes, u, held)
            case el.Normalize():
                yield from self.through_norm(record, record.operation, u)
            case el.Subtract():
                norm = next(each for each in all_norms() if record.output.role is each.deviation)
                offset = self.derive(x[1], "offset", op.Mean(), (self.row_axis,), u)
                before = derived(norm.layer_norm, "before")
                yield x[0], self.record(record.output, before, el.Subtract(), u.axes, u, offset)

    def through_norm(
        self, record: Record, operation: el.Normalize, u: Value
    ) -> Iterator[tuple[Value, Value]]:
        """d / σ · γ + β: u γ / σ at d, and u at β."""
        d, std, *parameters = record.inputs
        norm = next(each for each in all_norms() if std.role in (each.std, each.rms))
        if operation.shift:
            yield parameters[-1], u
        if operation.gain:
            scaled = derived(norm.standardized, "logit_direction")
            times = el.TimesRow(operation.unit_offset)
            u = self.record(std, scaled, times, u.axes, u, parameters[0])
        of_d = derived(norm.deviation, "logit_direction")
        role = of_d if std.role is norm.std else derived(norm.rms_norm, "before")
        yield d, self.record(std, role, el.Normalize(), u.axes, u, self.row(std))

    def end(self, record: Record, u: Value) -> AttributedPart:
        """x · u: the part of a value or of a bias, with its terms if it is split."""
        x, axes = record.output, (self.row_axis,)
        if x.role not in self.split or isinstance(record.operation, op.Pinned):
            row = x if x.role.parameter else self.row(x)
            return AttributedPart(x, self.derive(x, "part", op.RowDot(), axes, row, u))
        if x.role is roles.HEAD_OUTPUT:
            weights, v = record.inputs
            keys = (self.row_axis, Axis("key", v.axes[0].labels))
            factors = self.row(weights), self.derive(x, "projected", op.Dot(), keys, u, v)
            terms = self.derive(x, "terms", el.Multiply(), keys, *factors)
        else:
            terms = self.derive(x, "terms", el.Multiply(), u.axes, self.row(x), u)
        return AttributedPart(x, self.derive(x, "part", op.Total(), axes, terms), terms)

    def row(self, value: Value, at: Value | None = None) -> Value:
        """The token's row of a value with a row or a number for each token: (1, …)."""
        rows = op.Rows((self.row_of(value),))
        axes = (self.row_axis, *value.axes[1:])
        return self.record(at or value, derived(value.role, "row"), rows, axes, value)
