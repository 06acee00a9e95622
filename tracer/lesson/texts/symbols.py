"""The symbol of each value on the tape: Q¹, r₁, σ² …, as the papers write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from tracer.decoder.elementwise import Difference, Scale
from tracer.decoder.operations import AccumulateGradients
from tracer.decoder.roles import (
    ENCODER_OUTPUT,
    NORM,
    OUTPUT,
    RMS_NORM,
    W_U,
    Derivation,
    Place,
    Role,
)
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import LOSS, Expression, Partial, Symbol
from tracer.lesson.steps.declared import symbol_of
from tracer.lesson.steps.kind import Naming
from tracer.lesson.wiring import Where, in_order, sources, sub_layer_results, where
from tracer.lesson.working.formulas import in_symbols
from tracer.node import Node, rewritten

Pass: TypeAlias = tuple[bool, int | None]
"""Whether a value is the encoder's, and the number of its example in a batch."""

LETTERS: dict[Derivation | None, str] = {
    **{"offset": "m", "projected": "p", "terms": "t", "part": "c"},
    **{"query_part": "A", "query_parts": "A", "query_placed": "A"},
    **{"key_part": "B", "key_parts": "B", "key_placed": "B"},
}
"""What an attribution records besides directions, by its derivation."""

ENCODER = "E"
"""Above each symbol of the encoder: Qᴱ is its query, Q the decoder's."""


@lru_cache(maxsize=4)  # a text for each token asks for those of one pass
def symbols(records: tuple[Record, ...], *, apart: bool = True) -> Mapping[str, Expression]:
    """Return the symbol of every address, in the tape's order.

    With `apart`, heads and networks are numbered.
    """
    ordered = in_order(records)
    read, leave = sources(ordered), dict.fromkeys(sub_layer_results(ordered))
    numbers: dict[Where, int] = {}
    counted = Counter[Pass]()
    for value in leave:
        counted[_pass(value)] += 1
        numbers[where(value)] = counted[_pass(value)]
    values = [record.output for record in ordered]
    several = {where(value) for value in values if apart and value.place.head == 2}
    found: dict[str, Expression] = {}
    others = {value.place.example for value in values} - {None}
    worked = next(i for i in range(1, len(others) + 2) if i not in others) if others else None
    ways = {
        way: r for r in ordered if isinstance(r.operation, AccumulateGradients) for way in r.inputs
    }
    attributed = Counter[str]()
    for record in ordered:
        value, tower = record.output, record.output.place.encoder
        # What comes from an earlier trace has no symbol here, and needs none.
        inputs = tuple(found.get(v.address, Symbol(v.address)) for v in record.inputs)
        if value.place.phase == "attribution" and value.role.of:
            own = of_attribution(record, inputs, attributed)
            found[value.address] = of_encoder(own) if tower else own
            continue
        if value.role.of is not None:
            found[value.address] = of_training(record, found, inputs, ways, worked)
            continue
        head = str(value.place.head) if where(value) in several and value.place.head else ""
        if network := value.place.network:
            numbered = str(network.number) if apart else network.noun[0]
            head = numbered if network.number else network.key[0]
        symbol = symbol_of(value.role)
        number = str(numbers.get(where(value), counted[_pass(value)] + 1))
        if value.place.tower_norm == "embedding_norm":
            number = "0"
        if value in leave:
            symbol = Symbol("x", number)
        elif callable(symbol):
            # A norm that is computed before attention or the FFN is what these read.
            norms = [value.place.address(role) for role in (NORM, RMS_NORM)]
            before = [found[address] for address in norms if address in found]
            x = found[read[value].address] if value in read else Symbol("x")
            typed = value not in read and not before
            block = value.place.token or value.place.block
            part = (str(block or ""), str(value.place.rotary or ""))
            symbol = symbol(Naming(inputs, head, number, before[0] if before else x, typed, *part))
        found[value.address] = of_encoder(symbol) if tower else symbol
    return {record.output.address: found[record.output.address] for record in records}


def symbols_of_the_end(
    records: Sequence[Record], known: Mapping[str, Expression], layers: int
) -> dict[str, Expression]:
    """Return the decoder's symbols behind layers that are not all shown, by address.

    x⁽¹²⁾ is what the last of 12 layers returns, and y what the decoder returns: the counted x
    of a text that shows one layer for all would be the result of another step.
    """
    decoder = [r for r in records if r.inputs and not r.output.place.encoder]
    final = [r for r in decoder if r.output.place.tower_norm == "final_norm"]
    ends = [r for r in decoder if r.output.role is OUTPUT]
    if not ends or not layers:
        return {}
    read, after = (final or ends)[0].inputs[0].address, Symbol("x", above=f"({layers})")
    found: dict[str, Expression] = {read: after}
    for address in (record.output.address for record in final):
        own = known[address]
        found[address] = rewritten(own, Symbol, lambda each: after if each == known[read] else each)
    return found | {record.output.address: _plain(OUTPUT) for record in (*final[-1:], *ends)}


def of_attribution(
    record: Record, inputs: Sequence[Expression], numbers: Counter[str]
) -> Expression:
    """The symbol of what an attribution records, counted by its letter: u₁, u₂, c₁.

    A row has the symbol of its matrix.
    """
    match record.output.role.derivation:
        case "row" | "query_row" | "key_row":
            return inputs[0]
        case "word" | "other_word" | "attributed" as which:
            if isinstance(record.operation, Difference):
                return Symbol("Δ")
            own = Symbol("w") if record.output.role.of is W_U else inputs[0]
            assert isinstance(own, Symbol)
            return replace(own, base=f"{own.base}′") if which == "other_word" else own
        case which:
            letter = LETTERS.get(which, "u")
    numbers[letter] += 1
    return Symbol(letter, str(numbers[letter]))


def of_training(
    record: Record,
    found: Mapping[str, Expression],
    inputs: Sequence[Expression],
    ways: Mapping[Value, Record],
    worked: int | None,
) -> Expression:
    """The symbol of a gradient, of one of its ways, or of what an update makes of a weight.

    `ways` are the gradients that are added up of several: the sum by each of its parts. Those to
    the encoder are counted, since each layer that they come from has the same symbols. In a batch
    the number of the example that is `worked` is known.
    """
    value, role = record.output, record.output.role
    assert role.of and role.derivation
    of = _of(value.place, role.of, found)
    example = value.place.example
    loss = Symbol("L", str(example)) if example else LOSS
    part = Symbol("L", str(example or worked)) if worked else LOSS
    match role.derivation:
        case "gradient":
            return Partial(of, loss)
        case "scaled":
            return Partial(Symbol("x̂"))
        case "mean":
            return Symbol("ḡ", "", of.above if isinstance(of, Symbol) else "")
        case "new":
            assert isinstance(of, Symbol)
            return Symbol(of.base, of.below, f"{of.above}+")
        case "decayed" if isinstance(of, Symbol) and isinstance(record.operation, Scale):
            return Symbol(f"{of.base}′", of.below, of.above)  # the weight, not its gradient
        case "left" | "right" | "third" | "fourth" if value in ways:
            together, whole = ways[value].inputs, ways[value].output
            if whole.role.of is ENCODER_OUTPUT:
                return Symbol("G", str(together.index(value) + 1))
            if whole.role.of and whole.role.of.parameter and worked:
                return Partial(_of(whole.place, whole.role.of, found), part)
            return in_symbols(record, list(inputs)) or inputs[0]
        case "left" | "right" | "third" | "fourth" | "difference" | "squares" | "squared":
            return in_symbols(record, list(inputs)) or inputs[0]
        case "terms_of_left" | "terms_of_right" | "terms_of_third":
            return in_symbols(record, list(inputs)) or inputs[0]
        case _:
            return _plain(role)


def _of(place: Place, role: Role, found: Mapping[str, Expression]) -> Expression:
    """The symbol of what a gradient belongs to; a table, of which rows are read, may have none."""
    symbol = found.get(replace(place, phase="forward").address(role))
    return symbol or (of_encoder(_plain(role)) if place.encoder else _plain(role))


def _plain(role: Role) -> Expression:
    symbol = symbol_of(role)
    return symbol(Naming((), "", "", Symbol("x"))) if callable(symbol) else symbol


def of_encoder(symbol: Expression) -> Expression:
    """Return an expression with each of its symbols as the encoder's."""
    of_it: Expression = rewritten(symbol, Symbol, _raised)
    return of_it


def in_encoder(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a sentence or a sign with each of its symbols as the encoder's."""
    return tuple(rewritten(p, Symbol, _raised) if isinstance(p, Node) else p for p in parts)


def _raised(own: Symbol) -> Symbol:
    above = own.above if own.above.startswith(ENCODER) else ENCODER + own.above
    return Symbol(own.base, own.below, above)


def _pass(value: Value) -> Pass:
    return value.place.encoder, value.place.example
