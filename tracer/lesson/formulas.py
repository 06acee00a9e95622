"""How each operation is written in symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tracer.decoder.operations import (
    Add,
    Append,
    ArgMax,
    Concat,
    Copy,
    Cos,
    Cumulate,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Given,
    Interleave,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Normalize,
    Outer,
    Pick,
    Pinned,
    Relu,
    Reused,
    Select,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)
from tracer.decoder.tape import Record
from tracer.lesson.expression import (
    Call,
    Chain,
    Difference,
    Exponential,
    Expression,
    MatrixProduct,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Symbol,
    Transposed,
)


def formula(record: Record, symbols: Mapping[str, Expression]) -> Chain | None:
    """Symbol = formula; nothing where the symbol says it already."""
    left = symbols[record.output.address]
    # Values of an earlier trace are only taken over: no formula names them.
    right = _in_symbols(record, [symbols[v.address] for v in record.inputs if v.address in symbols])
    return None if right is None or left == right else Chain((left, right), ("=",))


def _in_symbols(record: Record, of: list[Expression]) -> Expression | None:
    match record.operation:
        case MatMul():
            product = MatrixProduct(of[0], of[1])
            return Sum((product, *of[2:])) if of[2:] else product
        case Dot():
            return MatrixProduct(of[0], Transposed(of[1]))
        case Outer():
            return Product((of[0], of[1]))
        case Divide():
            return Quotient(of[0], of[1])
        case Add() | Mask():
            return Sum((of[0], of[1]))
        case Subtract():
            return Difference(of[0], of[1])
        case SquareRoot(epsilon):
            return Root(Sum((of[0], Number(epsilon))) if epsilon else of[0])
        case Exp():
            return Exponential(of[0])
        case Square():
            return Power(of[0], Number.of(2))
        case Relu():
            return Call("max", (Number.of(0), of[0]))
        case Total():
            return Call("sum", (of[0],))
        case Mean():
            return Call("mean", (of[0],))
        case Normalize(gain, shift):
            whole: Expression = Quotient(of[0], of[1])
            rest = of[2:]
            if gain:
                whole = Product((whole, rest.pop(0)))
            return Sum((whole, rest.pop(0))) if shift else whole
        case DivTerm(width):
            return Power(Number.of(10000), Quotient(Symbol("-2k"), Number.of(width)))
        case Share():
            return Quotient(of[0], of[1])
        case Sin() | Cos():
            return Call(record.operation.name, (of[0],))
        case Surprise():
            return Negative(Call("ln", (of[0],)))
        case MeanOf():
            return Call("mean", (of[0],))
        case Copy() | Reused() | Append() | Concat() | Interleave() | Select():
            return None
        case Cumulate() | ArgMax() | Pick() | Given() | Pinned():
            return None
        case _:
            assert_never(record.operation)
