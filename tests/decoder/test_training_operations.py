"""Each operation of training on arrays small enough to be worked by hand, in each arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.decoder.cases_of_training import CASES
from tests.decoder.test_arithmetic import BOTH, one_decimal, result
from tests.helpers.traces import array
from tracer.decoder import elementwise as el, operations as op, results
from tracer.decoder.axes import Axis
from tracer.decoder.operations import Rotate
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.arithmetic import DECIMALS, FLOATS, SHAPES, Arithmetic, Array


@BOTH
@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), CASES, ids=[type(case[0]).__name__ for case in CASES]
)
def test_result(
    arithmetic: Arithmetic, operation: Any, inputs: list[Array], expected: Array
) -> None:
    found = result(arithmetic, operation, *inputs)
    assert found.shape == expected.shape
    for number, wanted in zip(found.flat, expected.flat, strict=True):
        assert isinstance(number, Decimal if arithmetic is DECIMALS else float)
        assert number == wanted or math.isclose(number, wanted, rel_tol=1e-15)


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), CASES, ids=[type(case[0]).__name__ for case in CASES]
)
def test_shape(operation: Any, inputs: list[Array], expected: Array) -> None:
    """Where nothing is computed, a result has the axes that it is recorded with."""
    axes = tuple(Axis("axis", tuple("abcd"[:length])) for length in expected.shape)
    found = results.result(
        SHAPES, operation, [np.zeros(each.shape) for each in inputs], axes, one_decimal
    )
    assert found.shape == expected.shape


@pytest.mark.parametrize("function", ACTIVATIONS)
@BOTH
def test_a_slope_is_how_fast_the_function_rises(arithmetic: Arithmetic, function: Any) -> None:
    at, step = array("-3.7", "-1.2", "-0.4", "0.3", "0.9", "2.5"), Decimal("0.00001")
    rises = [result(DECIMALS, el.Activate(function), at + sign * step) for sign in (1, -1)]
    expected = ((rises[0] - rises[1]) / (2 * step)).astype(float)
    np.testing.assert_allclose(
        result(arithmetic, el.Slope(function), at).astype(float), expected, rtol=1e-8
    )


@pytest.mark.parametrize("function", ACTIVATIONS)
def test_a_slope_far_from_0_is_0_or_1(function: Any) -> None:
    far = result(FLOATS, el.Slope(function), np.array([-600.0, 600.0]))
    np.testing.assert_allclose(far, [0, 1], atol=1e-200)


@BOTH
def test_turning_back_undoes_a_turn(arithmetic: Arithmetic) -> None:
    x = array(["1", "-2", "0.5", "3"])
    cos, sin = array(["0.6", "0.28"]), array(["0.8", "-0.96"])
    for layout in ("pairs", "halves"):
        turned = result(arithmetic, Rotate(layout), x, cos, sin)
        back = result(arithmetic, op.RotateBack(layout), turned, cos, sin)
        np.testing.assert_allclose(back.astype(float), x.astype(float), rtol=1e-15)


ROUNDED = [
    # what a line shows on the way has one decimal here
    (el.SoftmaxCrossEntropyGrad((0,), 3), [array(["0.25", "0.75"])], array(["-0.8", "0.8"]) / 3),
    (op.TransposedMatMul(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], array(["0.5"])),
    (op.ColumnDot(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], array("0.5")),
    (op.RowDot(), [array(["0.25", "0.15"]), array(["1", "1"])], array("0.5")),
    (el.Combine(Decimal(1), Decimal("0.5")), [array("0.25"), array("0.5")], array("0.55")),
    (el.Combine(Decimal("0.9"), Decimal("0.1")), [array("0.5"), array("0.5")], array("0.6")),
    (el.Ratio(Decimal("0.05")), [array("1"), array("2")], array("1") / Decimal("1.45")),
    (op.SumOfSquares(), [array("0.5", "0.5")], np.array(Decimal("0.6"))),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), ROUNDED, ids=[type(case[0]).__name__ for case in ROUNDED]
)
def test_what_a_line_shows_on_the_way_is_rounded(
    operation: Any, inputs: list[Array], expected: Array
) -> None:
    found = result(DECIMALS, operation, *inputs, part=one_decimal)
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-15)
