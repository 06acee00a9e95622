"""Each operation on arrays small enough to be worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, Overflow
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.traces import array
from tracer.decoder.operations import (
    Add,
    ArgMax,
    Array,
    Axis,
    Concat,
    Copy,
    Cos,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Interleave,
    MatMul,
    Mean,
    Normalize,
    Outer,
    Relu,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Total,
    decimals,
    numbered,
)


def unrounded(numbers: Array) -> Array:
    return numbers


def one_decimal(numbers: Array) -> Array:
    """Each number with one decimal, half away from zero."""
    rounded = np.frompyfunc(lambda n: n.quantize(Decimal("0.1"), ROUND_HALF_UP), 1, 1)(numbers)
    return np.asarray(rounded)


CASES: list[tuple[Any, list[Array], Array]] = [
    (Outer(), [array("1", "2"), array("3", "0.5")], array(["3", "0.5"], ["6", "1"])),
    (Add(), [array(["1", "-2.5"]), array(["0.5", "2.5"])], array(["1.5", "0"])),
    (Add(), [array(["1", "2"]), array(["0", "-Infinity"])], array(["1", "-Infinity"])),
    (
        Subtract(),
        [array(["1", "2"], ["3", "4"]), array("1.5", "-1")],
        array(["-0.5", "0.5"], [4, 5]),
    ),
    (
        MatMul(),
        [array(["1", "2"], ["0.5", "-1"]), array(["3", "0"], ["4", "1"])],
        array(["11", "2"], ["-2.5", "-1"]),
    ),
    (
        MatMul(),
        [array(["1", "2"]), array(["3", "0", "1"], ["4", "1", "-1"]), array("0.5", "0", "1")],
        array(["11.5", "2", "0"]),
    ),
    (
        Dot(),
        [array(["1", "2"], ["3", "4"]), array(["5", "6"], ["7", "8"], ["0", "-1"])],
        array(["17", "23", "-2"], ["39", "53", "-4"]),
    ),
    (SquareRoot(), [array("4", "0", "2.25")], array("2", "0", "1.5")),
    (SquareRoot(Decimal("0.19")), [array("0.25", "0.81")], array("0.66332495807107996", "1")),
    (
        Divide(),
        [array(["1", "2"], ["3", "-4"]), np.array(Decimal(4))],
        array(["0.25", "0.5"], ["0.75", "-1"]),
    ),
    (
        Share(),  # a row of zeros stays
        [array(["1", "2"], ["3", "-4"], ["0", "0"]), array("2", "8", "0")],
        array(["0.5", "1"], ["0.375", "-0.5"], ["0", "0"]),
    ),
    (Exp(), [array(["0", "1", "-Infinity"])], array(["1", "2.71828182845904524", "0"])),
    (Square(), [array(["-1.5", "0", "3"])], array(["2.25", "0", "9"])),
    (Relu(), [array(["-1.5", "0", "3", "-0.0"])], array(["0", "0", "3", "0"])),
    (Total(), [array(["1", "2.5"], ["-1", "1"])], array("3.5", "0")),
    (Mean(), [array(["1", "2", "6"], ["-1", "1", "0.5"])], array("3", "0.16666666666666667")),
    (
        Normalize(),
        [array(["1", "-1"], ["2", "0"]), array("4", "5")],
        array(["0.25", "-0.25"], ["0.4", "0"]),
    ),
    (
        Normalize(gain=True),
        [array(["1", "-1"]), array("4"), array("8", "2")],
        array(["2", "-0.5"]),
    ),
    (
        Normalize(shift=True),
        [array(["1", "-1"]), array("4"), array("8", "2")],
        array(["8.25", "1.75"]),
    ),
    (
        Normalize(gain=True, shift=True),
        [array(["1", "-1"]), array("4"), array("8", "2"), array("1", "0.5")],
        array(["3", "0"]),
    ),
    (
        Concat(),
        [array(["1"], ["2"]), array(["3", "4"], ["5", "6"])],
        array(["1", "3", "4"], ["2", "5", "6"]),
    ),
    (Copy(), [array(["1", "2"])], array(["1", "2"])),
    (DivTerm(2), [], array("1")),
    (DivTerm(4), [], array("1", "0.01")),
    (DivTerm(3), [], array("1", "0.00215443469003188372")),  # 1 / 10000^(2/3) = 1 / 464.1588…
    (Sin(), [array(["0", "1"])], array(["0", "0.84147098480789651"])),
    (Cos(), [array(["0", "1"])], array(["1", "0.54030230586813972"])),
    (
        Interleave(("a", "b", "c")),  # an odd width leaves the last cosine out
        [array(["1", "2"]), array(["3", "4"])],
        array(["1", "3", "2"]),
    ),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), CASES, ids=[type(case[0]).__name__ for case in CASES]
)
def test_result(operation: Any, inputs: list[Array], expected: Array) -> None:
    found = operation.result(*inputs, part=unrounded)
    assert found.shape == expected.shape
    for number, wanted in zip(found.flat, expected.flat, strict=True):
        assert number == wanted or math.isclose(number, wanted, rel_tol=1e-15)


def test_arg_max_takes_the_first_of_the_largest() -> None:
    rows = array(["1", "3", "2"], ["2", "1", "2"], ["-1", "-1", "-0.5"])
    assert list(ArgMax(("x", "y", "z")).result(rows, part=unrounded)) == ["y", "x", "z"]


@pytest.mark.parametrize("power", ["99999999", "-99999999"])
def test_exp_beyond_all_bounds_is_no_number(power: str) -> None:
    with pytest.raises(Overflow):
        Exp().result(array([power]), part=unrounded)


# --- the numbers on the way, rounded as a pencil does --------------------------------------------

ROUNDED: list[tuple[Any, list[Array], str]] = [
    # 0.5×0.5 = 0.25 → 0.3, twice; a bias is no product, and the sum is not rounded.
    (MatMul(), [array(["0.5", "0.5"]), array(["0.5"], ["0.5"])], "0.6"),
    (MatMul(), [array(["0.5", "0.5"]), array(["0.5"], ["0.5"]), array("0.25")], "0.85"),
    (Dot(), [array(["0.5", "0.5"]), array(["0.5", "-0.5"])], "0.0"),
    (Dot(), [array(["0.5", "0.4"]), array(["0.5", "0.6"])], "0.5"),  # 0.25 → 0.3, 0.24 → 0.2
    # 1 / 8 = 0.125 → 0.1, only where something follows.
    (Normalize(), [array(["1"]), array("8")], "0.125"),
    (Normalize(gain=True), [array(["1"]), array("8"), array("3.5")], "0.35"),
    (Normalize(shift=True), [array(["1"]), array("8"), array("0.06")], "0.16"),
    # 0.1×3.5 = 0.35 → 0.4, then 0.4 + 0.06.
    (
        Normalize(gain=True, shift=True),
        [array(["1"]), array("8"), array("3.5"), array("0.06")],
        "0.46",
    ),
]


@pytest.mark.parametrize(("operation", "inputs", "expected"), ROUNDED)
def test_parts_are_rounded_and_the_result_is_not(
    operation: Any, inputs: list[Array], expected: str
) -> None:
    assert operation.result(*inputs, part=one_decimal).item() == Decimal(expected)


@st.composite
def factors(draw: st.DrawFn) -> tuple[Array, Array]:
    """Two matrices with rows of the same length."""
    width = draw(st.integers(1, 4))
    row = st.lists(st.decimals(-9, 9, places=2), min_size=width, max_size=width)
    a, b = (np.array(draw(st.lists(row, min_size=1, max_size=4)), object) for _ in "ab")
    return a, b


@settings(max_examples=30, deadline=None)
@given(factors(), st.sampled_from([unrounded, one_decimal]))
def test_products_of_matrices_are_sums_of_products(
    matrices: tuple[Array, Array], part: Callable[[Array], Array]
) -> None:
    a, b = matrices

    def product(x: Decimal, y: Decimal) -> Any:
        return part(np.array(x * y, object)).item()

    expected = [[sum(map(product, row, other)) for other in b] for row in a]
    assert Dot().result(a, b, part=part).tolist() == expected
    assert MatMul().result(a, b.T, part=part).tolist() == expected


# --- axes ----------------------------------------------------------------------------------------

TOKEN, KEY = Axis("token", ("i", "like")), Axis("key", ("i", "like"))
FEATURE, QUERY = Axis("feature", ("spicy", "cheap", "cozy")), Axis("query", ("q₁", "q₂"))

AXES: list[tuple[Any, list[Any], Any]] = [
    (Add(), [(TOKEN, FEATURE), (TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (Subtract(), [(TOKEN, FEATURE), (TOKEN,)], (TOKEN, FEATURE)),
    (MatMul(), [(TOKEN, FEATURE), (FEATURE, QUERY)], (TOKEN, QUERY)),
    (MatMul(), [(TOKEN, FEATURE), (FEATURE, QUERY), (QUERY,)], (TOKEN, QUERY)),
    (Dot(), [(TOKEN, QUERY), (TOKEN, QUERY)], (TOKEN, KEY)),
    (Total(), [(TOKEN, KEY)], (TOKEN,)),
    (Mean(), [(TOKEN, FEATURE)], (TOKEN,)),
    (ArgMax(("x",)), [(TOKEN, QUERY)], (TOKEN,)),
    (
        Concat(),
        [(TOKEN, FEATURE), (TOKEN, QUERY)],
        (TOKEN, Axis("concat", ("spicy", "cheap", "cozy", "q₁", "q₂"))),
    ),
    (DivTerm(3), [], (Axis("pair", ("ω₀", "ω₁")),)),
    (Outer(), [(TOKEN,), (QUERY,)], (TOKEN, QUERY)),
    (Sin(), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (Cos(), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (Interleave(FEATURE.labels), [(TOKEN, QUERY)] * 2, (TOKEN, FEATURE)),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), AXES, ids=[type(case[0]).__name__ for case in AXES]
)
def test_axes(operation: Any, inputs: list[Any], expected: Any) -> None:
    assert operation.axes(*inputs) == expected


def test_numbered() -> None:
    assert numbered("h", 1, 3) == ("h₁", "h₂", "h₃")
    assert numbered("d", 9, 3) == ("d₉", "d₁₀", "d₁₁")
    assert numbered("d", 0, 0) == ()


def test_floats_become_the_shortest_decimals_that_they_stand_for() -> None:
    found = decimals(np.array([[0.1, -2.5], [1e-7, 1 / 3]]))
    assert found.tolist() == array(["0.1", "-2.5"], ["1e-7", "0.3333333333333333"]).tolist()
