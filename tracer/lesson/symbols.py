"""The symbol of each value on the tape: Q¹, r₁, σ² …, as the papers write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, get_args

from tracer.decoder.elementwise import Scale
from tracer.decoder.roles import (
    ATTENTION_OUTPUT,
    ENCODER_OUTPUT,
    FFN_OUTPUT,
    NORM,
    RESIDUAL,
    RMS_NORM,
    Role,
)
from tracer.decoder.tape import Record
from tracer.decoder.training_operations import Together
from tracer.decoder.value import Value
from tracer.formula.expression import LOSS, Expression, Number, Partial, Symbol
from tracer.lesson.formulas import in_symbols
from tracer.lesson.steps import Naming, telling

INPUT = Symbol("X′")

Pass: TypeAlias = tuple[bool, int | None]
"""Whether it is the encoder's, and of which example of a batch."""

ENDS = (ATTENTION_OUTPUT, FFN_OUTPUT, RESIDUAL, NORM, RMS_NORM)
"""What may leave a sub-layer: the last recorded of these."""

ENCODER = "E"
"""Above each symbol of the encoder: Qᴱ is its query, Q the decoder's."""


def symbols(records: Sequence[Record], *, apart: bool = True) -> dict[str, Expression]:
    """The symbol of every address, in the tape's order; heads are told `apart` by their number."""
    values = [record.output for record in records]
    ends = [v for v in values if v.role in ENDS and v.place.sub_layer != "lens"]
    last = {_sub_layer(value): value for value in ends}
    leaving = set(last.values())
    several = {_sub_layer(value) for value in values if apart and value.place.head == 2}
    found: dict[str, Expression] = {}
    x: dict[Pass, Expression] = {}
    sub_layers = Counter[Pass]()
    others = {value.place.example for value in values} - {None}
    worked = next(i for i in range(1, len(others) + 2) if i not in others) if others else None
    ways = {way: r for r in records if isinstance(r.operation, Together) for way in r.inputs}
    for record in records:
        value, tower = record.output, record.output.place.encoder
        # What comes from an earlier trace has no symbol here, and needs none.
        inputs = tuple(found.get(v.address, Symbol(v.address)) for v in record.inputs)
        if value.role.of is not None:
            found[value.address] = of_training(record, found, inputs, ways, worked)
            continue
        head = str(value.place.head) if _sub_layer(value) in several and value.place.head else ""
        symbol, of = telling(value.role), _pass(value)
        if callable(symbol):
            came = x.get(of, of_encoder(INPUT) if tower else INPUT)
            symbol = symbol(Naming(inputs, head, str(sub_layers[of] + 1), came))
        if value in leaving:
            sub_layers[of] += 1
            symbol = Symbol("x", str(sub_layers[of]))
        found[value.address] = symbol = of_encoder(symbol) if tower else symbol
        if value in leaving:
            x[of] = symbol
    return found


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
    of = found.get(replace(value.place, phase="forward").address(role.of)) or _plain(role.of)
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
        case "left" | "right" | "third" | "fourth":
            if value in ways:
                together, whole = ways[value].inputs, ways[value].output
                if whole.role.of is ENCODER_OUTPUT:
                    return Symbol("G", str(together.index(value) + 1))
                if whole.role.of and whole.role.of.parameter and worked:
                    parameter = replace(whole.place, phase="forward").address(whole.role.of)
                    return Partial(found.get(parameter) or _plain(whole.role.of), part)
            return in_symbols(record, list(inputs)) or inputs[0]
        case "difference" | "squares" | "squared":
            return in_symbols(record, list(inputs)) or inputs[0]
        case _:
            return _plain(role)


def _plain(role: Role) -> Expression:
    """A symbol that depends on nothing else."""
    symbol = telling(role)
    return symbol(Naming((), "", "", Symbol("x"))) if callable(symbol) else symbol


def of_encoder(symbol: Expression) -> Expression:
    """An expression with each of its symbols as the encoder's."""
    match symbol:
        case Symbol(base, below, above):
            return symbol if above.startswith(ENCODER) else Symbol(base, below, ENCODER + above)
        case Number():
            return symbol
        case _:
            parts = (getattr(symbol, name) for name in symbol.__match_args__)
            return type(symbol)(*map(_of_encoder, parts))


def _of_encoder(part: Any) -> Any:
    """A part of an expression: others, several of them, or what is none."""
    if isinstance(part, tuple):
        return tuple(map(_of_encoder, part))
    return of_encoder(part) if isinstance(part, get_args(Expression)) else part


def _sub_layer(value: Value) -> tuple[Pass, int | None, str | None]:
    return _pass(value), value.place.layer, value.place.sub_layer


def _pass(value: Value) -> Pass:
    return value.place.encoder, value.place.example
