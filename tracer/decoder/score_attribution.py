"""Attribution of an attention score to parts of the query and of the key (Elhage et al. 2021).

A score is s = q · k / √d. The query is a sum q = Σ q_a of what each component adds to it, if the σ
of each norm and the weights of the experts are held as computed; so is the key, k = Σ k_b. Hence
s = Σ q_a · k_b / √d, over all pairs of a part of the query and a part of the key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.attribution import Attribution, rounding_of, summed, with_records
from tracer.decoder.axes import Axis
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.roles import Role, derived
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Entry, Value
from tracer.decoder.vector_parts import KEY, QUERY, parts_of, side_label
from tracer.errors import Problem, TracerError


@dataclass(frozen=True)
class SideParts:
    """The components of a query or a key, with their names, and what they add to the score.

    `sums` (parts,) is what a component adds together with all parts of the other side.
    """

    names: tuple[str, ...]
    components: tuple[Value, ...]
    sums: Value


@dataclass(frozen=True)
class ScoreAttribution(Attribution):
    """The parts of an attention score; `pairs` are those of a query and a key part, by index.

    The pairs are in the order of the parts, the largest in size first.
    """

    query: SideParts
    key: SideParts
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
        of_q, q_parts = parts_of(tape, found, QUERY, q, entry.at[0])
        of_k, k_parts = parts_of(tape, found, KEY, k, entry.at[1])
        axes = (Axis("part", tuple(of_q)), Axis("part", tuple(of_k)))
        if divides:
            dot = tape.record_as(roles.PAIR_DOT, op.Dot(), axes, q_parts, k_parts)
            scores = tape.record_as(roles.PAIRS, el.Divide(), axes, dot, record.inputs[1])
        else:
            scores = tape.record_as(roles.PAIRS, op.Dot(), axes, q_parts, k_parts)
        query = _side(tape, of_q, roles.QUERY_SUMS, op.Total(), scores)
        key = _side(tape, of_k, roles.KEY_SUMS, op.ColumnTotal(), scores)
        sizes = np.abs(scores.computed).astype(np.float64)
        ranked = np.argsort(-sizes, axis=None, kind="stable")
        pairs = tuple(divmod(int(at), scores.shape[1]) for at in ranked)
        names = [f"{axes[0].labels[i]} · {axes[1].labels[j]}" for i, j in pairs]
        total = summed(tape, roles.PAIRS_SUM, op.TakeEntries(pairs), names, scores)
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


def _side(
    tape: Tape, components: dict[str, Value], role: Role, add: op.Recorded, of: Value
) -> SideParts:
    """One side, with the sums of its pairs: (parts,)."""
    names = tuple(map(side_label, components.values()))
    labels = tuple(f"{number} {name}" for number, name in zip(components, names, strict=True))
    sums = tape.record_as(role, add, (Axis("part", labels),), of)
    return SideParts(names, tuple(components.values()), sums)
