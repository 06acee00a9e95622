"""The formula of each operation in symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from tracer.decoder import operations as op
from tracer.decoder.contract import Contract
from tracer.decoder.elementwise import Elementwise, SoftmaxCrossEntropyGrad, TimesExpertWeight
from tracer.decoder.gather import Gather, Shape
from tracer.decoder.roles import PAIRS
from tracer.decoder.tape import Record
from tracer.formula import expression as ex
from tracer.formula.expression import Expression, Number

MOST = 4
"""The most experts that a formula names; of more, the first two and the last."""

SUMS_BY: dict[str, ex.OfTokens] = {
    **{"word": "sum by word", "bucket": "sum by bucket", "type": "sum by type"},
}
"""The sum of a table's gradients, by the axis of its rows."""


def formula(record: Record, symbols: Mapping[str, Expression]) -> ex.Chain | None:
    """Return symbol = formula; None if the symbol is the formula."""
    left = symbols[record.output.address]
    # Values of an earlier trace are only taken over: no formula names them.
    right = in_symbols(record, [symbols[v.address] for v in record.inputs if v.address in symbols])
    return None if right is None or left == right else ex.Chain((left, right), ("=",))


def in_symbols(record: Record, of: list[Expression]) -> Expression | None:
    """Return the right-hand side of a formula; None where numbers are only taken over."""
    match record.operation:
        case TimesExpertWeight(_, expert):
            return record.operation.formula.symbols([of[0], _column(of[1], expert)])
        case SoftmaxCrossEntropyGrad():
            return record.operation.formula.symbols([*of, ex.Symbol("t")])
        case Elementwise():
            return record.operation.formula.symbols(of)
        case op.ColumnTotal() if record.inputs[0].role is PAIRS:
            return ex.Call("sum over rows", (of[0],))
        case op.Convolve():
            return ex.Call("convolve", (of[0], of[1]))
        case op.ConvolveBack():
            return ex.Call("convolve back", (of[0], of[1]))
        case Contract():
            return _contracted(record.operation, record.inputs[0].shape, of)
        case op.Rotate():
            return ex.Call("rotate", (of[0], *_angles(of[1])))
        case op.Largest():
            return ex.Call("largest", (of[0],))
        case op.LargestSoFar():
            return ex.Call("largest", (*of[1:], of[0]))
        case op.GroupExtreme(kind):
            name: ex.Function = "min" if kind == "smallest" else "max"
            if kind == "magnitude":
                return ex.Call(name, (ex.Call("abs", (of[0],)),))
            return ex.Call(name, (Number.of(0), of[0]))
        case op.DivTerm(width, base, factors):
            power = ex.Power(
                of[0] if base is None else Number(base),
                ex.Quotient(ex.Symbol("-2k"), Number.of(width)),
            )
            return ex.Quotient(power, ex.Symbol("f", "k")) if factors else power
        case op.PowerOfTwo():
            return slope(record.operation)
        case op.AppendColumn():
            return ex.Call("append", (of[0], of[1]))
        case op.DropColumn():
            return ex.Call("all but the last column", (of[0],))
        case op.Rows() if record.inputs[0].role.parameter:
            by_type = record.inputs[0].axes[0].name == "type"
            return ex.Call("by type" if by_type else "by bucket", (of[0],))
        case op.LookUp(_, column):
            is_single = record.inputs[0].shape[1] == 1
            return ex.Call("by offset", (of[0] if is_single else _column(of[0], column),))
        case op.AsRows():
            return ex.Transposed(of[0])
        case Gather() | op.Cumulate() | op.ArgMax() | op.Pick() | op.Given() | op.Pinned():
            return None
        case op.MixExperts():
            weights, *experts = of
            terms = [ex.Product((_column(weights, e), y)) for e, y in enumerate(experts)]
            return terms[0] if len(terms) == 1 else ex.Sum(_ends(terms))
        case op.ExpertDots():
            g, *experts = of
            dots: list[Expression] = [ex.Call("sum", (ex.Product((g, y)),)) for y in experts]
            return dots[0] if len(dots) == 1 else ex.Brackets(_ends(dots))
        case op.RotateBack():
            return ex.Call("rotate back", (of[0], *_angles(of[1])))
        case op.AccumulateGradients() if len(set(of)) == 1:
            return ex.Call("sum over layers", (of[0],))  # which name their values alike
        case op.AccumulateGradients():
            return ex.Sum(tuple(of))
        case op.ByEntry():
            return ex.Call("sum by offset", (of[0],))
        case op.ByWord():
            return ex.Call(SUMS_BY[record.output.axes[0].name], (of[0],))
        case op.SumOfSquares():
            return ex.Call("sum", (ex.Power(of[0], Number.of(2)),))
        case _:
            assert_never(record.operation)


def _contracted(operation: Contract, shape: Shape, of: list[Expression]) -> Expression:
    """x W + b, x Wᵀ, xᵀ W; the sum of a matrix or of a product entry by entry, or its mean."""
    if operation.is_matrix_product:
        (rows, _), (summed, _) = operation.factors
        left = of[0] if rows in operation.kept else ex.Transposed(of[0])
        right = of[1] if summed == operation.summed else ex.Transposed(of[1])
        matrices = ex.MatrixProduct(left, right)
        return ex.Sum((matrices, *of[2:])) if of[2:] else matrices
    terms = ex.Product((of[0], of[1])) if of[1:] else of[0]
    match operation:
        case op.Mean(sample=True):
            one_less = Number.of(shape[1] - 1)
            return ex.Quotient(ex.Call("sum", (terms,)), one_less)
        case op.Mean() | op.MeanOf():
            return ex.Call("mean", (terms,))
        case op.LastColumnTotal():
            return ex.Call("sum of the last column", (terms,))
    over_tokens = operation.kept == operation.factors[0][1:] != ()
    total = ex.Call("sum over tokens" if over_tokens else "sum", (terms,))
    return ex.Negative(total) if operation.negative else total


def slope(power: op.PowerOfTwo) -> Expression:
    """Return 1 / 2^(8 / n), in which no number has a sign."""
    exponent = ex.Quotient(Number.of(-power.over), Number.of(power.under))
    return ex.Quotient(Number.of(1), ex.Power(Number.of(2), exponent))


def _column(matrix: Expression, column: int) -> Expression:
    """The symbol of a column: G₁ of G."""
    assert isinstance(matrix, ex.Symbol)
    return ex.Symbol(matrix.base, str(column + 1), matrix.above)


def _ends(terms: Sequence[Expression]) -> tuple[Expression, ...]:
    """The terms, or of many the first ones and the last."""
    return tuple(terms) if len(terms) <= MOST else (*terms[:2], ex.Symbol("…"), terms[-1])


def _angles(cos: Expression) -> tuple[Expression, ...]:
    """The angles of a cosine, which is written cos(θ), or m×cos(θ)."""
    cos = cos.factors[-1] if isinstance(cos, ex.Product) else cos
    return cos.arguments if isinstance(cos, ex.Call) else ()
