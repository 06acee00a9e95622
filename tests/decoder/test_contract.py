"""The rules of all sums of products, held against np.einsum and against changed operands."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.operations import rows_of
from tests.helpers.truth import equations, false_equations
from tracer.decoder import operations as op, results, roles
from tracer.decoder.axes import Axis
from tracer.decoder.contract import Contract
from tracer.decoder.gradients import PRODUCTS
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Tape
from tracer.formula.arithmetic import DECIMALS, FLOATS, Arithmetic, Array, no_rounding
from tracer.formula.expression import Number, entries_in
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import LineSides
from tracer.renderers.text import text
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Rounding

Drawn = tuple[Contract, list[Array], Callable[..., Any]]
"""An operation, operands, and the same as a formula of NumPy."""

EACH = pytest.mark.parametrize("kind", rows_of(Contract), ids=lambda kind: kind.__name__)
SIZES = st.integers(1, 4)


def summed(spec: str) -> Callable[..., Any]:
    return lambda *x: np.einsum(spec, *x)


@st.composite
def drawn(draw: st.DrawFn, kind: type[Contract]) -> Drawn:
    n, m, k = draw(SIZES), draw(SIZES), draw(SIZES)
    counted = list(draw(st.permutations(range(n)))[: draw(st.integers(1, n))])
    biased = draw(st.booleans())
    sign = draw(st.sampled_from([1, -1]))
    sample = draw(st.booleans()) and m > 1
    found: dict[type[Contract], tuple[Contract, list[tuple[int, ...]], Callable[..., Any]]] = {
        op.MatMul: (
            op.MatMul(),
            [(n, m), (m, k), *([(k,)] if biased else [])],
            lambda x, w, *bias: np.einsum("nd,dm->nm", x, w) + sum(bias),
        ),
        op.Dot: (op.Dot(), [(n, m), (k, m)], summed("nd,md->nm")),
        op.TransposedMatMul: (op.TransposedMatMul(), [(n, m), (n, k)], summed("nd,nm->dm")),
        op.Total: (op.Total(), [(n, m)], summed("nm->n")),
        op.NegativeTotal: (op.NegativeTotal(), [(n, m)], lambda a: -np.einsum("nm->n", a)),
        op.ColumnTotal: (op.ColumnTotal(), [(n, m)], summed("nm->m")),
        op.LastColumnTotal: (op.LastColumnTotal(), [(n, m)], lambda a: [a[:, -1].sum()]),
        op.ColumnDot: (op.ColumnDot(), [(n, m), (n, m)], summed("nm,nm->m")),
        op.RowDot: (
            op.RowDot(negative=sign < 0),
            [(n, m), (n, m)],
            lambda a, b: sign * np.einsum("nm,nm->n", a, b),
        ),
        op.Mean: (op.Mean(sample), [(n, m)], lambda a: a.sum(axis=1) / (m - sample)),
        op.SumOf: (op.SumOf(tuple(counted)), [(n,)], lambda a: a[counted].sum()),
        op.MeanOf: (op.MeanOf(tuple(counted)), [(n,)], lambda a: a[counted].mean()),
    }
    operation, shapes, formula = found[kind]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = [rng.integers(1, 900, shape) / 100 * rng.choice([1, -1], shape) for shape in shapes]
    return operation, x, formula


def computed(
    operation: Any, x: list[Array], by: Arithmetic = FLOATS, part: Any = no_rounding
) -> Any:
    with by.context():
        found = results.result(by, operation, [by.array(each) for each in x], (), part)
    return found.astype(float)


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_result_is_the_sum_of_the_formula(kind: type[Contract], data: st.DataObject) -> None:
    operation, x, formula = data.draw(drawn(kind))
    expected = np.asarray(formula(*x))
    for arithmetic in (FLOATS, DECIMALS):
        np.testing.assert_allclose(computed(operation, x, arithmetic), expected, atol=1e-11)


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_each_product_is_rounded_and_nothing_else(
    kind: type[Contract], data: st.DataObject
) -> None:
    operation, x, formula = data.draw(drawn(kind))
    rounding: Any = np.frompyfunc(lambda number: Decimal(round(number)), 1, 1)
    found = computed(operation, x, DECIMALS, lambda products: np.asarray(rounding(products)))
    if len(operation.factors) == 1:
        np.testing.assert_allclose(found, formula(*x), atol=1e-11)
    else:
        bias = sum((abs(each % 1).max() for each in x[2:]), 0.0)
        assert bias or (found == found.round()).all()


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_line_is_true_and_names_what_the_entry_depends_on(
    kind: type[Contract], data: st.DataObject
) -> None:
    operation, x, formula = data.draw(drawn(kind))
    record = recorded(operation, x, np.asarray(formula(*x)).shape)
    pencil = Pencil(Rounding(carry=Carry.NEVER))
    for index in np.ndindex(record.output.shape):
        sides = LineSides(pencil, {}, operation, record, index, Terms())(20, 20)
        exact = record.output.numbers[index]
        line = " = ".join(map(text, [*sides, Number(exact.quantize(Decimal("1e-20")))]))
        line = "≈".join(line.rsplit("=", 1))
        assert equations(f"    {line}")
        assert false_equations(f"    {line}") == []
        named = {(record.inputs.index(entry.value), entry.at) for entry in entries_in(sides[0])}
        assert named == {
            (operand, at)
            for operand, each in enumerate(x)
            for at in np.ndindex(each.shape)
            if changes(formula, x, operand, at)[index]
        }


def changes(formula: Callable[..., Any], x: list[Array], operand: int, at: Any) -> Any:
    """Which entries of the result change with an entry of an operand, as floats."""
    changed = [each.copy() for each in x]
    changed[operand][at] += 1
    return abs(np.asarray(formula(*changed)) - np.asarray(formula(*x))) > 1e-9


def recorded(operation: Any, x: list[Array], shape: tuple[int, ...]) -> Any:
    tape = Tape(DECIMALS, Pencil(Rounding(carry=Carry.NEVER)))
    with tape.computing():
        operands = [
            tape.given(
                roles.INPUT,
                np.vectorize(lambda n: Decimal(str(n)), [object])(each),
                axes(each.shape),
            )
            for each in x
        ]
        tape.record_as(roles.HIDDEN, operation, axes(shape), *operands)
    return tape.records[-1]


def axes(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    return tuple(Axis("axis", tuple(map(str, range(size)))) for size in shape)


@EACH
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_gradient_of_a_factor_is_how_fast_the_result_changes(
    kind: type[Contract], data: st.DataObject
) -> None:
    operation, x, formula = data.draw(drawn(kind))
    if not operation.is_matrix_product:
        return
    g = np.arange(1.0, formula(*x).size + 1).reshape(formula(*x).shape)
    for operand in (0, 1):
        spec, is_g_first = operation.gradient(operand)
        factors = [g, x[1 - operand]] if is_g_first else [x[1 - operand], g]
        found = computed(PRODUCTS[spec], factors)
        for at in np.ndindex(x[operand].shape):  # the result is linear in each factor
            changed = [each.copy() for each in x]
            changed[operand][at] += 1
            rises = (g * (formula(*changed) - formula(*x))).sum()
            np.testing.assert_allclose(found[at], rises, atol=1e-9)


def test_the_axes_of_a_result_are_those_of_its_operands() -> None:
    token, width = Axis("token", ("i", "like")), Axis("width", ("x", "y", "z"))
    assert op.MatMul().axes((token, width), (width, token), (token,)) == (token, token)
    assert op.Dot().axes((token, width), (token, width)) == (token, Axis("key", token.labels))
    assert op.Total().axes((token, width)) == (token,)
    assert op.SumOf((0,)).axes((token,)) == ()


def test_a_vector_is_multiplied_by_the_only_row() -> None:
    assert computed(op.RowDot(), [np.array([1.0, 2.0]), np.array([[5.0, -6.0]])]).tolist() == [-7]


def test_products_without_any_term_are_0() -> None:
    empty = computed(op.TransposedMatMul(), [np.ones((0, 2)), np.ones((0, 1))], DECIMALS)
    assert empty.tolist() == [[0], [0]]
