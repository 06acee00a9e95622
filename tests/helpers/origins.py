"""Where each number of a trace comes from, told a second time: by operation, entry by entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.origins_of_training import put_in_by_training
from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.forward import Trace
from tracer.decoder.operations import AsRows, Columns
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Index, Value


def put_in(of: Trace, record: Record, index: Index) -> list[Entry | None]:
    """What stands in an entry's line before any sign, in order; None for the formula's own."""
    x = record.inputs
    match record.operation:
        case op.MatMul():
            return [*_products(record, index), *(Entry(bias, index[1:]) for bias in x[2:])]
        case op.Dot():
            return [*_products(record, index)]
        case op.MixExperts(rows):
            token, feature = index
            places = [(e, list(r).index(token)) for e, r in enumerate(rows) if token in r]
            terms = ((Entry(x[0], (token, e)), Entry(x[1 + e], (i, feature))) for e, i in places)
            return [factor for term in terms for factor in term]
        case el.Divide() if isinstance(of.producers[x[0]].operation, op.Dot):
            scale = of.producers[x[1]]
            root = scale.inputs[0] if isinstance(scale.operation, el.SquareRoot) else x[1]
            return [*_products(of.producers[x[0]], index), Entry(root, ())]
        case el.Divide() if isinstance(of.producers[x[1]].operation, el.SquareRoot):
            d_k = of.producers[x[1]].inputs[0]
            return [Entry(x[0], index), Entry(d_k if x[1].role.name == "scale" else x[1], ())]
        case el.Divide():
            return [Entry(x[0], index), Entry(x[1], ())]
        case el.DivideByRowSum() | el.Subtract() | el.BelowMaximum():
            return [Entry(x[0], index), Entry(x[1], index[:1])]
        case el.Add() | el.Mask() | el.Multiply() | el.Difference() | el.MaximumChange():
            return [Entry(x[0], index), Entry(x[1], index)]
        case el.Outer():
            return [Entry(x[0], index[:1]), Entry(x[1], index[1:])]
        case el.SquareRoot(epsilon):
            return [Entry(x[0], index), *([None] if epsilon else [])]
        case el.Exp() | el.Sin() | el.Cos() | el.NegativeLog():
            return [Entry(x[0], index)]
        case el.Square():
            return [Entry(x[0], index), None]
        case el.Penalize():
            return [Entry(x[0], index), Entry(x[1], ()), Entry(x[2], index)]
        case el.Adapt(_, rank):
            return [Entry(x[0], index), None, Entry(x[1], index), *([None] if rank > 1 else [])]
        case op.PowerOfTwo():  # 1 / 2^(8 / n)
            return [None] * 4
        case el.SoftCap():  # c×tanh(x / c)
            return [None, Entry(x[0], index), None]
        case el.Scale():
            return [None, Entry(x[0], index)]
        case el.DivideBy():
            return [Entry(x[0], index), None]
        case el.Sigmoid():
            return [None, None, Entry(x[0], index)]
        case el.OfTarget():
            p, t = (Entry(value, index) for value in x)
            return [t, p, None, t, None, p]
        case el.Activate("relu"):
            return [None, Entry(x[0], index)]
        case el.Activate("gelu"):
            return [Entry(x[0], index)] * 2
        case el.Activate("silu"):
            return [Entry(x[0], index), None, Entry(x[0], index)]
        case el.Activate("gelu_tanh"):  # x / (1 + e^(-√(8 / π)×(x + 0.044715×x³)))
            it = Entry(x[0], index)
            return [it, None, None, it, None, it, None]
        case op.Rotate():
            return _turned(record, index)
        case op.LargestSoFar():
            return [*(Entry(before, index) for before in x[1:]), *_row(x[0], index[0])]
        case el.Rescale():
            return [Entry(x[1], index), Entry(x[0], index), Entry(x[2], index)]
        case el.RescaleRows():
            return [Entry(x[1], index[:1]), Entry(x[0], index), Entry(x[2], index)]
        case op.Total():
            return _row(x[0], index[0])
        case op.Mean():
            return [*_row(x[0], index[0]), None]
        case op.MeanOf(counted):
            return [*(Entry(x[0], (i,)) for i in counted), None]
        case op.SumOf(counted):
            return [Entry(x[0], (i,)) for i in counted]
        case el.Normalize():
            parameters = [Entry(parameter, index[1:]) for parameter in x[2:]]
            one = [None] * (record.operation.gain and record.operation.unit_offset)
            return [Entry(x[0], index), Entry(x[1], index[:1]), *one, *parameters]
        case el.NegativeLogLikelihood(columns, _):
            column = columns[index[0]]
            return [] if column is None else [Entry(x[0], (index[0], column))]
        case op.Cumulate():
            row, column = index
            before = Entry(record.output, (row, column - 1)) if column else None
            return [before, Entry(x[0], index)]
        case op.DivTerm(_, _, factors):  # base, exponent over width, and a factor
            return [None] * (4 if factors else 3)
        case op.ArgMax(words) | op.Pick(words):
            column = words.index(str(record.output.numbers[index]))
            return [Entry(x[0], (index[0], column))]
        case op.Given() | op.Pinned() | op.Keep():
            return []
    return [*put_in_by_training(record, index)]


def has_line(record: Record, index: Index) -> bool:
    """Whether there is anything to write out for an entry of what is computed."""
    match record.operation:
        case el.DivideByRowSum():
            return bool(record.inputs[1].numbers[index[0]])  # else the whole row is hidden
        case el.Subtract() | el.BelowMaximum():
            return not is_hidden(record, index)
        case el.MaximumChange():
            return bool(record.inputs[1].numbers[index].is_finite())
        case el.NegativeLogLikelihood(columns, _):
            return columns[index[0]] is not None
        case op.AppendZeros() | op.Given() | op.Pinned() | op.ArgMax() | op.Pick() | el.Mask():
            return False
        case op.Columns():
            return False
        case operation:
            return not isinstance(operation, op.Moved)


def is_hidden(record: Record, index: Index) -> bool:
    """Whether there are no numbers in the row that it is made of, but -∞."""
    return not any(number.is_finite() for number in record.inputs[0].numbers[index[0]])


def before(of: Trace, entry: Entry) -> Entry | None:
    """The entry that another one is under a new name."""
    record = of.producers[entry.value]
    if not isinstance(record.operation, op.Moved):
        return None
    if isinstance(record.operation, el.Mask) and not entry.value.numbers[entry.at].is_finite():
        return None
    if isinstance(record.operation, op.Keep):
        row, column = entry.at
        if column not in record.operation.columns[row]:
            return None
    if isinstance(record.operation, op.Largest) and is_hidden(record, entry.at):
        return None
    moved: Entry | None = _moved(record)[entry.at]
    return moved


def origin(of: Trace, entry: Entry) -> Entry:
    """The entry, or the one that it is under other names and with the same digits."""
    while other := before(of, entry):
        a, b = (str(each.value.numbers[each.at]) for each in (entry, other))
        if of.scenario.rounding.carry != "never" and a != b:
            break
        entry = other
    return entry


def levels(of: Trace, entry: Entry) -> list[set[Entry]]:
    """The entry; what was put in for it; what was put in for that …; each once, the nearest."""
    found = [{origin(of, entry)}]
    seen = {*found[0]}
    while found[-1]:
        behind = set[Entry]()
        for value, at in found[-1]:
            record = of.producers[value]
            silent = isinstance(
                record.operation,
                el.DivideByRowSum
                | el.NegativeLogLikelihood
                | el.Subtract
                | el.BelowMaximum
                | el.MaximumChange
                | op.Largest,
            )
            if silent and not has_line(record, at):
                continue
            if isinstance(record.operation, op.LargestSoFar) and value.numbers[at].is_infinite():
                continue
            if other := before(of, Entry(value, at)):
                behind.add(origin(of, other))
                continue
            behind |= {origin(of, e) for e in put_in(of, record, at) if e is not None}
        found.append(behind - seen)
        seen |= behind
    return found[:-1]


def _products(record: Record, index: Index) -> list[Entry]:
    """The factors of a matrix product; the second matrix of a dot product stands on its side."""
    a, b = record.inputs[:2]
    i, j = index
    terms = a.numbers.shape[1]
    sideways = isinstance(record.operation, op.Dot)
    pairs = ((Entry(a, (i, k)), Entry(b, (j, k) if sideways else (k, j))) for k in range(terms))
    return [factor for pair in pairs for factor in pair]


def _turned(record: Record, index: Index) -> list[Entry | None]:
    """a cos - b sin in the first column of a pair, a sin + b cos in the second."""
    x, cos, sin = record.inputs
    i, j = index
    width = 2 * cos.numbers.shape[1]
    assert isinstance(record.operation, op.Rotate)
    if j >= width:
        return [Entry(x, index)]
    if record.operation.layout == "pairs":
        pair, is_second = divmod(j, 2)
        columns = (2 * pair, 2 * pair + 1)
    else:
        is_second, pair = divmod(j, width // 2)
        columns = (pair, pair + width // 2)
    waves = (sin, cos) if is_second else (cos, sin)
    return [
        entry
        for column, wave in zip(columns, waves, strict=True)
        for entry in (Entry(x, (i, column)), Entry(wave, (i, pair)))
    ]


def _row(of: Value, i: int) -> list[Entry | None]:
    columns = of.numbers.shape[1]
    return [Entry(of, (i, k)) for k in range(columns)]


def _moved(record: Record) -> NDArray[Any]:
    """The operation done on entries instead of their numbers."""
    x = []
    for value in record.inputs:
        entries = np.empty(value.numbers.shape, object)
        for index in np.ndindex(entries.shape):
            entries[index] = Entry(value, index)
        x.append(entries)
    match record.operation:
        case op.Copy() | op.Reused() | el.Mask():
            return x[0]
        case op.Append():
            return np.concatenate(x, axis=0)
        case op.Concat():
            return np.concatenate(x, axis=1)
        case op.AppendColumn():
            return np.concatenate([x[0], np.resize(x[1], (len(x[0]), 1))], axis=1)
        case op.DropColumn():
            return x[0][:, :-1]
        case op.AppendZeros():
            return np.concatenate([x[0], np.array([[None]] * len(x[0]))], axis=1)
        case op.Interleave():
            width = record.output.numbers.shape[1]
            return np.stack(x, axis=2).reshape(len(x[0]), -1)[:, :width]
        case op.Keep():
            return x[0]
        case op.Rows(kept):
            return np.asarray(x[0][list(kept)])
        case op.PlaceRows(kept, n):
            placed = np.resize(np.array([None], object), (n, *x[0].shape[1:]))
            placed[list(kept)] = x[0]
            return placed
        case op.PlaceColumns(start, n):
            placed = np.resize(np.array([None], object), (len(x[0]), n))
            width = len(x[0][0])
            placed[:, start : start + width] = x[0]
            return placed
        case op.Select(columns):
            return np.asarray(x[0][-1:, list(columns)])
        case Columns(start, stop):
            return x[0][:, start:stop]
        case AsRows(words, table):
            rows = np.full((table, len(x[0])), None, object)
            rows[list(words)] = x[0].T
            return rows
        case op.Largest():
            largest = np.empty(len(x[0]), object)
            for i, row in enumerate(record.inputs[0].numbers):
                largest[i] = x[0][i, list(row).index(max(row))]
            return largest
        case op.LargestSoFar():
            largest = np.empty(len(x[0]), object)
            for i, row in enumerate(record.inputs[0].numbers):
                before = [value.numbers[i] for value in record.inputs[1:]]
                origins = [*(each[i] for each in x[1:]), *x[0][i]]
                numbers = [*before, *row]
                hidden = not max(numbers).is_finite()  # every key so far
                largest[i] = None if hidden else origins[numbers.index(max(numbers))]
            return largest
    raise AssertionError(record.operation)
