"""The inputs of the records of a pass, independent of the order of recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import TypeAlias, get_args

from tracer.decoder import roles
from tracer.decoder.part import all_roles, ffn_outputs, parts
from tracer.decoder.tape import Record
from tracer.decoder.value import Value

Where: TypeAlias = tuple[
    bool, int | None, int | None, roles.SubLayer | None, roles.TowerNorm | None
]
"""A sub-layer or a norm outside of layers: encoder, example, layer, sub-layer, norm."""

ENDS = (
    *(roles.ATTENTION_OUTPUT, *ffn_outputs()),
    *(roles.RESIDUAL, roles.NORM, roles.RMS_NORM),
    *(roles.NORM_AFTER.layer_norm, roles.NORM_AFTER.rms_norm),
)
"""Roles that can be the result of a sub-layer."""

VECTORS = (roles.INPUT, *ENDS)
"""The vectors of the tokens, which sub-layers read."""

AFTER_THE_OTHERS = 10**6
"""The rank of a network without a number among those with one."""

RANKS = {role: rank for rank, role in enumerate(all_roles())}
OF_ALL_HEADS = {role for part in parts() for role in part.of_all_heads}
SUB_LAYERS = (*get_args(roles.SubLayer), None)


def where(value: Value) -> Where:
    """The sub-layer of a value."""
    return where_at(value.place)


def where_at(place: roles.Place) -> Where:
    """The sub-layer of a place."""
    return place.encoder, place.example, place.layer, place.sub_layer, place.tower_norm


@lru_cache(maxsize=4)  # a text for each token asks for those of one pass
def in_order(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """The records of the forward pass, each after those it reads, then the records of training.

    Independent records are ordered by place and role; parameters precede their first reader.
    """
    passed = [record for record in records if record.output.place.phase == "forward"]
    producers = {record.output: record for record in passed}
    spanned: dict[Where, float] = {}
    for value in (r.output for r in passed if r.output.role in OF_ALL_HEADS):
        spanned[where(value)] = min(RANKS[value.role], spanned.get(where(value), inf))
    blocks: dict[tuple[Where, int | None], int] = {}
    for value in (r.output for r in passed if r.output.place.block):
        head = where(value), value.place.head
        blocks[head] = min(RANKS[value.role], blocks.get(head, RANKS[value.role]))
    behind = _behind_heads(passed, producers)
    found: dict[Value, Record] = {}
    for record in sorted(
        passed,
        key=lambda r: _rank(
            r,
            spanned.get(where(r.output), inf),
            blocks.get((where(r.output), r.output.place.head), 0),
            behind=r.output in behind,
        ),
    ):
        _add(record, producers, found)
    return (*found.values(), *(r for r in records if r.output.place.phase != "forward"))


def _add(record: Record, producers: Mapping[Value, Record], found: dict[Value, Record]) -> None:
    """Add a record to those found, behind the records that it reads."""
    if record.output not in found:
        for value in record.inputs:
            if value in producers:
                _add(producers[value], producers, found)
        found[record.output] = record


def _behind_heads(records: Sequence[Record], producers: Mapping[Value, Record]) -> set[Value]:
    """The values outside of heads and networks that are computed from those of their sub-layer."""
    found: dict[Value, bool] = {}

    def is_behind(value: Value) -> bool:
        if value not in found:
            read = producers[value].inputs if value in producers else ()
            own = [each for each in read if where(each) == where(value)]
            inside = value.place.head or value.place.network
            found[value] = not inside and any(
                v.place.head or v.place.network or is_behind(v) for v in own
            )
        return found[value]

    return {record.output for record in records if is_behind(record.output)}


def _rank(record: Record, spanned: float, blocks: int, *, behind: bool) -> tuple[float, ...]:
    """Examples before the batch, encoder before decoder, lens last; heads, networks before sums.

    From the rank `spanned` on, roles come after the projections of all heads of an attention. The
    blocks of a head, whose first role has the rank `blocks`, come one after the other.
    """
    role, place = record.output.role, record.output.place
    is_before = is_before_layers(record.output)
    return (
        role.parameter,
        place.example or inf,
        not place.encoder,
        place.sub_layer == "lens",
        place.layer or (0 if is_before else inf),
        SUB_LAYERS.index(place.sub_layer),
        RANKS[role] >= spanned,
        place.head or (inf if behind else 0),
        (place.network.number or AFTER_THE_OTHERS) if place.network else inf,
        *((blocks, place.block) if place.block else (RANKS[role], 0)),
        RANKS[role],
    )


def is_before_layers(value: Value) -> bool:
    """Whether a value outside of all layers is computed before those of its tower."""
    return RANKS[value.role] < RANKS[roles.W_Q] or value.place.tower_norm == "embedding_norm"


def sub_layer_results(records: Iterable[Record]) -> list[Value]:
    """The results of each sub-layer and final norm: those that nothing inside reads."""
    passed = [record for record in records if record.output.place.phase == "forward"]
    inside = {(value, where(record.output)) for record in passed for value in record.inputs}
    ends = [r.output for r in passed if r.output.role in ENDS]
    of_model = [value for value in ends if value.place.sub_layer != "lens"]
    of_model = [value for value in of_model if value.place.tower_norm != "embedding_norm"]
    return [value for value in of_model if (value, where(value)) not in inside]


def shared_norms(records: Sequence[Record]) -> list[Value]:
    """The norms that are read in their sub-layer and in another one, as in a parallel block."""
    passed = [record for record in records if record.output.place.phase == "forward"]
    results = set(sub_layer_results(records))
    elsewhere = {v for record in passed for v in record.inputs if where(v) != where(record.output)}
    ends = (record.output for record in passed if record.output.role in ENDS)
    return [value for value in ends if value in elsewhere and value not in results]


def sources(records: Iterable[Record]) -> dict[Value, Value]:
    """For each value inside a sub-layer, the vectors it comes from; in attention, the queries'.

    `records` must follow those that they read.
    """
    found: dict[Value, Value] = {}
    for record in records:
        here = where(record.output)
        for value in record.inputs:
            inside = where(value) == here
            source = found.get(value) if inside else value if value.role in VECTORS else None
            if source:
                found[record.output] = source
                break
    return found


def summands(residual: Record) -> tuple[Value, Value]:
    """The input of a residual connection, and the result of its sub-layer."""
    first, second = residual.inputs
    return (second, first) if where(first) == where(residual.output) else (first, second)
