"""The symbol of each value on the tape: Q¹, r₁, σ² …, as the papers write them."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.roles import ATTENTION_OUTPUT, FFN_OUTPUT, NORM, RESIDUAL, RMS_NORM
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.lesson.expression import Expression, Symbol
from tracer.lesson.steps import Naming, telling

ENDS = (ATTENTION_OUTPUT, FFN_OUTPUT, RESIDUAL, NORM, RMS_NORM)
"""What may leave a sub-layer: the last recorded of these."""


def symbols(records: Sequence[Record], *, apart: bool = True) -> dict[str, Expression]:
    """The symbol of every address, in the tape's order; heads are told `apart` by their number."""
    values = [record.output for record in records]
    ends = [v for v in values if v.role in ENDS and v.place.sub_layer != "lens"]
    last = {_sub_layer(value): value for value in ends}
    leaving = set(last.values())
    several = {_sub_layer(value) for value in values if apart and value.place.head == 2}
    found: dict[str, Expression] = {}
    x: Expression = Symbol("X′")
    sub_layers = 0
    for record in records:
        value = record.output
        # What comes from an earlier trace has no symbol here, and needs none.
        inputs = tuple(found.get(v.address, Symbol(v.address)) for v in record.inputs)
        head = str(value.place.head) if _sub_layer(value) in several and value.place.head else ""
        symbol = telling(value.role)
        if callable(symbol):
            symbol = symbol(Naming(inputs, head, str(sub_layers + 1), x))
        if value in leaving:
            sub_layers += 1
            x = symbol = Symbol("x", str(sub_layers))
        found[value.address] = symbol
    return found


def _sub_layer(value: Value) -> tuple[int | None, str | None]:
    return value.place.layer, value.place.sub_layer
