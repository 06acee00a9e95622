"""What the line of an entry puts in, for the operations of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Index


def put_in_by_training(record: Record, index: Index) -> Sequence[Entry | None]:
    """The entries that are put in, in any order."""
    x = record.inputs
    rows, columns, *_ = (*x[0].numbers.shape, 0, 0)
    match record.operation:
        case op.TransposedMatMul():
            i, j = index
            return [e for k in range(rows) for e in (Entry(x[0], (k, i)), Entry(x[1], (k, j)))]
        case op.ColumnTotal() | op.ColumnDot():
            return [Entry(value, (k, *index)) for value in x for k in range(rows)]
        case op.RowDot() | op.NegativeTotal():
            return [Entry(value, (*index, k)) for value in x for k in range(columns)]
        case op.ByWord(words, _):
            return [Entry(x[0], (k, index[1])) for k in range(rows) if words[k] == index[0]]
        case op.ExpertDots(tokens) if index[0] not in tokens[index[1]]:
            return []
        case op.ExpertDots(tokens):
            i, e = index
            at = list(tokens[e]).index(i)
            return [
                y for k in range(columns) for y in (Entry(x[0], (i, k)), Entry(x[1 + e], (at, k)))
            ]
        case el.TimesExpertWeight(tokens, expert):
            token = tokens[index[0]]
            return [Entry(x[0], (token, index[1])), Entry(x[1], (token, expert))]
        case el.TimesRow():
            return [Entry(x[0], index), Entry(x[1], index[1:])]
        case el.Times():
            return [Entry(x[0], index), Entry(x[1], ())]
        case el.BroadcastDivide():
            return [Entry(x[0], index[:1])]
        case op.SumOfSquares():
            return [Entry(x[0], at) for at in np.ndindex(x[0].numbers.shape)]
        case op.RotateBack():
            return _turned_back(record, index)
        case el.SoftmaxCrossEntropyGrad(targets, _) if targets[index[0]] is None:
            return []
        case (
            el.SoftmaxCrossEntropyGrad()
            | el.SquaredErrorGrad()
            | el.BinaryCrossEntropyGrad()
            | el.RootSlope()
            | el.TwiceProduct()
            | op.AccumulateGradients()
            | el.Combine()
            | el.Ratio()
        ):
            return [Entry(value, index) for value in x]
        case el.AdaptGrad(_, rank):
            return [None, Entry(x[0], index), *([None] if rank > 1 else [])]
        case el.GradientOf(el.SoftCap()):  # g×(1 - tanh(x / c)²)
            g, capped = (Entry(value, index) for value in x)
            return [g, None, capped, None, None]
        case el.Slope() | el.Scale() | el.BiasCorrection():
            return [Entry(value, index) for value in x]
    raise AssertionError(record.operation)


def _turned_back(record: Record, index: Index) -> list[Entry]:
    """Both numbers of a pair, and both waves."""
    assert isinstance(record.operation, op.RotateBack)
    g, cos, sin = record.inputs
    i, j = index
    half = cos.numbers.shape[1]
    if j >= 2 * half:
        return [Entry(g, index)]
    pair = j // 2 if record.operation.layout == "pairs" else j % half
    both = (2 * pair, 2 * pair + 1) if record.operation.layout == "pairs" else (pair, pair + half)
    return [*(Entry(g, (i, k)) for k in both), Entry(cos, (i, pair)), Entry(sin, (i, pair))]
