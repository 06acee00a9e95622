"""How each operation is written in symbols."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.decoder.operations import (
    Activate,
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
    Join,
    Largest,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Multiply,
    Normalize,
    Outer,
    Pick,
    Pinned,
    Reused,
    Rotate,
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
from tracer.lesson import activations, written_training
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
    right = in_symbols(record, [symbols[v.address] for v in record.inputs if v.address in symbols])
    return None if right is None or left == right else Chain((left, right), ("=",))


def in_symbols(record: Record, of: list[Expression]) -> Expression | None:
    """The right-hand side of a formula; nothing where numbers are only taken over."""
    match record.operation:
        case MatMul():
            product = MatrixProduct(of[0], of[1])
            return Sum((product, *of[2:])) if of[2:] else product
        case Dot():
            return MatrixProduct(of[0], Transposed(of[1]))
        case Outer() | Multiply():
            return Product((of[0], of[1]))
        case Rotate():
            cos = of[1]  # of the angles that are turned by
            return Call("rotate", (of[0], *(cos.arguments if isinstance(cos, Call) else ())))
        case Divide():
            return Quotient(of[0], of[1])
        case Add() | Mask():
            return Sum((of[0], of[1]))
        case Subtract():
            return Difference(of[0], of[1])
        case SquareRoot(epsilon, outside):
            if outside and epsilon:
                return Sum((Root(of[0]), Number(epsilon)))
            return Root(Sum((of[0], Number(epsilon))) if epsilon else of[0])
        case Exp():
            return Exponential(of[0])
        case Square():
            return Power(of[0], Number.of(2))
        case Activate(function):
            return activations.written(function, of[0])
        case Total():
            return Call("sum", (of[0],))
        case Mean(sample):
            if sample:
                one_less = record.inputs[0].shape[1] - 1
                return Quotient(Call("sum", (of[0],)), Number.of(one_less))
            return Call("mean", (of[0],))
        case Largest():
            return Call("largest", (of[0],))
        case Normalize(gain, shift):
            whole: Expression = Quotient(of[0], of[1])
            rest = of[2:]
            if gain:
                whole = Product((whole, rest.pop(0)))
            return Sum((whole, rest.pop(0))) if shift else whole
        case DivTerm(width, base, factors):
            power = Power(Number(base), Quotient(Symbol("-2k"), Number.of(width)))
            return Quotient(power, Symbol("f", "k")) if factors else power
        case Share():
            return Quotient(of[0], of[1])
        case Sin():
            return Call("sin", (of[0],))
        case Cos():
            return Call("cos", (of[0],))
        case Surprise():
            return Negative(Call("ln", (of[0],)))
        case MeanOf():
            return Call("mean", (of[0],))
        case Copy() | Reused() | Append() | Join() | Concat() | Interleave() | Select():
            return None
        case Cumulate() | ArgMax() | Pick() | Given() | Pinned():
            return None
        case _:
            return written_training.in_symbols(record.operation, of)
