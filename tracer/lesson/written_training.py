"""How the operations of training are written: in symbols, and with the numbers of one entry."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, assert_never

from tracer.decoder.operations import Join, Rotate
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
    Trained,
    TransposedMatMul,
    TwiceProduct,
    Unbias,
)
from tracer.lesson import activations
from tracer.lesson.evaluation import value
from tracer.lesson.expression import (
    Call,
    Difference,
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

if TYPE_CHECKING:
    from tracer.lesson.written import Sides

ONE, TWO = Number.of(1), Number.of(2)


def in_symbols(operation: OfTraining | Join, of: list[Expression]) -> Expression | None:
    """The right-hand side of a formula; nothing where numbers are only taken over."""
    match operation:
        case Miss(_, counted):
            missed = Difference(of[0], Symbol("t"))
            return missed if counted == 1 else Quotient(missed, Number.of(counted))
        case TransposedMatMul():
            return MatrixProduct(Transposed(of[0]), of[1])
        case ColumnTotal():
            return Call("sum over tokens", (of[0],))
        case ColumnDot():
            return Call("sum over tokens", (Product((of[0], of[1])),))
        case RowDot(negative):
            total = Call("sum", (Product((of[0], of[1])),))
            return Negative(total) if negative else total
        case NegativeTotal():
            return Negative(Call("sum", (of[0],)))
        case TimesRow() | Times():
            return Product((of[0], of[1]))
        case RootSlope(epsilon):
            root = Difference(of[1], Number(epsilon)) if epsilon else of[1]
            return Quotient(of[0], Product((TWO, root)))
        case TwiceProduct():
            return Product((TWO, of[0], of[1]))
        case Slope(function):
            return activations.slope(function, of[0])
        case Spread(over, _):
            return Quotient(of[0], Number.of(over))
        case RotateBack():
            cos = of[1]  # of the angles that are turned back by
            return Call("rotate back", (of[0], *(cos.arguments if isinstance(cos, Call) else ())))
        case Together():
            return Sum(tuple(of))
        case ByWord():
            return Call("sum by word", (of[0],))
        case AsRows():
            return Transposed(of[0])
        case Combine(a, b):
            return _combined(a, of[0], b, of[1])
        case Scale(a):
            return Product((Number(a), of[0]))
        case Unbias(beta, steps):
            return Quotient(of[0], _bias(beta, steps))
        case Ratio(epsilon):
            return Quotient(of[0], Sum((Root(of[1]), Number(epsilon))))
        case SumOfSquares():
            return Call("sum", (Power(of[0], TWO),))
        case Columns() | Join():
            return None
        case _:
            assert_never(operation)


def sides(write: Sides, operation: Trained, guard: int) -> list[Expression]:
    """The sides of one entry's line, all but the result."""
    inputs, index, address = write.record.inputs, write.index, write.record.output.address

    def operand(position: int, *at: int) -> Number:
        return write.number(inputs[position], at, guard)

    def part(of: Expression) -> Number:
        return write.part(value(of)[0], address, guard)

    match operation:
        case TransposedMatMul() | ColumnDot() | RowDot():
            sums = list(write.sums(write.record, index, guard))
            negative = isinstance(operation, RowDot) and operation.negative
            return [_negative(side) for side in sums] if negative else sums
        case Miss(columns, counted):
            is_right = index[1] == columns[index[0]]
            missed = Difference(operand(0, *index), ONE if is_right else Number.of(0))
            over = Number.of(counted)
            if counted == 1:
                return [missed]
            return [Quotient(missed, over), Quotient(part(missed), over)]
        case ColumnTotal():
            rows = range(inputs[0].shape[0])
            return [write.terms_of(inputs[0], [(row, *index) for row in rows], guard)]
        case NegativeTotal():
            return [_negative(write.row(0, index[0], guard))]
        case TimesRow():
            return [Product((operand(0, *index), operand(1, index[1])))]
        case Times():
            return [Product((operand(0, *index), operand(1)))]
        case RootSlope(epsilon):
            root: Expression = operand(1, *index)
            if epsilon:
                root = Difference(root, Number(epsilon))
            return [Quotient(operand(0, *index), Product((TWO, root)))]
        case TwiceProduct():
            return [Product((TWO, operand(0, *index), operand(1, *index)))]
        case Slope(function):
            return activations.worked_slope(function, operand(0, *index), part)
        case Spread(over, _):
            return [Quotient(operand(0, index[0]), Number.of(over))]
        case RotateBack(layout):
            return _turned_back(write, Rotate(layout), guard)
        case Together():
            return [Sum(tuple(operand(position, *index) for position in range(len(inputs))))]
        case ByWord(words, _):
            same = [i for i, word in enumerate(words) if word == index[0]]
            return [write.terms_of(inputs[0], [(i, index[1]) for i in same], guard)]
        case Combine(a, b):
            x, y = operand(0, *index), operand(1, *index)
            whole = _combined(a, x, b, y)
            return [whole, _in_parts(whole, part)]
        case Scale(a):
            return [Product((Number(a), operand(0, *index)))]
        case Unbias(beta, steps):
            bias = _bias(beta, steps)
            left = operand(0, *index)
            return [Quotient(left, bias), Quotient(left, Number(value(bias)[0]))]
        case Ratio(epsilon):
            mean, root = operand(0, *index), Root(operand(1, *index))
            known = Sum((part(root), Number(epsilon)))
            return [Quotient(mean, Sum((root, Number(epsilon)))), Quotient(mean, known)]
        case SumOfSquares():
            return list(write.squares(guard))
        case _:
            assert_never(operation)


def _negative(of: Expression) -> Expression:
    """-(a + b); of a single number that number with its other sign, and 0 of 0."""
    if isinstance(of, Number):
        return Number(-of.value or of.value, of.origin, of.at)
    return Negative(of)


def _combined(a: Decimal, x: Expression, b: Decimal, y: Expression) -> Expression:
    """a x + b y, without a factor of 1; a negative b takes away."""
    left = x if a == 1 else Product((Number(a), x))
    right = y if abs(b) == 1 else Product((Number(abs(b)), y))
    return Difference(left, right) if b < 0 else Sum((left, right))


def _in_parts(whole: Expression, part: activations.NumberOf) -> Expression:
    """The same with each product as the number that it comes to."""

    def known(of: Expression) -> Expression:
        return part(of) if isinstance(of, Product) else of

    match whole:
        case Difference(left, right):
            return Difference(known(left), known(right))
        case Sum(terms):
            return Sum(tuple(map(known, terms)))
        case _:
            return whole


def _bias(beta: Decimal, steps: int) -> Difference:
    """1 - β^t."""
    power = Number(beta) if steps == 1 else Power(Number(beta), Number.of(steps))
    return Difference(ONE, power)


def _turned_back(write: Sides, turn: Rotate, guard: int) -> list[Expression]:
    """a × cos + b × sin, or b × cos - a × sin."""
    g, cos, sin = write.record.inputs
    row, column = write.index
    pair, first, second = turn.pair_of(column, g.shape[1])
    own, other = (first, second) if column == first else (second, first)
    kept = Product((write.number(g, (row, own), guard), write.number(cos, (row, pair), guard)))
    mixed = Product((write.number(g, (row, other), guard), write.number(sin, (row, pair), guard)))
    address = write.record.output.address
    parts = [write.part(value(each)[0], address, guard) for each in (kept, mixed)]
    if column == first:
        return [Sum((kept, mixed)), Sum(tuple(parts))]
    return [Difference(kept, mixed), Difference(*parts)]
