"""Each operation of training on arrays small enough to be worked by hand, in each arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest

from tests.decoder.test_arithmetic import BOTH, one_decimal, result
from tests.helpers.traces import array
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import (
    Activate,
    Combine,
    Miss,
    Ratio,
    RootSlope,
    Scale,
    Slope,
    Spread,
    Times,
    TimesRow,
    TwiceProduct,
    Unbias,
)
from tracer.decoder.operations import Rotate
from tracer.decoder.training_operations import (
    AsRows,
    ByWord,
    ColumnDot,
    Columns,
    ColumnTotal,
    NegativeTotal,
    OfTraining,
    RotateBack,
    RowDot,
    SumOfSquares,
    Together,
    TransposedMatMul,
)
from tracer.formula.arithmetic import DECIMALS, FLOATS, SHAPES, Arithmetic, Array
from tracer.scenario.layers import ActivationFunction

CASES: list[tuple[Any, list[Array], Array]] = [
    (  # less 1 for the right word, over the two that count; nothing where there is none
        Miss((1, None, 0), 2),
        [array(["0.75", "0.25"], ["0.5", "0.5"], ["1", "0"])],
        array(["0.375", "-0.375"], ["0", "0"], ["0", "0"]),
    ),
    (  # (1, 2) and (3, 4) as columns: [1 3; 2 4] · [5; 6]
        TransposedMatMul(),
        [array(["1", "2"], ["3", "4"]), array(["5"], ["6"])],
        array(["23"], ["34"]),
    ),
    (ColumnTotal(), [array(["1", "2"], ["3", "-2"])], array("4", "0")),
    (
        ColumnDot(),
        [array(["1", "2"], ["3", "4"]), array(["5", "6"], ["7", "-3"])],
        array("26", "0"),
    ),
    (RowDot(), [array(["1", "2"], ["3", "4"]), array(["5", "6"], ["4", "-3"])], array("17", "0")),
    (RowDot(negative=True), [array(["1", "2"]), array(["5", "6"])], array("-17")),
    (NegativeTotal(), [array(["1", "2.5"], ["-1", "1"])], array("-3.5", "0")),
    (
        TimesRow(),
        [array(["1", "2"], ["3", "4"]), array("10", "-0.5")],
        array(["10", "-1"], ["30", "-2"]),
    ),
    (RootSlope(), [array("1", "3"), array("0.5", "-2")], array("1", "-0.75")),
    (RootSlope(Decimal("0.1")), [array("1"), array("0.6")], array("1")),
    (TwiceProduct(), [array(["1", "-2"]), array(["0.5", "3"])], array(["1", "-12"])),
    (Slope("relu"), [array(["-1.5", "0", "3"])], array(["0", "0", "1"])),
    (  # Φ(1) + φ(1), φ(1) = e^(-½)/√(2π) = 0.24197072451914337
        Slope("gelu"),
        [array(["0", "1", "-1"])],
        array(["0.5", "1.0833154705876863", "-0.0833154705876863"]),
    ),
    (  # s + x s (1 - s) with s = 0.7310585786300049, s (1 - s) = 0.19661193324148185
        Slope("silu"),
        [array(["0", "1", "-1"])],
        array(["0.5", "0.92767051187148675", "0.07232948812851325"]),
    ),
    (Slope("gelu_tanh"), [array(["0"])], array(["0.5"])),
    (Spread(4, 3), [array("2", "-1")], array(["0.5"] * 3, ["-0.25"] * 3)),
    (  # a quarter turn back, and half of one: (-2, 1) → (1, 2), (-3, -4) → (3, 4)
        RotateBack("pairs"),
        [array(["-2", "1", "-3", "-4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["1", "2", "3", "4"]),
    ),
    (
        RotateBack("halves"),
        [array(["-2", "-3", "1", "-4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["1", "3", "2", "4"]),
    ),
    (Columns(1, 3), [array(["1", "2", "3", "4"])], array(["2", "3"])),
    (
        Together(),
        [array(["1", "2"]), array(["0.5", "-2"]), array(["3", "0"])],
        array(["4.5", "0"]),
    ),
    (
        ByWord((2, 0, 2), 4),
        [array(["1", "2"], ["3", "4"], ["5", "-2"])],
        array(["3", "4"], ["0", "0"], ["6", "0"], ["0", "0"]),
    ),
    (
        AsRows((2, 0), 3),
        [array(["1", "2"], ["3", "4"])],
        array(["2", "4"], ["0", "0"], ["1", "3"]),
    ),
    (
        Combine(Decimal(1), Decimal("-0.1")),
        [array(["1", "2"]), array(["5", "20"])],
        array(["0.5", "0"]),
    ),
    (Scale(Decimal("0.1")), [array("5", "-2")], array("0.5", "-0.2")),
    (Unbias(Decimal("0.5"), 2), [array("3", "-6")], array("4", "-8")),
    (Ratio(Decimal("0.5")), [array("3", "-1"), array("4", "0")], array("1.2", "-2")),
    (SumOfSquares(), [array(["1", "-2"], ["0.5", "0"])], np.array(Decimal("5.25"))),
    (Times(), [array(["1", "-2"]), np.array(Decimal("0.5"))], array(["0.5", "-1"])),
]


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
    found = SHAPES.result(operation, [np.zeros(each.shape) for each in inputs], axes, one_decimal)
    assert found.shape == expected.shape


def test_each_operation_is_tried() -> None:
    assert {type(case[0]) for case in CASES} == set(get_args(OfTraining))


@pytest.mark.parametrize("function", get_args(ActivationFunction))
@BOTH
def test_a_slope_is_how_fast_the_function_rises(arithmetic: Arithmetic, function: Any) -> None:
    at, step = array("-3.7", "-1.2", "-0.4", "0.3", "0.9", "2.5"), Decimal("0.00001")
    rises = [result(DECIMALS, Activate(function), at + sign * step) for sign in (1, -1)]
    expected = ((rises[0] - rises[1]) / (2 * step)).astype(float)
    np.testing.assert_allclose(
        result(arithmetic, Slope(function), at).astype(float), expected, rtol=1e-8
    )


@pytest.mark.parametrize("function", get_args(ActivationFunction))
def test_a_slope_far_from_0_is_0_or_1(function: Any) -> None:
    far = result(FLOATS, Slope(function), np.array([-600.0, 600.0]))
    np.testing.assert_allclose(far, [0, 1], atol=1e-200)


@BOTH
def test_turning_back_undoes_a_turn(arithmetic: Arithmetic) -> None:
    x = array(["1", "-2", "0.5", "3"])
    cos, sin = array(["0.6", "0.28"]), array(["0.8", "-0.96"])
    for layout in ("pairs", "halves"):
        turned = result(arithmetic, Rotate(layout), x, cos, sin)
        back = result(arithmetic, RotateBack(layout), turned, cos, sin)
        np.testing.assert_allclose(back.astype(float), x.astype(float), rtol=1e-15)


ROUNDED = [
    # what a line shows on the way has one decimal here
    (Miss((0,), 3), [array(["0.25", "0.75"])], array(["-0.8", "0.8"]) / 3),
    (TransposedMatMul(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], array(["0.5"])),
    (ColumnDot(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], array("0.5")),
    (RowDot(), [array(["0.25", "0.15"]), array(["1", "1"])], array("0.5")),
    (Combine(Decimal(1), Decimal("0.5")), [array("0.25"), array("0.5")], array("0.55")),
    (Combine(Decimal("0.9"), Decimal("0.1")), [array("0.5"), array("0.5")], array("0.6")),
    (Ratio(Decimal("0.05")), [array("1"), array("2")], array("1") / Decimal("1.45")),
    (SumOfSquares(), [array("0.5", "0.5")], np.array(Decimal("0.6"))),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), ROUNDED, ids=[type(case[0]).__name__ for case in ROUNDED]
)
def test_what_a_line_shows_on_the_way_is_rounded(
    operation: Any, inputs: list[Array], expected: Array
) -> None:
    found = result(DECIMALS, operation, *inputs, part=one_decimal)
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-15)
