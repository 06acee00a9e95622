"""A derived slope is the limit of the difference quotient."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tests.formula.test_evaluation import n
from tests.formula.test_formula import FORMULAS, X, Y
from tracer.decoder import elementwise as el
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.arithmetic import DECIMALS, no_rounding
from tracer.formula.expression import Expression, Number, Product, Symbol
from tracer.formula.formula import Formula
from tracer.formula.slope import slope, times
from tracer.renderers.text import text

STEP = Decimal("1e-12")
POINTS = [("0.3", "1.7"), ("-1.25", "0.4"), ("2.5", "-0.75"), ("-0.6", "-1.1")]


def at(formula: Expression, *operands: Decimal) -> Decimal:
    with DECIMALS.context():
        arrays = [DECIMALS.array([operand]) for operand in operands]
        found = Formula(formula).compute(arrays, DECIMALS, no_rounding)
        return Decimal(np.asarray(found).flat[0])


EXACT = {name: formula for name, formula in FORMULAS.items() if name != "waves"}
"""The sine of a Decimal has the digits of a float."""


@pytest.mark.parametrize("of", [0, 1])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("point", POINTS)
def test_against_central_differences(name: str, of: int, point: tuple[str, str]) -> None:
    formula, x = FORMULAS[name], [Decimal(each) for each in point]
    higher, lower = list(x), list(x)
    higher[of] += STEP
    lower[of] -= STEP
    expected = (at(formula, *higher) - at(formula, *lower)) / (2 * STEP)
    derived = slope(formula, of)
    found = at(derived, *x) if derived else Decimal(0)
    assert abs(found - expected) < Decimal("1e-18") * max(Decimal(1), abs(expected))


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("x", ["-3.7", "-1.2", "-0.4", "0.3", "0.9", "2.5"])
def test_activations(name: str, x: str) -> None:
    formula, number = ACTIVATIONS[name].formula, Decimal(x)
    above, below = (at(formula.expression, number + sign * STEP) for sign in (1, -1))
    expected = (above - below) / (2 * STEP)
    assert abs(at(formula.slope.expression, number) - expected) < Decimal("1e-20")


G = Decimal("0.7")
GRADIENTS: list[tuple[el.Elementwise, el.Elementwise, bool]] = [
    (el.Square(), el.TwiceProduct(), False),
    (el.SquareRoot(Decimal("0.1")), el.RootSlope(), True),
    (el.SquareRoot(Decimal("0.1"), outside=True), el.RootSlope(Decimal("0.1")), True),
]


@pytest.mark.parametrize(("operation", "gradient", "of_result"), GRADIENTS)
def test_a_named_gradient_is_the_derived_one(
    operation: el.Elementwise, gradient: el.Elementwise, of_result: bool
) -> None:
    x = Decimal("1.3")
    other = at(operation.expression(), x) if of_result else x
    expected = at(el.GradientOf(operation, 0).expression(), G, x)
    assert abs(at(gradient.expression(), G, other) - expected) < Decimal("1e-40")


@pytest.mark.parametrize(
    ("operation", "of", "expected"),
    [
        (el.Add(), 0, "G"),
        (el.Add(), 1, "G"),
        (el.Subtract(), 0, "G"),
        (el.Multiply(), 0, "G×b"),
        (el.Multiply(), 1, "G×a"),
        (el.Divide(), 0, "G / b"),
        (el.Square(), 0, "G×2×a"),
        (el.Exp(), 0, "G×e^a"),
        (el.Activate("relu"), 0, "G×ReLU′(a)"),
    ],
)
def test_gradients_are_written_as_a_person_would(
    operation: el.Elementwise, of: int, expected: str
) -> None:
    formula = el.GradientOf(operation, of).formula
    assert text(formula.symbols([Symbol("G"), Symbol("a"), Symbol("b")])) == expected


def test_products_are_simplified() -> None:
    product: Expression = Product((X, Y))
    assert times(Number.of(1), X) == X
    assert times(X, product) == Product((X, X, Y))
    assert times(n("2"), X, n("3")) == Product((n("6"), X))


def test_a_function_without_a_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="no slope"):
        slope(Symbol("x"), 0)
