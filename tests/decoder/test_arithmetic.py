"""Each operation on arrays small enough to be worked by hand, in each arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import (
    ROUND_HALF_UP,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
)
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers.random_scenarios import Scenario, scenarios
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import array
from tracer.decoder import elementwise as el, operations as op, results
from tracer.decoder.axes import Axis
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.loss import targets_of
from tracer.decoder.routing import routing_of
from tracer.decoder.sampling import Sampling
from tracer.errors import TracerError
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.arithmetic import (
    DECIMALS,
    FLOATS,
    PRECISION,
    SHAPES,
    Arithmetic,
    Array,
    no_rounding,
)
from tracer.formula.numbers import round_half_away
from tracer.scenario.loading import parse

BOTH = pytest.mark.parametrize("arithmetic", [DECIMALS, FLOATS], ids=["decimals", "floats"])


def result(arithmetic: Arithmetic, operation: Any, *inputs: Any, part: Any = no_rounding) -> Array:
    """What an operation gives for numbers of that arithmetic."""
    with arithmetic.context():
        arrays = [arithmetic.array(numbers) for numbers in inputs]
        return results.result(arithmetic, operation, arrays, (), part)


def one_decimal(numbers: Array) -> Array:
    """Each number with one decimal, half away from zero."""
    rounded = np.frompyfunc(lambda n: n.quantize(Decimal("0.1"), ROUND_HALF_UP), 1, 1)(numbers)
    return np.asarray(rounded)


# --- choices --------------------------------------------------------------------------------------

CHOSEN = [
    # The largest of each row; where two are alike, that with the larger logit, then the first.
    (op.ArgMax(("x", "y", "z")), [["1", "3", "2"]], [["9", "0", "9"]], "y"),
    (op.ArgMax(("x", "y", "z")), [["2", "1", "2"]], [["3", "9", "4"]], "z"),
    (op.ArgMax(("x", "y", "z")), [["2", "1", "2"]], [["3", "9", "3"]], "x"),
    (op.ArgMax(("x", "y", "z")), [["0", "0", "0"]], [["-3", "-1", "-2"]], "y"),
    # The first whose running sum lies above the draw; the last, where none does.
    (op.Pick(("x", "y", "z")), [["0.5", "0.75", "1"]], "0", "x"),
    (op.Pick(("x", "y", "z")), [["0.5", "0.75", "1"]], "0.4999", "x"),
    (op.Pick(("x", "y", "z")), [["0.5", "0.75", "1"]], "0.5", "y"),
    (op.Pick(("x", "y", "z")), [["0.5", "0.75", "1"]], "0.9999", "z"),
    (op.Pick(("x", "y", "z")), [["0.5", "0.75", "0.9"]], "0.95", "z"),
    (op.Pick(("x",)), [["0.9"]], "0.95", "x"),
]


@BOTH
@pytest.mark.parametrize(("operation", "numbers", "other", "word"), CHOSEN)
def test_choices(
    arithmetic: Arithmetic, operation: Any, numbers: Any, other: Any, word: str
) -> None:
    by = array(*other) if isinstance(other, list) else np.array(Decimal(other))
    assert list(result(arithmetic, operation, array(*numbers), by)) == [word]


def test_each_row_has_its_own_largest() -> None:
    rows = array(["1", "3", "2"], ["2", "1", "2"], ["-1", "-1", "-0.5"])
    words = op.ArgMax(("x", "y", "z"))
    assert list(result(DECIMALS, words, rows, rows)) == ["y", "x", "z"]


# --- the numbers on the way, rounded as a pencil does --------------------------------------------

ROUNDED: list[tuple[Any, list[Array], str]] = [
    # 0.5×0.5 = 0.25 → 0.3, twice; a bias is no product, and the sum is not rounded.
    (op.MatMul(), [array(["0.5", "0.5"]), array(["0.5"], ["0.5"])], "0.6"),
    (op.MatMul(), [array(["0.5", "0.5"]), array(["0.5"], ["0.5"]), array("0.25")], "0.85"),
    (op.Dot(), [array(["0.5", "0.5"]), array(["0.5", "-0.5"])], "0.0"),
    (op.Dot(), [array(["0.5", "0.4"]), array(["0.5", "0.6"])], "0.5"),  # 0.25 → 0.3, 0.24 → 0.2
    # √0.0625 = 0.25 → 0.3, where ε is added to it; under the root nothing is rounded.
    (el.SquareRoot(Decimal("0.01"), outside=True), [array("0.0625")], "0.31"),
    (el.SquareRoot(Decimal("0.0036")), [array("0.0589")], "0.25"),
    # Φ(1) = 0.841 → 0.8
    (el.Activate("gelu"), [array(["1"])], "0.8"),
    (el.Activate("silu"), [array(["1.5"])], "1.25"),  # e^(-1.5) = 0.223 → 0.2, and 1.5 / 1.2
    # √(8/π)×(1.08 + 0.0563) = 1.813 → 1.8, e^(-1.8) = 0.165 → 0.2, and 1.08 / 1.2.
    (el.Activate("gelu_tanh"), [array(["1.08"])], "0.9"),
    # 1 / 8 = 0.125 → 0.1, only where something follows.
    (el.Normalize(), [array(["1"]), array("8")], "0.125"),
    (el.Normalize(gain=True), [array(["1"]), array("8"), array("3.5")], "0.35"),
    (el.Normalize(shift=True), [array(["1"]), array("8"), array("0.06")], "0.16"),
    # 0.1×3.5 = 0.35 → 0.4, then 0.4 + 0.06.
    (
        el.Normalize(gain=True, shift=True),
        [array(["1"]), array("8"), array("3.5"), array("0.06")],
        "0.46",
    ),
    (op.RowDot(), [array(["0.25", "0.15"]), array(["1", "1"])], "0.5"),
    (op.ColumnDot(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], "0.5"),
    (op.TransposedMatMul(), [array(["0.25"], ["0.15"]), array(["1"], ["1"])], "0.5"),
    (op.SumOfSquares(), [array("0.5", "0.5")], "0.6"),
    (el.Combine(Decimal(1), Decimal("0.5")), [array("0.25"), array("0.5")], "0.55"),
    (el.Combine(Decimal("0.9"), Decimal("0.1")), [array("0.5"), array("0.5")], "0.6"),
]


@pytest.mark.parametrize(("operation", "inputs", "expected"), ROUNDED)
def test_parts_are_rounded_and_the_result_is_not(
    operation: Any, inputs: list[Array], expected: str
) -> None:
    assert result(DECIMALS, operation, *inputs, part=one_decimal).item() == Decimal(expected)


def test_the_products_of_a_turn_are_rounded() -> None:
    # 0.5×0.5 = 0.25 → 0.3 and 0.4×0.6 = 0.24 → 0.2; 0.5×0.6 = 0.3 and 0.4×0.5 = 0.2.
    operands = array(["0.5", "0.4"]), array(["0.5"]), array(["0.6"])
    turned = result(DECIMALS, op.Rotate("pairs"), *operands, part=one_decimal)
    assert turned.tolist() == [[Decimal("0.1"), Decimal("0.5")]]


@st.composite
def factors(draw: st.DrawFn) -> tuple[Array, Array]:
    """Two matrices with rows of the same length."""
    width = draw(st.integers(1, 4))
    row = st.lists(st.decimals(-9, 9, places=2), min_size=width, max_size=width)
    a, b = (np.array(draw(st.lists(row, min_size=1, max_size=4)), object) for _ in "ab")
    return a, b


@settings(max_examples=30, deadline=None)
@given(factors(), st.sampled_from([no_rounding, one_decimal]))
def test_products_of_matrices_are_sums_of_products(
    matrices: tuple[Array, Array], part: Callable[[Array], Array]
) -> None:
    a, b = matrices

    def product(x: Decimal, y: Decimal) -> Any:
        return part(np.array(x * y, object)).item()

    expected = [[sum(map(product, row, other)) for other in b] for row in a]
    assert result(DECIMALS, op.Dot(), a, b, part=part).tolist() == expected
    assert result(DECIMALS, op.MatMul(), a, b.T, part=part).tolist() == expected


def test_a_vector_is_multiplied_by_the_only_row() -> None:
    assert result(DECIMALS, op.RowDot(), array("1", "2"), array(["5", "-6"])).tolist() == [-7]


def test_a_sum_without_terms_is_0() -> None:
    no_tokens = np.empty((0, 2), object), np.empty((0, 1), object)
    assert result(DECIMALS, op.TransposedMatMul(), *no_tokens).tolist() == [[0], [0]]


def test_a_row_that_is_masked_as_a_whole() -> None:
    hidden, masked = array(["-Infinity"] * 2), array("-Infinity")
    assert result(DECIMALS, op.Largest(), hidden).item() == 0
    assert result(DECIMALS, op.LargestSoFar(), hidden).item() == Decimal("-Infinity")
    assert set(result(DECIMALS, el.BelowMaximum(), hidden, masked).flat) == {Decimal("-Infinity")}
    assert result(DECIMALS, el.MaximumChange(), masked, masked).item() == Decimal("-Infinity")
    assert result(DECIMALS, el.DivideByRowSum(), array(["0", "0"]), array("0")).tolist() == [[0, 0]]


@pytest.mark.parametrize("function", ACTIVATIONS)
def test_a_slope_far_from_0_is_its_limit(function: str) -> None:
    limits = {"sigmoid": 0, "tanh": 0, "relu_squared": 1200}
    far = result(FLOATS, el.Slope(function), np.array([-600.0, 600.0]))
    np.testing.assert_allclose(far, [0, limits.get(function, 1)], atol=1e-200)


# --- what has no result, and what is only noise --------------------------------------------------

TOO_LARGE = {DECIMALS: "99999999", FLOATS: "710"}
"""e to that power is beyond all bounds; e to minus twice that would be 0."""


@BOTH
def test_a_power_beyond_all_bounds_is_no_number(arithmetic: Arithmetic) -> None:
    most = TOO_LARGE[arithmetic]
    with pytest.raises(Overflow):
        result(arithmetic, el.Exp(), array(["0", most]))
    tiny = f"-{2 * int(most)}"
    with pytest.raises(Underflow):
        result(arithmetic, el.Exp(), array(["0", "-Infinity"], [tiny, "-Infinity"]))
    assert result(arithmetic, el.Exp(), array([tiny, "0"])).tolist() == [[0, 1]]
    # A masked score is no small number: its power is 0.
    assert result(arithmetic, el.Exp(), array(["-Infinity", "-1"]))[0, 0] == 0


@BOTH
@pytest.mark.parametrize(
    ("operation", "inputs"),
    [
        (el.Divide(), [array(["1"]), np.array(Decimal(0))]),
        (el.Divide(), [array(["0"]), np.array(Decimal(0))]),
        (el.DivideByRowSum(), [array(["1", "-1"]), array("0")]),  # no row of zeros, but a sum of 0
        (el.Normalize(), [array(["0", "0"]), array("0")]),
        (el.Normalize(), [array(["1", "0"]), array("0")]),
        (el.SquareRoot(), [array("-0.25")]),
        (el.NegativeLogLikelihood((0,), ("a",)), [array(["0", "1"])]),
        (el.NegativeLogLikelihood((0,), ("a",)), [array(["-0.5", "1.5"])]),
    ],
)
def test_what_has_no_result_is_an_error_of_arithmetic(
    arithmetic: Arithmetic, operation: Any, inputs: list[Array]
) -> None:
    expected = (DivisionByZero, InvalidOperation, Overflow, Underflow, FloatingPointError)
    with pytest.raises(expected) as caught:
        result(arithmetic, operation, *inputs)
    assert isinstance(caught.value, ArithmeticError)


def test_products_beyond_the_bounds_of_floats_are_an_error() -> None:
    with pytest.raises(FloatingPointError, match="overflow"):
        result(FLOATS, op.MatMul(), array(["1e200", "1"]), array(["1e200"], ["1"]))


THIRD = "0." + "3" * PRECISION
"""1 / 3, to the last digit that Decimals have here."""


def test_what_is_left_of_a_sum_that_should_be_0_is_0() -> None:
    last = "1e-50"
    assert result(DECIMALS, el.Add(), array([f"{THIRD[:-1]}4"]), array([f"-{THIRD}"])).item() == 0
    assert result(DECIMALS, op.Total(), array(["1", "-1", last])).item() == 0
    assert result(DECIMALS, el.Subtract(), array([f"{THIRD[:-1]}4"]), array(THIRD)).item() == 0
    assert (
        result(DECIMALS, op.Dot(), array(["1", "1"]), array([f"{THIRD[:-1]}4", f"-{THIRD}"])) == 0
    )
    assert (
        result(DECIMALS, op.MatMul(), array(["1"]), array([THIRD]), array(f"-{THIRD[:-1]}4")) == 0
    )
    assert result(FLOATS, el.Add(), np.array([[0.1 + 0.2]]), np.array([[-0.3]])).item() == 0
    assert result(FLOATS, el.Subtract(), np.array([[0.1 + 0.2]]), np.array([0.3])).item() == 0
    beside_0 = result(FLOATS, el.Subtract(), np.array([[0.1 + 0.2, 0.3, 1.0]]), np.array([0.3]))
    assert beside_0.tolist() == [[0, 0, 0.7]]


def test_what_is_small_but_no_noise_stays() -> None:
    small = "1.0000000000000000000000000000001"
    assert result(DECIMALS, el.Add(), array([small]), array(["-1"])).item() == Decimal("1e-31")
    assert result(DECIMALS, el.Add(), array(["1e-60"]), array(["0"])).item() == Decimal("1e-60")
    found = result(FLOATS, el.Add(), np.array([[1 + 1e-12]]), np.array([[-1.0]])).item()
    assert found == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize(("tiny", "rounded"), [("-1e-300", "5.054"), ("1e-300", "5.055")])
def test_what_is_too_small_to_be_kept_still_breaks_a_tie(tiny: str, rounded: str) -> None:
    for total in (
        result(DECIMALS, op.Total(), array(["5.0545", tiny])),
        result(DECIMALS, el.Add(), array(["5.0545"]), array([tiny])),
        result(DECIMALS, op.MatMul(), array(["1", "1"]), array(["5.0545"], [tiny])),
    ):
        assert str(round_half_away(total.item(), 3)) == rounded


# --- how numbers are stored ----------------------------------------------------------------------


def test_floats_become_the_shortest_decimals_that_they_stand_for() -> None:
    found = DECIMALS.array(np.array([[0.1, -2.5], [1e-7, 1 / 3]]))
    assert found.tolist() == array(["0.1", "-2.5"], ["1e-7", "0.3333333333333333"]).tolist()
    assert [str(x) for x in found.flat] == ["0.1", "-2.5", "1E-7", "0.3333333333333333"]
    assert DECIMALS.array(3).item() == Decimal(3)


def test_typed_numbers_keep_their_digits_or_are_the_nearest_floats() -> None:
    typed = ((Decimal("0.50"), Decimal("0.1")), (Decimal("-0.30"), Decimal(7)))
    assert [str(x) for x in DECIMALS.array(typed).flat] == ["0.50", "0.1", "-0.30", "7"]
    found = FLOATS.array(typed)
    assert found.dtype == np.float64
    assert found.tolist() == [[0.5, 0.1], [-0.3, 7.0]]
    assert FLOATS.array(np.array([1, 2], np.float32)).dtype == np.float64


def test_float_sums_that_cancel_are_0() -> None:
    row = np.array([[1.1, -0.4, -0.7]])
    assert row.sum() != 0  # 1.1102230246251565e-16
    assert FLOATS.mean(row, 3).tolist() == [0]
    ones = np.ones((3, 1))
    assert FLOATS.matmul(row, ones, [], no_rounding).tolist() == [[0]]
    assert FLOATS.add(np.array(0.3), np.array(-0.1 - 0.2)) == 0
    assert FLOATS.mean(np.array([[1.0, -0.9]]), 2) == pytest.approx(0.05)


# --- shapes alone --------------------------------------------------------------------------------


def test_shapes_take_no_memory() -> None:
    many = Axis("feature", ("x",) * 200_000)
    found = results.result(SHAPES, op.MatMul(), [], (many, many), no_rounding)  # 320 GB of floats
    assert (found.shape, found.strides) == ((200_000, 200_000), (0, 0))
    typed = SHAPES.array(((Decimal("0.50"), Decimal(1)),))
    assert (typed.shape, typed.strides) == ((1, 2), (0, 0))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(speaks=True), st.sampled_from([None, 1, 2]))
def test_shapes_are_those_of_decimals(spec: Scenario, top_k: int | None) -> None:
    """Softmax is shifted, because shapes cannot know that the scores are too large without it."""
    scenario = parse(to_yaml(spec | {"softmax": "shifted"}), "f.yaml")
    learns = any(target is not None for target in targets_of(scenario))
    sampling = Sampling(Decimal("0.5"), Decimal("1.5"), top_k)

    routing: dict[str, tuple[tuple[int, ...], ...]] = {}

    def shapes(arithmetic: Arithmetic) -> dict[str, tuple[int, ...]]:
        options = PassOptions(True, learns, sampling=sampling, arithmetic=arithmetic)
        ran = trace("f", scenario, replace(options, routing=routing))
        routing.update(routing_of(ran.values.values()))
        return {address: value.numbers.shape for address, value in ran.values.items()}

    try:
        of_decimals = shapes(DECIMALS)
    except TracerError as error:
        assert re.search("a division by zero|number is too (large|small)", str(error))
        reject()
    assert shapes(SHAPES) == of_decimals
