"""Shapes in formulas: S¹ (4 × 4) = Q¹ (4 × 2) · K¹ᵀ (2 × 4) / √d_k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tracer.decoder.roles import EMBEDDING, EMBEDDINGS, POSITION, POSITIONS
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import (
    Brackets,
    Chain,
    Expression,
    MatrixProduct,
    Quotient,
    Sized,
    Sum,
    Symbol,
    Transposed,
)
from tracer.lesson.document import Sentence
from tracer.lesson.told import joined

Shapes = Mapping[Expression, tuple[int, ...]]

TABLES = {EMBEDDING: EMBEDDINGS, POSITION: POSITIONS}
"""The learned table that each of these values is some rows of."""


def sized(
    chain: Chain,
    record: Record,
    symbols: Mapping[str, Expression],
    producers: Mapping[Value, Record],
) -> Chain:
    """A formula with the shape of what it gives, and of the factors of its matrix products."""
    behind = [v for of in record.inputs if of in producers for v in producers[of].inputs]
    shapes = {
        symbols[value.address]: value.shape
        for value in (*behind, *record.inputs)  # with a cache, V is more than the V added to it
        if isinstance(symbols.get(value.address), Symbol)
    }
    left, *right = chain.sides
    shape = record.output.shape
    first: Expression = Sized(left, shape) if shape else left
    return Chain((first, *(_with_shapes(side, shapes) for side in right)), chain.relations)


def _with_shapes(expression: Expression, shapes: Shapes) -> Expression:
    """Only factors of a matrix product need their shapes to be understood."""
    match expression:
        case MatrixProduct(left, right):
            return MatrixProduct(_factor(left, shapes), _factor(right, shapes))
        case Sum((MatrixProduct() as product, *rest)):
            return Sum((_with_shapes(product, shapes), *(_factor(b, shapes) for b in rest)))
        case Quotient(over, under):
            return Quotient(_with_shapes(over, shapes), under)
        case _:
            return expression


def _factor(factor: Expression, shapes: Shapes) -> Expression:
    match factor:
        case Symbol() if factor in shapes:
            return Sized(factor, shapes[factor])
        case Transposed(Symbol() as of) if of in shapes:
            return Sized(factor, shapes[of][::-1])
        case Brackets(items):
            return Brackets(tuple(_factor(item, shapes) for item in items))
        case _:
            return factor


def described(value: Value, symbol: Expression) -> Sentence:
    """What the rows and columns of a matrix are that no formula gives."""
    rows, columns = (axis.name for axis in value.axes)
    shape = Sized(symbol, value.shape)
    return (shape, f" has a row for each {rows} and a column for each {columns}.")


def parameters(values: Sequence[Value], symbols: Mapping[str, Expression]) -> Sentence | None:
    """How many numbers of a step are learned: W_Q has 6 × 2 = 12 parameters."""
    if not values:
        return None
    items: list[Sentence] = []
    for value in values:
        times, number = " × ".join(map(str, value.shape)), prod(value.shape)
        counted = f" has {times} = {number}" if len(value.shape) > 1 else f" has {number}"
        items.append((symbols[value.address], counted))
    return (*joined(items), " parameter." if number == 1 else " parameters.")


def number_used(records: Sequence[Record], learned: Mapping[str, tuple[int, ...]]) -> int:
    """How many of the parameters that are learned some records use, each counted once."""
    used = {value.address for record in records for value in record.inputs}
    outputs = [record.output for record in records if record.output.role in TABLES]
    tables = {value.place.address(TABLES[value.role]) for value in outputs}
    return sum(prod(learned[address]) for address in used | tables if address in learned)
