"""The gradients of tables: embeddings and learned positions, of which a pass reads some rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.gradients import gradients
from tracer.decoder.operations import AccumulateGradients, AsRows, ByWord, Copy, Recorded
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.model import Scenario, Tower


class TableGradient(NamedTuple):
    """A part of a table's gradient: an operation on the gradient `g` of the rows that were read."""

    side: roles.Derivation
    operation: Recorded
    g: Value


def towers(scenario: Scenario) -> Iterable[tuple[roles.Place, Tower]]:
    """The decoder, and the encoder if it is computed, each with the place of its tables."""
    yield roles.Place(), scenario
    if scenario.encoder and scenario.encodes:
        yield roles.Place(encoder=True), scenario.encoder


def tables(tower: Tower) -> dict[roles.Role, Any]:
    """The rows of each table that a tower has."""
    embeddings = tower.embeddings
    rows = tuple(embeddings.values()) if isinstance(embeddings, Mapping) else embeddings
    both = {roles.EMBEDDINGS: rows, roles.POSITIONS: tower.positions and tower.positions.table}
    return {role: table for role, table in both.items() if table is not None}


def all_gradients(tape: Tape, scenario: Scenario) -> None:
    """Record the gradient of the loss at everything that is learned, tables included.

    Raises:
        TracerError: no learned number acts on the loss, or the scenario pins a part of a softmax.
    """

    def is_trained(value: Value) -> bool:
        role = roles.TABLES.get(value.role, value.role)
        if role is roles.W_U and scenario.is_tied:
            role = roles.EMBEDDINGS
        return scenario.optimizer.does_train(replace(value.place, example=None).address(role))

    found = gradients(tape, is_trained, {*scenario.upstream})
    in_order = sorted(found.items(), key=lambda each: each[0].place.example or 0)
    for place, tower in towers(scenario):
        here = {x: g for x, g in in_order if x.place.encoder == place.encoder}
        _of_embeddings(tape, place, tower, here, is_tied=scenario.is_tied and not place.encoder)
        _of_positions(tape, place, tower, here)


def _of_embeddings(
    tape: Tape, place: roles.Place, tower: Tower, found: Mapping[Value, Value], *, is_tied: bool
) -> None:
    table = tower.embeddings
    learned = [(x, g) for x, g in found.items() if x.role is roles.EMBEDDING]
    if not isinstance(table, Mapping):
        paths = [TableGradient("left", Copy(), g) for _, g in learned]
        _of_table(tape, place, roles.EMBEDDINGS, tower.tokens, paths)
        return
    row_of = {word: i for i, word in enumerate(table)}

    def rows(words: Iterable[str]) -> tuple[int, ...]:
        return tuple([row_of[word] for word in words])

    paths = [
        TableGradient("left", ByWord(rows(x.axes[0].labels), len(table)), g) for x, g in learned
    ]
    for w_u, g in found.items():
        if is_tied and w_u.role is roles.W_U:
            paths.append(TableGradient("right", AsRows(rows(w_u.axes[1].labels), len(table)), g))
    _of_table(tape, place, roles.EMBEDDINGS, tuple(table), paths)


def _of_positions(
    tape: Tape, place: roles.Place, tower: Tower, found: Mapping[Value, Value]
) -> None:
    rows = tower.positions.table if tower.positions else None
    if rows is None:
        return
    learned = [(p, g) for p, g in found.items() if p.role is roles.POSITION]
    paths = [
        TableGradient("left", ByWord(tuple(range(p.shape[0])), len(rows)), g) for p, g in learned
    ]
    counted = tuple([str(i) for i in range(1, len(rows) + 1)])
    _of_table(tape, place, roles.POSITIONS, counted, paths)


def _of_table(
    tape: Tape,
    place: roles.Place,
    role: roles.Role,
    words: tuple[str, ...],
    paths: Sequence[TableGradient],
) -> None:
    if not paths:
        return
    first = paths[0].g.axes
    axes = (Axis("word", words), first[0] if paths[0].side == "right" else first[1])
    whole, at = roles.derived(role, "gradient"), replace(place, phase="gradient")
    with tape.within(at):
        if len(paths) == 1:
            tape.record_as(whole, paths[0].operation, axes, paths[0].g)
            return
    along: list[Value] = []
    for path in paths:
        with tape.within(replace(at, example=path.g.place.example)):
            along.append(
                tape.record_as(roles.derived(role, path.side), path.operation, axes, path.g)
            )
    with tape.within(at):
        tape.record_as(whole, AccumulateGradients(), axes, *along)
