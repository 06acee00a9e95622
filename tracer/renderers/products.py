"""Matrices beside each other on a wide terminal, with the operators: X · W = Q."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import TypeAlias

from tracer.formula import expression as ex
from tracer.lesson.document import Block, Matrix, Working
from tracer.renderers.rows import Row, cells, padded
from tracer.renderers.tables import matrix_rows
from tracer.renderers.text import text

SIDE_BY_SIDE = 120
"""The narrowest terminal with matrices beside each other."""
UNBROKEN = 10_000

Board: TypeAlias = dict[ex.Expression, Matrix]
"""The last matrix on the page for each symbol."""

Parts: TypeAlias = list[str | ex.Expression]
"""Operators and symbols, in the order of an equation."""


def equation(formula: ex.Chain, blocks: Sequence[Block], board: Board) -> list[str | Matrix] | None:
    """The matrices of a formula with the operators between them: X, `·`, W, `=`, Q; or None.

    All must be in these blocks, or on the page before and used in their lines.
    """
    right = _parts(formula.sides[-1])
    if right is None or formula.relations != ("=",):
        return None
    own = {bare(block.symbol): block for block in blocks if isinstance(block, Matrix)}
    used = _values_put_in(blocks)
    known: Board = {**{s: m for s, m in board.items() if _value(m) in used}, **own}
    parts = [part if isinstance(part, str) else _matrix(part, known) for part in right]
    result = own.get(bare(formula.sides[0]))
    if result is None or None in parts:
        return None
    found = [part for part in parts if part is not None]
    left = [_factor(part) if sign == "·" else part for sign, part in pairwise(["", *found])]
    return [*left, "=", result]


def equation_rows(parts: Sequence[str | Matrix], width: int) -> list[Row] | None:
    """The matrices beside each other, operators on the row of their symbols; None if too wide."""
    columns = [
        [Row(f"  {part}")] if isinstance(part, str) else matrix_rows(part, UNBROKEN)
        for part in parts
    ]
    widths = [max(cells(row.plain) for row in column) for column in columns]
    if sum(widths) > width:
        return None
    return [_beside(row, widths) for row in zip_longest(*columns)]


def bare(expression: ex.Expression) -> ex.Expression:
    """A symbol without the shapes that a formula gives."""
    match expression:
        case ex.Sized(of):
            return bare(of)
        case ex.Brackets(items):
            return ex.Brackets(tuple(map(bare, items)))
        case _:
            return expression


def _parts(side: ex.Expression) -> Parts | None:
    """The operators and symbols of a side; None if something is not a matrix."""
    match side:
        case ex.Sized(of):
            return _parts(of)
        case ex.Symbol() | ex.Brackets() | ex.Transposed():
            return [side]
        case ex.MatrixProduct(left, right):
            return _joined([left, right], "·")
        case ex.Sum(terms):
            return _joined(terms, "+")
        case ex.Quotient(ex.MatrixProduct() as over, under):
            return [*product, f"/ {text(under)}"] if (product := _parts(over)) else None
        case _:
            return None


def _joined(operands: Sequence[ex.Expression], operator: str) -> Parts | None:
    joined: Parts = []
    for operand in operands:
        parts = _parts(operand)
        if parts is None:
            return None
        joined += [operator, *parts] if joined else parts
    return joined


def _matrix(symbol: ex.Expression, known: Mapping[ex.Expression, Matrix]) -> Matrix | None:
    match bare(symbol):
        case ex.Transposed(of):
            found = known.get(bare(of))
            return None if found is None else _transposed(found)
        case found:
            return known.get(found)


def _factor(part: str | Matrix) -> str | Matrix:
    """A second factor, of which no row is marked, since all go into each row of the product."""
    if isinstance(part, str) or part.marked is None:
        return part
    return Matrix(part.symbol, part.rows, part.columns, part.cells)


def _transposed(matrix: Matrix) -> Matrix:
    turned = tuple(zip(*matrix.cells, strict=True))
    return Matrix(ex.Transposed(matrix.symbol), matrix.columns, matrix.rows, turned)


def _values_put_in(blocks: Sequence[Block]) -> set[object]:
    """What the numbers that the lines of blocks use are taken from."""
    lines = [line for block in blocks if isinstance(block, Working) for line in block.lines]
    sides = [side for line in lines for side in line.chain.sides if not isinstance(side, ex.Symbol)]
    return {entry.value for side in sides for entry in ex.entries_in(side)}


def _value(matrix: Matrix) -> object:
    """What a matrix shows."""
    entry = next(ex.entries_in(matrix.cells[0][0]), None)
    return entry.value if entry else None


def _beside(row: Sequence[Row | None], widths: Sequence[int]) -> Row:
    whole = Row()
    for part, width in zip(row, widths, strict=True):
        if part is not None:
            whole.styled(part.spans, len(whole.plain))
        whole.plain += padded(part.plain if part else "", width)
    whole.plain = whole.plain.rstrip()
    return whole
