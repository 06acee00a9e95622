"""Attribution of an attention score to parts of the query and of the key (Elhage et al. 2021).

A score is s = q · k / √d. The query is a sum q = Σ q_a of what each component adds to it, if the σ
of each norm and the weights of the experts are held as computed; so is the key, k = Σ k_b. Hence
s = Σ q_a · k_b / √d, over all pairs of a part of the query and a part of the key.

The parts come from the directions of all columns at once, (d_k, d): from the query back to the
embedding, as `attribution` carries the direction of a logit back, and through a rotation by
rotating back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tracer.dataclass import frozen
from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.attribution import Attribution, Back, label, rounding_of, with_records
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Role, derived
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import ENCODER_TOKEN, Entry, Value
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import Array, no_rounding
from tracer.scenario.carry import Carry


@frozen
class Side:
    """The parts of a query or a key: the token, the components, and what they add: (parts, d_k).

    `names` are those of the components; `holds` says whether the σ of a norm is held.
    """

    token: int
    names: tuple[str, ...]
    components: tuple[Value, ...]
    added: Value
    holds: bool


@frozen
class ScoreAttribution(Attribution):
    """The parts of an attention score; `pairs` are those of a query and a key part, by index.

    The pairs are in the order of the parts, the largest in size first.
    """

    query: Side
    key: Side
    pairs: tuple[tuple[int, int], ...]


def check_score(found: Trace, entry: Entry) -> None:
    """Raise a TracerError unless a score is the dot product of a query and a key."""
    record = found.producers[entry.value]
    if isinstance(record.operation, op.Pinned) or not isinstance(_dot(found, record), op.Dot):
        raise TracerError(Problem("given, so it has no parts", address=entry.value.address))


def attribute_score(found: Trace, entry: Entry) -> ScoreAttribution:
    """Record the parts of an entry of a head's scores: one that `check_score` accepts."""
    record = found.producers[entry.value]
    divides = isinstance(record.operation, el.Divide)
    q, k = (found.producers[record.inputs[0]] if divides else record).inputs
    tape = Tape(arithmetic_of(found.scenario), found.pencil)
    with tape.computing(), tape.within(replace(entry.value.place, phase="attribution")):
        query = _side(found, tape, roles.QUERY_PARTS, "a", q, entry.at[0])
        key = _side(found, tape, roles.KEY_PARTS, "b", k, entry.at[1])
        axes = (_numbers("a", len(query.names)), _numbers("b", len(key.names)))
        if divides:
            dot = tape.record_as(roles.PAIR_DOT, op.Dot(), axes, query.added, key.added)
            scores = tape.record_as(roles.PAIRS, el.Divide(), axes, dot, record.inputs[1])
        else:
            scores = tape.record_as(roles.PAIRS, op.Dot(), axes, query.added, key.added)
        sizes = np.abs(scores.computed).astype(np.float64)
        ranked = np.argsort(-sizes, axis=None, kind="stable")
        pairs = tuple(divmod(int(at), scores.shape[1]) for at in ranked)
        names = tuple(f"{query.names[i]} · {key.names[j]}" for i, j in pairs)
        with tape.within(roles.Place(phase="attribution")):
            parts = tape.record_as(
                roles.PARTS, op.TakeEntries(pairs), (Axis("part", names),), scores
            )
            total = tape.record(roles.PAIRS_SUM, op.SumInOrder(tuple(range(len(pairs)))), parts)
        score = tape.record_as(
            derived(roles.SCORES, "attributed"), op.TakeEntry(*entry.at), (), entry.value
        )
        rounding = rounding_of(tape, found, score, total)
    whole = with_records(found, tape)
    return ScoreAttribution(whole, entry, None, score, (), total, rounding, query, key, pairs)


def _dot(found: Trace, record: Record) -> op.Operation:
    """The operation of the dot product in a score."""
    divides = isinstance(record.operation, el.Divide)
    return found.producers[record.inputs[0]].operation if divides else record.operation


def _numbers(letter: str, parts: int) -> Axis:
    """The parts of one side by number: a₁, a₂, …"""
    return Axis(f"part {letter}", numbered(letter, 1, parts))


def _side(found: Trace, tape: Tape, role: Role, letter: str, of: Value, row: int) -> Side:
    """Record the parts of one row of the queries or the keys: (parts, d_k)."""
    arithmetic, pencil = arithmetic_of(found.scenario), found.pencil
    exact = found.scenario.rounding.model_copy(update={"carry": Carry.NEVER})
    back = _VectorBack(
        *(Tape(arithmetic, Pencil(exact, decimal=pencil.decimal)), found, Entry(of, (row, 0))),
        *(None, (), of),
    )
    parts: dict[Value, Array] = {}
    for component, numbers in back.components():
        before = parts.get(component)
        parts[component] = numbers if before is None else before + numbers
    components = tuple(reversed(parts))
    numbers = np.stack([parts[each] for each in components])
    kept = pencil.kept(role, tape.address(role), numbers, None)
    names = tuple(map(side_label, components))
    each = _numbers(letter, len(names))
    named = tuple(f"{number} {name}" for number, name in zip(each.labels, names, strict=True))
    axes = (Axis(each.name, named), of.axes[1])
    added = tape.given(role, numbers if kept is None else kept.tolist(), axes)
    holds = any(isinstance(record.operation, el.Normalize) for record in back.tape.records)
    return Side(row, names, components, added, holds)


def side_label(component: Value) -> str:
    """`embedding`, `layer 1, head 2`, `encoder, layer 1, FFN`: where a part comes from."""
    return f"encoder, {label(component)}" if component.place.encoder else label(component)


@frozen
class _VectorBack(Back):
    """Carries the directions of all columns of a row of queries or keys back to where they end."""

    of: Value

    @property
    def row_axis(self) -> Axis:
        """A row for each column of the query or the key."""
        return Axis("direction", self.of.axes[1].labels)

    def components(self) -> Iterator[tuple[Value, Array]]:
        """Yield each value where directions end, with what it adds to the columns: (d_k,)."""
        width = self.of.shape[1]
        role, axes = derived(self.of.role, "logit_direction"), (self.row_axis, self.of.axes[1])
        with self.tape.within(replace(self.of.place, phase="attribution")):
            one = [[int(i == j) for j in range(width)] for i in range(width)]
            waiting = [(self.of, self.tape.given(role, one, axes))]
        while waiting:
            value, u = waiting.pop()
            record = self.producer(value)
            if self.is_end(record):
                yield value, self.added(value, u)
            else:
                waiting += reversed(list(self.to_operands(record, u)))

    def is_end(self, record: Record) -> bool:
        """Whether a direction goes no further than the value of a record."""
        return not isinstance(record.operation, op.Rotate) and super().is_end(record)

    def to_operands(self, record: Record, u: Value) -> Iterator[tuple[Value, Value]]:
        """Yield each operand that is added, with its directions; a rotation is rotated back."""
        if isinstance(record.operation, op.Rotate):
            x, *waves = record.inputs
            back = op.RotateBack(record.operation.layout)
            rotated = self.derive(x, "projected", back, u.axes, u, *map(self.row, waves))
            yield x, rotated
        else:
            yield from super().to_operands(record, u)

    def added(self, value: Value, u: Value) -> Array:
        """x · u for each direction: (d_k,)."""
        x = value.numbers if value.role.parameter else value.read((self.row_of(value),))
        product = self.tape.arithmetic.matmul(x[np.newaxis], u.numbers.T, [], no_rounding)
        return np.asarray(self.tape.arithmetic.stored(product)[0])

    def row(self, value: Value, at: Value | None = None) -> Value:
        """The token's row of a value with a row or a number for each token, once per direction."""
        rows = op.Rows((self.row_of(value),) * self.of.shape[1])
        axes = (self.row_axis, *value.axes[1:])
        return self.record(at or value, derived(value.role, "row"), rows, axes, value)

    def row_of(self, value: Value) -> int:
        """The row of the token in a value of its tower."""
        scenario = self.found.scenario
        in_encoder = value.axes[0].name == ENCODER_TOKEN and scenario.encoder is not None
        tower = scenario.encoder if in_encoder else scenario
        assert tower
        return value.row(self.token, len(tower.tokens))
