"""The multiply-adds of an operation, from its shapes. Elementwise operations count as free."""

from __future__ import annotations

from math import prod

from tracer.decoder.axes import Axis
from tracer.decoder.contract import Contract
from tracer.decoder.tape import Record

NOTHING = Axis("nothing", ())


def multiply_adds(record: Record) -> int:
    """The number of products that are summed: n · d · m where (n, d) is multiplied by (d, m)."""
    return prod(len(axis.labels) for axis in _multiplied(record))


def degree(record: Record) -> int:
    """The power of the number of tokens with which the multiply-adds grow: 0, 1 or 2."""
    if record.output.place.token:
        return 1  # each token has such a product
    rows, inner, columns = _multiplied(record)
    # The encoder's tokens stay constant: it attends to them, and so does cross-attention.
    place = record.output.place
    attends = not place.encoder and place.sub_layer != "cross_attention"
    over_keys = attends and inner.name == "key"
    return (rows.name == "token") + (columns.name == "token" or over_keys)


def _multiplied(record: Record) -> tuple[Axis, Axis, Axis]:
    """The axes of the products: rows, summed axis, columns; empty axes for a free operation."""
    operation = record.operation
    if not isinstance(operation, Contract) or not operation.is_matrix_product:
        return (NOTHING, NOTHING, NOTHING)
    if record.output.place.block:
        return (NOTHING, NOTHING, NOTHING)  # the same products as those of the whole rows
    axes = [value.axes for value in record.inputs]
    rows, columns = (operation.axis(name, axes) for name in operation.kept)
    return (rows, operation.axis(operation.summed, axes), columns)
