"""What each operation of training computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import numpy as np

from tracer.decoder.activations import slope
from tracer.decoder.operations import Rotate
from tracer.decoder.training_operations import (
    AsRows,
    ByWord,
    ColumnDot,
    Columns,
    ColumnTotal,
    Combine,
    Miss,
    NegativeTotal,
    OfTraining,
    Ratio,
    RootSlope,
    RotateBack,
    RowDot,
    Scale,
    Slope,
    Spread,
    SumOfSquares,
    Times,
    TimesRow,
    Together,
    TransposedMatMul,
    TwiceProduct,
    Unbias,
)

if TYPE_CHECKING:
    from tracer.decoder.arithmetic import Arithmetic, Array, Part


def result(arithmetic: Arithmetic, operation: OfTraining, inputs: list[Array], part: Part) -> Array:
    """What an operation gives; `part` rounds the numbers that its line shows on the way."""
    x = inputs
    match operation:
        case TransposedMatMul():
            return arithmetic.matmul(x[0].T, x[1], [], part)
        case Together():
            return _added_up(arithmetic, x)
        case RowDot(negative):
            total = arithmetic.sum(part(x[0] * x[1]), axis=1)
            return -total if negative else total
        case Miss():
            return _missed(arithmetic, operation, x[0], part)
        case ColumnTotal():
            return arithmetic.sum(x[0], axis=0)
        case ColumnDot():
            return arithmetic.sum(part(x[0] * x[1]), axis=0)
        case NegativeTotal():
            return -arithmetic.sum(x[0], axis=1)
        case TimesRow() | Times():
            return x[0] * x[1]
        case RootSlope(epsilon):
            root = arithmetic.add(x[1], -arithmetic.array(epsilon)) if epsilon else x[1]
            return np.asarray(x[0] / (root * arithmetic.array(2)))
        case TwiceProduct():
            return np.asarray(arithmetic.array(2) * x[0] * x[1])
        case Slope(function):
            return slope(function, x[0], arithmetic, part)
        case Spread(over, columns):
            shares = x[0] / arithmetic.array(over)
            return np.repeat(shares[:, np.newaxis], columns, axis=1)
        case RotateBack(layout):
            return _turned_back(arithmetic, Rotate(layout), x, part)
        case Columns(start, stop):
            return x[0][:, start:stop]
        case ByWord(words, table):
            return _by_word(arithmetic, x[0], words, table)
        case AsRows(words, table):
            rows = np.zeros((table, len(x[0])), x[0].dtype) + arithmetic.array(0)
            rows[list(words)] = x[0].T
            return rows
        case Combine(a, b):
            left, right = (
                number if factor == 1 else part(arithmetic.array(factor) * number)
                for factor, number in zip((a, b), x, strict=True)
            )
            return arithmetic.add(left, right)
        case Scale(a):
            return np.asarray(arithmetic.array(a) * x[0])
        case Unbias(beta, steps):
            return x[0] / arithmetic.array(1 - beta**steps)
        case Ratio(epsilon):
            return np.asarray(x[0] / (part(np.sqrt(x[1])) + arithmetic.array(epsilon)))
        case SumOfSquares():
            return np.asarray(arithmetic.sum(part(x[0] * x[0])))
        case _:
            assert_never(operation)


def _missed(arithmetic: Arithmetic, miss: Miss, p: Array, part: Part) -> Array:
    found = np.zeros(p.shape, p.dtype) + arithmetic.array(0)
    for row, column in enumerate(miss.columns):
        if column is not None:
            found[row] = p[row]
            found[row, column] -= arithmetic.array(1)
            found[row] = part(found[row])
    return found / arithmetic.array(miss.counted)


def _added_up(arithmetic: Arithmetic, ways: list[Array]) -> Array:
    stacked = np.stack([np.asarray(way) for way in ways])
    return np.asarray(arithmetic.sum(stacked, axis=0))


def _by_word(arithmetic: Arithmetic, rows: Array, words: tuple[int, ...], table: int) -> Array:
    found = np.zeros((table, rows.shape[1]), rows.dtype) + arithmetic.array(0)
    for word in set(words):
        same = [i for i, other in enumerate(words) if other == word]
        found[word] = arithmetic.sum(rows[same], axis=0)
    return found


def _turned_back(arithmetic: Arithmetic, turn: Rotate, x: list[Array], part: Part) -> Array:
    g, cos, sin = x
    first, second = turn.columns(g.shape[1])
    back = np.empty_like(g)
    back[:, first] = arithmetic.add(part(g[:, first] * cos), part(g[:, second] * sin))
    back[:, second] = arithmetic.add(part(g[:, second] * cos), -part(g[:, first] * sin))
    return back
