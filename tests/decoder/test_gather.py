"""The rules of all moves of entries, held against a formula of NumPy for each of them."""

from __future__ import annotations

from decimal import Decimal
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.operation_formulas import computed
from tests.helpers.operations import rows_of
from tracer.decoder import operations as op, results
from tracer.decoder.axes import Axis
from tracer.decoder.gather import Gather
from tracer.formula.arithmetic import DECIMALS, FLOATS, SHAPES, Arithmetic, Array, no_rounding

Drawn = tuple[Gather, list[tuple[int, ...]]]
"""An operation, and the shapes of its operands."""

SIZES, POSITIONS = st.integers(1, 4), st.lists(st.integers(0, 9), min_size=1, max_size=4)


@st.composite
def moves(draw: st.DrawFn, kind: type[Gather]) -> Drawn:
    n, m, k = draw(SIZES), draw(SIZES), draw(SIZES)
    rows = tuple(draw(st.permutations(range(n)))[: draw(st.integers(0, n))])
    columns = tuple(draw(st.permutations(range(m)))[: draw(st.integers(0, m))])
    column = draw(st.integers(0, m - 1))
    kept = tuple(columns[row % 2 :] for row in range(n))
    entries = tuple((i % n, i % m) for i in draw(POSITIONS))
    by_offset = tuple(draw(st.integers(0, n - 1)) for _ in range(2 * k - 1))
    found: list[Drawn] = [
        (op.Copy(), [(n, m)]),
        (op.Reused(), [(n, m)]),
        (op.Append(), [(n, m), (k, m)]),
        (op.Join(), [(n,), (m,), (k,)]),
        (op.Concat(), [(n, m), (n, k)]),
        (op.AppendColumn(), [(n, m), (1,)]),
        (op.DropColumn(), [(n, m)]),
        (op.Interleave(tuple("abcde"[:m])), [(n, (m + 1) // 2)] * 2),
        (op.Select(columns), [(n, m)]),
        (op.Rows(rows), [(n, m), (n, k)]),
        (op.Columns(column, m), [(n, m)]),
        (op.Keep(kept, Decimal(0)), [(n, m)]),
        (op.Lower(), [(n, n)]),
        (op.Collect(), [()] * n),
        (op.TakeColumn(column), [(n, m)]),
        (op.TakeEntry(n - 1, column), [(n, m)]),
        (op.TakeEntries(entries), [(n, m)]),
        (op.TakeNumber((n - 1, column)), [(n, m)]),
        (op.PlaceNumber((n - 1, column), (n, m)), [()]),
        (op.Stack(), [(n, m), (m,), (k, m)]),
        (op.AsRows(rows, n + k), [(m, len(rows))]),
        (op.PlaceRows(rows, n), [(len(rows), m)]),
        (op.PlaceColumns(column, m), [(n, m - column)]),
        (op.AppendZeros(), [(n, m)]),
        (op.SpreadGroups(k, 2), [(n, m)]),
        (op.BelowZeros(k), [(n, m)]),
        (op.LookUp(by_offset, column, min(n, k)), [(n, m)]),
    ]
    return next(each for each in found if type(each[0]) is kind)


def expected_of(operation: Gather, x: list[Array]) -> Array:
    found: Array = computed(operation.name, vars(operation), x)
    return found


EACH = pytest.mark.parametrize("kind", rows_of(Gather), ids=lambda kind: kind.__name__)


def distinct(shapes: list[tuple[int, ...]]) -> list[Array]:
    """Operands without a number that occurs twice, or is 0."""
    starts = np.cumsum([1, *map(prod, shapes)])
    return [
        np.arange(start, start + prod(shape), dtype=float).reshape(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]


def moved(operation: Any, x: list[Array], shape: tuple[int, ...], by: Arithmetic = FLOATS) -> Array:
    axes = tuple(Axis("axis", tuple(map(str, range(size)))) for size in shape)
    with by.context():
        return results.result(by, operation, [by.array(each) for each in x], axes, no_rounding)


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_result_is_that_of_the_formula_and_each_entry_has_its_origin(
    kind: type[Gather], data: st.DataObject
) -> None:
    operation, shapes = data.draw(moves(kind))
    x = distinct(shapes)
    expected = expected_of(operation, x)
    found = moved(operation, x, expected.shape)
    assert np.array_equal(found, expected)
    assert np.array_equal(moved(operation, x, expected.shape, DECIMALS).astype(float), expected)
    assert moved(operation, x, expected.shape, SHAPES).shape == expected.shape
    for at in np.ndindex(expected.shape):  # no number occurs twice
        origin = operation.origin(at, expected.shape, shapes)
        assert expected[at] == (x[origin[0]][origin[1]] if origin else 0)


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_gradient_goes_back_to_where_each_entry_comes_from(
    kind: type[Gather], data: st.DataObject
) -> None:
    """A gradient g of the result has the product with it that its parts have with the operands."""
    operation, shapes = data.draw(moves(kind))
    x = distinct(shapes)
    result = expected_of(operation, x)
    if kind in WITHOUT:
        with pytest.raises(TypeError, match=kind.name):
            operation.backward(0, *shapes)
        return
    g = np.arange(1.0, result.size + 1).reshape(result.shape) * (result != 0)
    operands = {move.operand for move in operation.moves(*shapes)}
    back = [(x[i], moved(operation.backward(i, *shapes), [g], shapes[i])) for i in operands]
    assert sum((of * part).sum() for of, part in back) == (g * result).sum()


WITHOUT = {
    *(op.Reused, op.Select),  # in generated texts only
    *(op.Lower, op.Collect),  # of chunks
    *(op.Interleave, op.Join),  # not learned; and passed through with the loss
    *(op.TakeColumn, op.TakeEntry, op.TakeEntries, op.Stack),  # of training and attributions
    *(op.AsRows, op.PlaceRows, op.PlaceColumns, op.PlaceNumber, op.AppendZeros, op.SpreadGroups),
}


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_labels_are_those_of_the_entries(kind: type[Gather], data: st.DataObject) -> None:
    operation, shapes = data.draw(moves(kind))
    if kind in GIVEN_AXES:
        return
    x = [
        tuple(Axis(str(i), tuple(f"{name}{j}" for j in range(size))) for i, size in enumerate(each))
        for name, each in zip("abc", shapes, strict=False)
    ]
    axes = operation.axes(*x)
    shape = expected_of(operation, distinct(shapes)).shape
    assert tuple(len(axis.labels) for axis in axes) == shape
    if isinstance(operation, op.Interleave):
        assert axes[1] == Axis("feature", operation.features)
        return
    for at in np.ndindex(shape):
        operand, index = operation.origin(at, shape, shapes) or (0, at)
        labels = [axis.labels[i] for axis, i in zip(axes, at, strict=True)]
        origin = [axis.labels[i] for axis, i in zip(x[operand], index, strict=True)]
        assert set(labels) & set(origin) if operand else labels == origin


GIVEN_AXES = {
    op.BelowZeros,
    op.LookUp,
    *(op.Collect, op.TakeColumn, op.TakeEntry, op.TakeEntries, op.TakeNumber, op.Stack),
    *(op.AsRows, op.PlaceRows, op.PlaceColumns, op.PlaceNumber, op.AppendZeros, op.SpreadGroups),
}
"""Operations that are recorded with axes."""


def test_columns_of_several_heads_with_the_same_label_name_their_head() -> None:
    token, first, second = Axis("token", ("a",)), Axis("d", ("x", "y")), Axis("d", ("y", "z"))
    labels = ("x", "y of head 1", "y of head 2", "z")
    assert op.Concat().axes((token, first), (token, second)) == (token, Axis("concat", labels))


def test_rows_are_positions_or_the_tokens_that_were_chosen() -> None:
    token, word = Axis("token", ("i", "like")), Axis("word", ("x",))
    assert op.Rows((1, 0)).axes((token, word)) == (Axis("position", ("like", "i")), word)
    chosen = op.Rows((1,)).axes((token, word), (token, word))
    assert chosen == (Axis("token", ("like",), (-1,)), word)


def test_a_column_of_a_vector_is_an_entry() -> None:
    assert moved(op.TakeColumn(1), [np.array([3.0, 4.0])], (1,)).tolist() == [4]


def test_what_is_not_kept_is_the_given_number() -> None:
    keep = op.Keep(((0,), (1,)), Decimal("-Infinity"))
    assert moved(keep, [np.ones((2, 2))], (2, 2)).tolist() == [[1, -np.inf], [-np.inf, 1]]


def test_a_copy_is_the_same_array() -> None:
    x = np.ones((2, 2))
    assert moved(op.Copy(), [x], (2, 2)) is x
