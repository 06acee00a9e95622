"""A formula's numbers, its worked line and its symbols say the same."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.formula.test_evaluation import n
from tracer.formula import expression as ex
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.arithmetic import DECIMALS, FLOAT64, FLOATS, no_rounding
from tracer.formula.evaluation import value
from tracer.formula.formula import Formula
from tracer.renderers.text import text

X, Y = ex.Operand(0), ex.Operand(1)
ONE = ex.Number.of(1)
FORMULAS: dict[str, ex.Expression] = {
    "sum": ex.Sum((X, Y, ONE)),
    "difference": ex.Difference(X, Y),
    "product": ex.Product((n("2"), X, Y)),
    "quotient": ex.Quotient(X, ex.Sum((ex.Power(Y, n("2")), ONE))),
    "root": ex.Root(ex.Subtotal(ex.Sum((ex.Power(X, n("2")), n("0.1"))))),
    "power": ex.Power(ex.Part(ex.Sum((X, Y))), n("3")),
    "exponential": ex.Exponential(ex.Product((n("0.5"), X))),
    "negative": ex.Negative(ex.Part(ex.Product((X, Y)))),
    "maximum": ex.Call("max", (ex.Number.of(0), X)),
    "waves": ex.Sum((ex.Call("sin", (X,)), ex.Call("cos", (Y,)))),
    "normal": ex.Call("Φ", (X,)),
    "capped": ex.Product((n("2"), ex.Subtotal(ex.Call("tanh", (ex.Quotient(X, n("2")),))))),
    "gate": ex.Quotient(X, ex.Subtotal(ex.Sum((ONE, ex.Part(ex.Exponential(ex.Negative(Y))))))),
}


def sides(formula: Formula, *operands: str) -> list[ex.Expression]:
    """The line of some numbers, its parts in full."""

    def known(of: ex.Expression) -> ex.Number:
        return ex.Number(value(of)[0])

    return formula.sides(lambda operand: n(operands[operand.position]), known, known)


numbers = st.decimals(-9, 9, places=3).map(str)


@settings(max_examples=40, deadline=None)
@given(numbers, numbers)
@pytest.mark.parametrize("name", FORMULAS)
def test_each_side_of_a_line_is_the_number_that_is_computed(name: str, x: str, y: str) -> None:
    formula = Formula(FORMULAS[name])
    for arithmetic in (DECIMALS, FLOAT64, FLOATS):
        with arithmetic.context():
            arrays = [arithmetic.array(np.array([Decimal(each)])) for each in (x, y)]
            (computed,) = np.asarray(formula.compute(arrays, arithmetic, no_rounding)).flat
        for side in sides(formula, x, y):
            expected = float(value(side)[0])
            assert math.isclose(float(computed), expected, rel_tol=1e-13, abs_tol=1e-13)


def test_a_line_works_out_its_parts_from_the_inside() -> None:
    silu = ACTIVATIONS["silu"].formula
    shown = silu.sides(
        lambda _: n("0.5"),
        lambda of: ex.Number(round(value(of)[0], 3)),
        lambda of: ex.Number(value(of)[0]),
    )
    assert [text(side) for side in shown] == [
        "0.5 / (1 + e^(-0.5))",
        "0.5 / (1 + 0.607)",
        "0.5 / 1.607",
    ]


def test_symbols_take_the_place_of_operands() -> None:
    assert text(ACTIVATIONS["relu"].formula.symbols([ex.Symbol("h")])) == "max(0, h)"
    gated = Formula(FORMULAS["gate"]).symbols([ex.Symbol("a"), ex.Symbol("b")])
    assert text(gated) == "a / (1 + e^(-b))"


def test_parts_are_rounded_where_the_line_shows_them() -> None:
    def one_decimal(parts: Any) -> Any:
        return np.asarray(np.frompyfunc(lambda x: round(x, 1), 1, 1)(parts))

    with DECIMALS.context():
        found = ACTIVATIONS["silu"].formula.compute(
            [DECIMALS.array([Decimal("0.5")])], DECIMALS, one_decimal
        )
    assert found[0] == Decimal("0.5") / Decimal("1.6")  # 1 + 0.607 with one decimal


@pytest.mark.parametrize("x", [-800.0, -400.0, 800.0])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_floats_far_from_0_do_not_overflow(name: str, x: float) -> None:
    formula = ACTIVATIONS[name].formula
    with FLOATS.context():
        (found,) = formula.compute([np.array([x])], FLOATS, no_rounding)
        (steepness,) = formula.slope.compute([np.array([x])], FLOATS, no_rounding)
    line = max(0.0, x)
    limits = {
        "sigmoid": (float(x > 0), 0),
        "tanh": (np.sign(x), 0),
        "relu_squared": (line**2, 2 * line),
    }
    at, slope = limits.get(name, (line, float(x > 0)))
    assert found == pytest.approx(at, abs=1e-100)
    assert steepness == pytest.approx(slope, abs=1e-100)
