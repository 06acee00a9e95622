"""The vector of a query or a key as the sum of what each component adds to it, a row each.

The components are carried forward: from the embedding, the heads and the FFNs, through what is
linear if the σ of each norm and the weights of the experts are held as computed.

- a residual connection a + b: the parts of a, and those of b;
- s x: each part times s;
- x W + b: each part times W, and b is one more; [O¹ … Oʰ] W: each head times its rows of W;
- d / σ · γ + β: each part of d times γ / σ, and β is one more; x - μ: each part minus its mean;
- [a b]: the parts of a, and those of b, side by side for each component;
- rotation: each part is rotated; Σ w_e y_e: each part of an expert's y_e times w_e.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.axes import Axes, Axis, numbered
from tracer.decoder.forward import Trace
from tracer.decoder.roles import Derivation, derived
from tracer.decoder.tape import Record, Tape
from tracer.decoder.token_rows import OneToken, label, starts
from tracer.decoder.value import Value

Pieces: TypeAlias = Mapping[Value, Sequence[Value]]
"""What adds up to the token's row of each value: the parts of some components, (parts, d) each."""


@dataclass(frozen=True)
class ScoreSide:
    """A side of a score, and what is derived from a value of the pass for it.

    `row` is the token's row of a value, `part` what components add to the row, and `parts` what all
    components add that the row is the sum of. `placed` are the same with rows of zeros for other
    components. They are numbered by `letter`.
    """

    letter: str
    row: Derivation
    part: Derivation
    parts: Derivation
    placed: Derivation


QUERY = ScoreSide("a", "query_row", "query_part", "query_parts", "query_placed")
KEY = ScoreSide("b", "key_row", "key_part", "key_parts", "key_placed")


@dataclass(frozen=True)
class VectorParts(OneToken):
    """Carries the parts of a token's vectors forward; `components` are those so far, by number."""

    side: ScoreSide
    components: dict[str, Value]
    stacks: dict[Value, Value] = field(default_factory=dict)
    """The stacked parts of each value, which several values may read."""

    def parts(self, of: Value) -> Value:
        """What each component adds to the token's row of a value: (parts, d)."""
        pieces = dict[Value, Sequence[Value]]()
        for record in self.needed(of):
            pieces[record.output] = list(self.pieces(record, pieces))
        if self.is_of_heads(of):
            pieces[of] = [self.joined(of, pieces)]
        return self.stacked(of, pieces)

    def joined(self, of: Value, before: Pieces) -> Value:
        """The parts of vectors side by side, with zeros where a component adds nothing to one."""
        vectors = [self.stacked(each, before) for each in self.producer(of).inputs]
        has = [_numbers(each)[0].labels for each in vectors]
        axis = Axis("part", tuple(dict.fromkeys(number for own in has for number in own)))
        rows = []
        for value, vector, own in zip(self.producer(of).inputs, vectors, has, strict=True):
            if own == axis.labels:
                rows.append(vector)
            else:
                at = tuple(map(axis.labels.index, own))
                place, axes = op.PlaceRows(at, len(axis.labels)), (axis, vector.axes[1])
                rows.append(self.derive(value, self.side.placed, place, axes, vector))
        return self.derive(of, self.side.part, op.Concat(), (axis, of.axes[1]), *rows)

    def needed(self, of: Value) -> list[Record]:
        """The records that a value is the sum of, back to its components, in order."""
        waiting, needed = [of], set[Value]()
        while waiting:
            value = waiting.pop()
            needed.add(value)
            record = self.producer(value)
            if not self.is_end(record):
                waiting += self.carrying(record)
        values = (record.output for record in self.found.records)
        return [self.producer(value) for value in values if value in needed]

    def carrying(self, record: Record) -> Sequence[Value]:
        """The operands of a record whose parts it carries on."""
        match record.operation:
            case el.Add():
                return record.inputs[:2]
            case op.Concat():
                return record.inputs
            case op.MixExperts():
                return [y for _, y in self.experts(record)]
            case _:
                return record.inputs[:1]

    def pieces(self, record: Record, before: Pieces) -> Iterator[Value]:
        """Yield what adds up to the result of a record; of heads side by side, their rows."""
        value, x = record.output, record.inputs
        if self.is_end(record):
            yield self.end(value)
            return
        match record.operation:
            case op.Copy() if self.is_of_heads(x[0]):
                for start, head in starts(self.producer(x[0]).inputs):
                    place = op.PlaceColumns(start, value.shape[1])
                    yield self.part(head, place, value.axes[1], *before[head])
            case op.Copy() | op.Concat() | el.Add():
                for operand in self.carrying(record):
                    yield from before[operand]
            case op.MatMul():
                yield from self.times_weights(record, before)
            case op.MixExperts():
                for expert, y in self.experts(record):
                    yield self.times_expert_weight(x[0], expert, y, before)
            case el.Normalize():
                yield from self.normalized(record, record.operation, before)
            case el.Scale():
                parts = self.stacked(x[0], before)
                yield self.part(value, record.operation, value.axes[1], parts)
            case el.Subtract():
                parts = self.stacked(x[0], before)
                mean = self.derive(x[1], self.side.part, op.Mean(), _numbers(parts), parts)
                yield self.part(value, el.Subtract(), value.axes[1], parts, mean)
            case op.Rotate():
                parts = self.stacked(x[0], before)
                waves = (self.held(wave, parts) for wave in x[1:])
                yield self.part(value, record.operation, value.axes[1], parts, *waves)

    def is_of_heads(self, value: Value) -> bool:
        """Whether a value is all heads side by side, computed and not given."""
        record = self.producer(value)
        return isinstance(record.operation, op.Concat) and not self.is_end(record)

    def end(self, value: Value) -> Value:
        """The token's row of a component, or a bias: (1, d)."""
        (number,) = numbered(self.side.letter, len(self.components) + 1, 1)
        self.components[number] = value
        row = op.Stack() if value.role.parameter else op.Rows((self.row_of(value),))
        return self.derive(
            value, self.side.row, row, (Axis("part", (number,)), value.axes[-1]), value
        )

    def stacked(self, value: Value, pieces: Pieces) -> Value:
        """The parts of all components of a value: (parts, d)."""
        if len(pieces[value]) == 1:
            return pieces[value][0]
        if value in self.stacks:
            return self.stacks[value]
        numbers = [number for piece in pieces[value] for number in _numbers(piece)[0].labels]
        names = tuple(f"{number} {side_label(self.components[number])}" for number in numbers)
        axes = (Axis("part", names), value.axes[1])
        stack = self.derive(value, self.side.parts, op.Stack(), axes, *pieces[value])
        return self.stacks.setdefault(value, stack)

    def part(
        self, of: Value, operation: op.Recorded, columns: Axis, x: Value, *others: Value
    ) -> Value:
        """Record an operation on some parts x: (parts, d)."""
        axes = (*_numbers(x), columns)
        return self.derive(of, self.side.part, operation, axes, x, *others)

    def held(self, value: Value, of: Value, at: Value | None = None) -> Value:
        """The token's row of a value, once for each part, at the place of a value."""
        rows = op.Rows((self.row_of(value),) * of.shape[0])
        axes: Axes = (*_numbers(of), *value.axes[1:])
        return self.record(at or value, derived(value.role, self.side.row), rows, axes, value)

    def times_weights(self, record: Record, before: Pieces) -> Iterator[Value]:
        """x W + b: the parts of x times W; each head's row times its rows of W."""
        x, w, *bias = record.inputs
        columns = record.output.axes[1]
        if self.is_of_heads(x):
            for start, head in starts(self.producer(x).inputs):
                own = self.rows_of(w, head, start)
                yield self.part(head, op.MatMul(), columns, *before[head], own)
        else:
            yield self.part(record.output, op.MatMul(), columns, self.stacked(x, before), w)
        yield from map(self.end, bias)

    def rows_of(self, w: Value, head: Value, start: int) -> Value:
        """The rows of W_O that a head is multiplied by, from `start` on: (d_v, d)."""
        if head.shape[1] == w.shape[0]:
            return w
        rows = op.Rows(tuple(range(start, start + head.shape[1])))
        axes: Axes = (head.axes[1], w.axes[1])
        return self.record(head, derived(w.role, self.side.row), rows, axes, w)

    def times_expert_weight(self, weights: Value, expert: int, y: Value, before: Pieces) -> Value:
        """w_e y_e: the parts of an expert's output times its weight for the token."""
        parts = self.stacked(y, before)
        held = self.held(weights, parts, y)
        times = el.TimesExpertWeight(tuple(range(parts.shape[0])), expert)
        role, axes = derived(weights.role, self.side.part), (*_numbers(parts), parts.axes[1])
        return self.record(y, role, times, axes, parts, held)

    def normalized(
        self, record: Record, operation: el.Normalize, before: Pieces
    ) -> Iterator[Value]:
        """d / σ · γ + β: the parts of d times γ / σ, and β."""
        d, std, *parameters = record.inputs
        parts = self.stacked(d, before)
        gain = parameters[:1] if operation.gain else []
        divide = el.Normalize(operation.gain, False, operation.unit_offset)
        columns = record.output.axes[1]
        yield self.part(record.output, divide, columns, parts, self.held(std, parts), *gain)
        if operation.shift:
            yield self.end(parameters[-1])


def parts_of(
    tape: Tape, found: Trace, side: ScoreSide, of: Value, token: int
) -> tuple[dict[str, Value], Value]:
    """The components of a token's query or key, by number, and what each adds: (parts, d_k)."""
    carried = VectorParts(tape, found, token, side, {})
    parts = carried.parts(of)
    return {number: carried.components[number] for number in _numbers(parts)[0].labels}, parts


def side_label(component: Value) -> str:
    """`embedding`, `layer 1, head 2`, `encoder, layer 1, FFN`: where a part comes from."""
    return f"encoder, {label(component)}" if component.place.encoder else label(component)


def _numbers(parts: Value) -> tuple[Axis]:
    """The components that some parts belong to, by their numbers alone: a₁, a₂, …"""
    axis = parts.axes[0]
    return (Axis(axis.name, tuple(each.partition(" ")[0] for each in axis.labels)),)
