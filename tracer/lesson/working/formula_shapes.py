"""Shapes in formulas: S¹ (4 × 4) = Q¹ (4 × 2) · K¹ᵀ (2 × 4) / √d_k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tracer.decoder.roles import KEY, QUERY, TABLES, VALUE
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson.context import joined
from tracer.lesson.document import Sentence

Shapes = Mapping[ex.Expression, tuple[int, ...]]

TYPED = (QUERY, KEY, VALUE)
"""What has columns for the dimensions of what it is called."""


def sized(
    chain: ex.Chain,
    record: Record,
    symbols: Mapping[str, ex.Expression],
    producers: Mapping[Value, Record],
) -> ex.Chain:
    """A formula with the shape of what it gives, and of the factors of its matrix products."""
    behind = [v for of in record.inputs if of in producers for v in producers[of].inputs]
    shapes = {
        symbols[value.address]: value.shape
        for value in (*behind, *record.inputs)  # with a cache, V is more than the V added to it
        if isinstance(symbols.get(value.address), ex.Symbol)
    }
    left, *right = chain.sides
    shape = record.output.shape
    first: ex.Expression = ex.Sized(left, shape) if shape else left
    return ex.Chain((first, *(_with_shapes(side, shapes) for side in right)), chain.relations)


def _with_shapes(expression: ex.Expression, shapes: Shapes) -> ex.Expression:
    """Only factors of a matrix product need their shapes to be understood."""
    match expression:
        case ex.MatrixProduct(left, right):
            return ex.MatrixProduct(_factor(left, shapes), _factor(right, shapes))
        case ex.Sum((ex.MatrixProduct() as product, *rest)):
            return ex.Sum((_with_shapes(product, shapes), *(_factor(b, shapes) for b in rest)))
        case ex.Quotient(over, under):
            return ex.Quotient(_with_shapes(over, shapes), under)
        case _:
            return expression


def _factor(factor: ex.Expression, shapes: Shapes) -> ex.Expression:
    match factor:
        case ex.Symbol() if factor in shapes:
            return ex.Sized(factor, shapes[factor])
        case ex.Transposed(ex.Symbol() as of) if of in shapes:
            return ex.Sized(factor, shapes[of][::-1])
        case ex.Brackets(items):
            return ex.Brackets(tuple(_factor(item, shapes) for item in items))
        case _:
            return factor


def described(value: Value, symbol: ex.Expression) -> Sentence:
    """Describe the rows and columns of a matrix without a formula."""
    shape = ex.Sized(symbol, value.shape)
    rows, columns = (axis.name for axis in value.axes)
    if value.role in TYPED:
        columns = f"dimension of a {columns}"
    return (shape, f" has a row for each {rows} and a column for each {columns}.")


def parameters(values: Sequence[Value], symbols: Mapping[str, ex.Expression]) -> Sentence | None:
    """Say how many parameters a step has: W_Q has 6 × 2 = 12 parameters."""
    if not values:
        return None
    items: list[Sentence] = []
    for value in values:
        times, number = " × ".join(map(str, value.shape)), prod(value.shape)
        counted = f" has {times} = {number}" if len(value.shape) > 1 else f" has {number}"
        items.append((symbols[value.address], counted))
    return (*joined(items), " parameter." if number == 1 else " parameters.")


def number_used(records: Sequence[Record], learned: Mapping[str, tuple[int, ...]]) -> int:
    """Return the number of learned parameters that some records use, each counted once."""
    used = {value.address for record in records for value in record.inputs}
    outputs = [record.output for record in records if record.output.role in TABLES]
    tables = {value.place.address(TABLES[value.role]) for value in outputs}
    return sum(prod(learned[address]) for address in used | tables if address in learned)
