"""What an operation costs, in multiply-adds: products that are added up, known by shapes alone.

What is done number by number costs none here: the exponentials of a softmax, a norm, a sum of two.
"""

from __future__ import annotations

from math import prod

from tracer.decoder.axes import Axis
from tracer.decoder.operations import Dot, MatMul, TransposedMatMul
from tracer.decoder.tape import Record

NOTHING = Axis("nothing", ())


def multiply_adds(record: Record) -> int:
    """How many products are added up: n · d · m where (n, d) is multiplied by (d, m)."""
    return prod(len(axis.labels) for axis in _multiplied(record))


def degree(record: Record) -> int:
    """With which power of the number of tokens they grow: 0, 1 or 2."""
    rows, inner, columns = _multiplied(record)
    # The encoder's tokens stay as many: it attends to them, and so does cross-attention.
    place = record.output.place
    attends = not place.encoder and place.sub_layer != "cross_attention"
    over_keys = attends and inner.name == "key"
    return (rows.name == "token") + (columns.name == "token" or over_keys)


def _multiplied(record: Record) -> tuple[Axis, Axis, Axis]:
    """The axes of the products: rows, what is added up, columns; without entries if none are."""
    match record.operation:
        case MatMul():
            x, w, *_ = record.inputs
            return (*x.axes, w.axes[1])  # type: ignore[return-value]  # x has two
        case Dot():
            q, k = record.inputs
            return (*q.axes, k.axes[0])  # type: ignore[return-value]  # q has two
        case TransposedMatMul():
            x, g = record.inputs
            return (x.axes[1], x.axes[0], g.axes[1])
        case _:
            return (NOTHING, NOTHING, NOTHING)
