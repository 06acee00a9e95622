"""What an operation costs, in multiply-adds: products that are added up, known by shapes alone.

What is done number by number costs none here: the exponentials of a softmax, a norm, a sum of two.
"""

from __future__ import annotations

from math import prod
from typing import assert_never

from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import (
    Elementwise,
)
from tracer.decoder.operations import (
    Append,
    ArgMax,
    Concat,
    Copy,
    Cumulate,
    DivTerm,
    Dot,
    Given,
    Interleave,
    Join,
    Largest,
    MatMul,
    Mean,
    MeanOf,
    Pick,
    Pinned,
    Reused,
    Rotate,
    Select,
    Total,
)
from tracer.decoder.tape import Record
from tracer.decoder.training_operations import (
    AsRows,
    ByWord,
    ColumnDot,
    Columns,
    ColumnTotal,
    NegativeTotal,
    OfTraining,
    RotateBack,
    RowDot,
    SumOfSquares,
    Together,
    TransposedMatMul,
)


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
        case (
            Given()
            | Pinned()
            | Copy()
            | Reused()
            | Append()
            | Join()
            | Concat()
            | Interleave()
            | Select()
        ):
            return NONE
        case Elementwise() | Total() | Largest() | Mean() | MeanOf() | DivTerm() | Rotate():
            return NONE
        case Cumulate() | ArgMax() | Pick():
            return NONE
        case _:
            return _of_training(record, record.operation)


def _of_training(record: Record, operation: OfTraining) -> tuple[Axis, Axis, Axis]:
    match operation:
        case TransposedMatMul():
            x, g = record.inputs
            return (x.axes[1], x.axes[0], g.axes[1])
        case ColumnTotal() | ColumnDot() | RowDot() | NegativeTotal() | RotateBack() | Columns():
            return NONE
        case Together() | ByWord() | AsRows() | SumOfSquares():
            return NONE
        case _:
            assert_never(operation)


NOTHING = Axis("nothing", ())
NONE = (NOTHING, NOTHING, NOTHING)
