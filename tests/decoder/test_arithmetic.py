"""Each operation on arrays small enough to be worked by hand, in each arithmetic."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import (
    ROUND_HALF_UP,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    localcontext as decimal_context,
)
from operator import sub
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.decoder.cases_of_training import CASES as CASES_OF_TRAINING
from tests.helpers.random_scenarios import Scenario, scenarios
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import array
from tracer.decoder import elementwise as el, operations as op, results
from tracer.decoder.axes import Axis
from tracer.decoder.contract import Contract
from tracer.decoder.experts import routing_of
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.gather import Gather
from tracer.decoder.loss import targets_of
from tracer.decoder.sampling import Sampling
from tracer.errors import TracerError
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


# --- by hand -------------------------------------------------------------------------------------

CASES: list[tuple[Any, list[Array], Array]] = [
    (  # 0.25 · (4, 8) + 0.75 · (4, 0), and (2, 1) alone
        op.MixExperts(((0,), (0, 1), ())),
        [
            array(["0.25", "0.75", "0"], ["0", "1", "0"]),
            *(array(["4", "8"]), array(["4", "0"], ["2", "1"]), np.empty((0, 2), object)),
        ],
        array(["4", "2"], ["2", "1"]),
    ),
    (el.Outer(), [array("1", "2"), array("3", "0.5")], array(["3", "0.5"], ["6", "1"])),
    (el.Add(), [array(["1", "-2.5"]), array(["0.5", "2.5"])], array(["1.5", "0"])),
    (el.Mask(), [array(["1", "2"]), array(["0", "-Infinity"])], array(["1", "-Infinity"])),
    (
        el.Subtract(),
        [array(["1", "2"], ["3", "4"]), array("1.5", "-1")],
        array(["-0.5", "0.5"], [4, 5]),
    ),
    (el.SquareRoot(), [array("4", "0", "2.25")], array("2", "0", "1.5")),
    (el.SquareRoot(Decimal("0.19")), [array("0.25", "0.81")], array("0.66332495807107996", "1")),
    (el.SquareRoot(Decimal("0.19"), outside=True), [array("0.25", "0.81")], array("0.69", "1.09")),
    (
        el.Divide(),
        [array(["1", "2"], ["3", "-4"]), np.array(Decimal(4))],
        array(["0.25", "0.5"], ["0.75", "-1"]),
    ),
    (el.Times(), [array(["1", "-2"]), np.array(Decimal("0.5"))], array(["0.5", "-1"])),
    (el.Scale(Decimal("0.1")), [array(["5", "-2"])], array(["0.5", "-0.2"])),
    (el.DivideBy(Decimal(8)), [array(["1", "-2"])], array(["0.125", "-0.25"])),
    (
        el.DivideByRowSum(),  # a row of zeros stays
        [array(["1", "2"], ["3", "-4"], ["0", "0"]), array("2", "8", "0")],
        array(["0.5", "1"], ["0.375", "-0.5"], ["0", "0"]),
    ),
    (el.Exp(), [array(["0", "1", "-Infinity"])], array(["1", "2.71828182845904524", "0"])),
    (el.Square(), [array(["-1.5", "0", "3"])], array(["2.25", "0", "9"])),
    (
        el.Penalize(),
        [array(["1", "2.5"]), np.array(Decimal("0.25")), array(["2", "0"])],
        array(["0.5", "2.5"]),
    ),
    (
        el.Adapt(Decimal(3), 2),
        [array(["1", "2.5"]), array(["0.5", "-2"])],
        array(["1.75", "-0.5"]),
    ),
    (
        el.BelowMaximum(),  # a row of which all is masked stays
        [array(["1", "-Infinity"], ["-Infinity", "-Infinity"]), array("3", "-Infinity")],
        array(["-2", "-Infinity"], ["-Infinity", "-Infinity"]),
    ),
    (
        el.MaximumChange(),
        [array("1", "-Infinity", "-Infinity"), array("3", "2", "-Infinity")],
        array("-2", "-Infinity", "-Infinity"),
    ),
    (el.Rescale(), [array("2", "4"), array("0.5", "1"), array("3", "0")], array("4", "4")),
    (
        el.RescaleRows(),
        [array(["2", "4"], ["1", "1"]), array("0.5", "0"), array(["1", "2"], ["3", "4"])],
        array(["2", "4"], ["3", "4"]),
    ),
    (
        op.LargestSoFar(),
        [array(["1", "-Infinity"], ["-Infinity", "-Infinity"]), array("3", "-Infinity")],
        array("3", "-Infinity"),
    ),
    (op.PowerOfTwo(-16, 4), [], np.array(Decimal("0.0625"))),
    (op.PowerOfTwo(-8, 16), [], np.array(Decimal("0.70710678118654752"))),
    (  # tanh(½) = 0.46211715726000975
        el.SoftCap(Decimal(2)),
        [array(["1", "0", "-1", "900"])],
        array(["0.92423431452001951", "0", "-0.92423431452001951", "2"]),
    ),
    (el.Activate("relu"), [array(["-1.5", "0", "3", "-0.0"])], array(["0", "0", "3", "0"])),
    (  # Φ(1) = 0.84134474606854295, Φ(-1) = 1 - Φ(1)
        el.Activate("gelu"),
        [array(["0", "1", "-1", "2"])],
        array(["0", "0.84134474606854295", "-0.15865525393145705", "1.9544997361036416"]),
    ),
    (  # tanh(√(2/π) · 1.044715) = 0.68238398…
        el.Activate("gelu_tanh"),
        [array(["0", "1", "-1"])],
        array(["0", "0.84119199060827676", "-0.15880800939172324"]),
    ),
    (  # 1 / (1 + 1/e) = 0.7310585786300049
        el.Activate("silu"),
        [array(["0", "1", "-1"])],
        array(["0", "0.73105857863000488", "-0.26894142136999512"]),
    ),
    (el.Multiply(), [array(["1", "-2"]), array(["0.5", "3"])], array(["0.5", "-6"])),
    (el.Difference(), [array(["1", "-2"]), array(["0.5", "3"])], array(["0.5", "-5"])),
    (el.Sigmoid(), [array(["0", "1"])], array(["0.5", "0.73105857863000488"])),
    (el.OfTarget(), [array(["0.25", "0.25"]), array(["1", "0"])], array(["0.25", "0.75"])),
    (el.NegativeLog(), [array(["1", "0.5"])], array(["0", "0.69314718055994531"])),
    (
        op.Largest(),
        [array(["1", "3"], ["-2", "-Infinity"], ["-Infinity"] * 2)],
        array("3", "-2", "0"),
    ),
    (  # a quarter turn, and half of one: (1, 2) → (-2, 1), (3, 4) → (-3, -4)
        op.Rotate("pairs"),
        [array(["1", "2", "3", "4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["-2", "1", "-3", "-4"]),
    ),
    (
        op.Rotate("halves"),
        [array(["1", "3", "2", "4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["-2", "-3", "1", "-4"]),
    ),
    (
        el.Normalize(),
        [array(["1", "-1"], ["2", "0"]), array("4", "5")],
        array(["0.25", "-0.25"], ["0.4", "0"]),
    ),
    (
        el.Normalize(gain=True),
        [array(["1", "-1"]), array("4"), array("8", "2")],
        array(["2", "-0.5"]),
    ),
    (
        el.Normalize(shift=True),
        [array(["1", "-1"]), array("4"), array("8", "2")],
        array(["8.25", "1.75"]),
    ),
    (
        el.Normalize(gain=True, shift=True),
        [array(["1", "-1"]), array("4"), array("8", "2"), array("1", "0.5")],
        array(["3", "0"]),
    ),
    (
        el.NegativeLogLikelihood((1, None, 0), ("b", "—", "a")),  # -ln 0.25, none, -ln 1
        [array(["0.75", "0.25"], ["0.5", "0.5"], ["1", "0"])],
        array("1.3862943611198906", "0", "0"),
    ),
    (op.Cumulate(), [array(["0.5", "0.25", "0.125"])], array(["0.5", "0.75", "0.875"])),
    (op.DivTerm(2), [], array("1")),
    (op.DivTerm(4), [], array("1", "0.01")),
    (op.DivTerm(4, Decimal(100)), [], array("1", "0.1")),
    (op.DivTerm(3), [], array("1", "0.00215443469003188372")),  # 1 / 10000^(2/3) = 1 / 464.1588…
    (el.Sin(), [array(["0", "1"])], array(["0", "0.84147098480789651"])),
    (el.Cos(), [array(["0", "1"])], array(["1", "0.54030230586813972"])),
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


def test_each_operation_is_tried() -> None:
    forward = {type(case[0]) for case in (*CASES, *CHOSEN)}
    tried = forward | {type(case[0]) for case in CASES_OF_TRAINING}
    assert tried - {el.GradientOf} == (
        {*get_args(op.Forward), *get_args(op.Trained), *el.Elementwise.__subclasses__()}
        - {Gather, Contract, el.Elementwise, el.GradientOf}
    )


# --- random numbers, against plain formulas ------------------------------------------------------


@dataclass(frozen=True)
class Maths:
    """The functions of one kind of number."""

    number: Callable[[str], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    ln: Callable[[Any], Any]
    power: Callable[[int, int, int], Any]

    def sin(self, x: Any) -> Any:
        return self.number(repr(math.sin(float(x))))

    def tanh(self, x: Any) -> Any:
        if isinstance(x, float):
            return math.tanh(x)
        return (self.exp(x) - self.exp(-x)) / (self.exp(x) + self.exp(-x))

    def cos(self, x: Any) -> Any:
        return self.number(repr(math.cos(float(x))))


PLAIN = {
    DECIMALS: Maths(
        Decimal,
        Decimal.exp,
        Decimal.sqrt,
        Decimal.ln,
        lambda base, over, under: (Decimal(base).ln() * over / under).exp(),
    ),
    FLOATS: Maths(
        float,
        math.exp,
        math.sqrt,
        math.log,
        lambda base, over, under: math.exp(math.log(base) * over / under),
    ),
}

TOLERANCE = {DECIMALS: Decimal("1e-38"), FLOATS: 1e-13}
"""Of numbers of this size: what is lost in a few roundings to 50 digits, or to a float's 16."""


SUMS = (
    el.Add,
    el.Mask,
    el.Subtract,
    op.Cumulate,
    el.Normalize,
    el.Penalize,
    el.Adapt,
    *(el.BelowMaximum, el.MaximumChange, el.Rescale, el.RescaleRows),
)


@dataclass(frozen=True)
class Drawn:
    """Random operands of small shapes, which are drawn once."""

    rng: random.Random
    n: int
    m: int
    k: int

    def number(self, least: int = -900, most: int = 900) -> Decimal:
        return Decimal(self.rng.randint(least, most)).scaleb(-2)

    def row(self, size: int, least: int = -900, most: int = 900) -> list[Decimal]:
        return [self.number(least, most) for _ in range(size)]

    def matrix(
        self, rows: int, columns: int, least: int = -900, most: int = 900
    ) -> list[list[Decimal]]:
        return [self.row(columns, least, most) for _ in range(rows)]


def elementwise(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda maths, a, *others: [
        [f(maths, *each) for each in zip(*rows, strict=True)]
        for rows in zip(a, *others, strict=True)
    ]


def by_row(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda maths, a, b: [[f(x, each) for x in row] for row, each in zip(a, b, strict=True)]


Trial = tuple[Any, list[Any], Callable[..., Any]]


def trials(d: Drawn) -> list[Trial]:
    """For each operation: operands, and the formula on lists of plain numbers."""
    n, m, k = d.n, d.m, d.k
    half = (m + 1) // 2
    rows = tuple(sorted(d.rng.sample(range(n), d.rng.randint(1, n))))
    rights = tuple(d.rng.choice([None, *range(m)]) for _ in range(n))
    labels = tuple(map(str, range(m)))
    epsilon = d.number(1)

    def normed(maths: Maths, a: Any, s: Any, g: Any, b: Any) -> Any:
        return [
            [x / sigma * gain + shift for x, gain, shift in zip(row, g, b, strict=True)]
            for row, sigma in zip(a, s, strict=True)
        ]

    def surprises(maths: Maths, p: Any) -> Any:
        return [
            maths.number("0") if j is None else -maths.ln(row[j])
            for row, j in zip(p, rights, strict=True)
        ]

    def turned(maths: Maths, a: Any, cos: Any, sin: Any) -> Any:
        rows = []
        for row, cosines, sines in zip(a, cos, sin, strict=True):
            pairs = zip(row[::2], row[1::2], cosines, sines, strict=True)
            rows.append([x for a, b, c, s in pairs for x in (a * c - b * s, a * s + b * c)])
        return rows

    def mixed(maths: Maths, w: Any, y: Any) -> Any:
        of = [y[rows.index(i)] if i in rows else [maths.number("0")] * k for i in range(n)]
        return [[w[i][0] * x for x in row] for i, row in enumerate(of)]

    wide, positive = d.matrix(n, m), d.matrix(n, m, 1, 100)
    return [
        (op.MixExperts((rows,)), [d.matrix(n, 1), d.matrix(len(rows), k)], mixed),
        (el.Add(), [wide, d.matrix(n, m)], elementwise(lambda _, a, b: a + b)),
        (el.Mask(), [wide, d.matrix(n, m)], elementwise(lambda _, a, b: a + b)),
        (el.Subtract(), [wide, d.row(n)], by_row(lambda a, b: a - b)),
        (el.Outer(), [d.row(n), d.row(k)], lambda _, a, b: [[x * y for y in b] for x in a]),
        (
            el.Divide(),
            [wide, d.number(1)],
            lambda _, a, b: [[x / b for x in row] for row in a],
        ),
        (
            el.Times(),
            [wide, d.number(1)],
            lambda _, a, b: [[x * b for x in row] for row in a],
        ),
        (el.DivideByRowSum(), [positive, d.row(n, 1)], by_row(lambda a, b: a / b)),
        (el.Exp(), [wide], elementwise(lambda maths, a: maths.exp(a))),
        (el.Square(), [wide], elementwise(lambda _, a: a * a)),
        (el.Scale(Decimal(7)), [wide], elementwise(lambda _, a: 7 * a)),
        (el.DivideBy(Decimal(7)), [wide], elementwise(lambda _, a: a / 7)),
        (el.SoftCap(Decimal(700)), [wide], elementwise(lambda maths, a: 700 * maths.tanh(a / 700))),
        (el.SquareRoot(), [positive], elementwise(lambda maths, a: maths.sqrt(a))),
        (
            el.SquareRoot(epsilon),
            [positive],
            elementwise(lambda maths, a: maths.sqrt(a + maths.number(str(epsilon)))),
        ),
        (
            el.SquareRoot(epsilon, outside=True),
            [positive],
            elementwise(lambda maths, a: maths.sqrt(a) + maths.number(str(epsilon))),
        ),
        (el.Multiply(), [wide, d.matrix(n, m)], elementwise(lambda _, a, b: a * b)),
        (op.Rotate("pairs"), [d.matrix(n, 2 * k), d.matrix(n, k), d.matrix(n, k)], turned),
        (op.Largest(), [wide], lambda _, a: [max(row) for row in a]),
        (el.Activate("relu"), [wide], elementwise(lambda _, a: max(a, 0 * a))),
        (el.Activate("silu"), [wide], elementwise(lambda maths, a: a / (1 + maths.exp(-a)))),
        (el.Difference(), [wide, d.matrix(n, m)], elementwise(lambda _, a, b: a - b)),
        (el.NegativeLog(), [positive], elementwise(lambda maths, a: -maths.ln(a))),
        (el.OfTarget(), [wide, wide], elementwise(lambda _, a, b: a * b + (1 - a) * (1 - b))),
        (el.Sigmoid(), [wide], elementwise(lambda maths, a: 1 / (1 + maths.exp(-a)))),
        (
            el.Normalize(gain=True, shift=True),
            [wide, d.row(n, 1), d.row(m), d.row(m)],
            normed,
        ),
        (
            el.Penalize(),
            [wide, d.number(1), d.matrix(n, m)],
            lambda _, a, b, c: [
                [x - b * y for x, y in zip(row, far, strict=True)]
                for row, far in zip(a, c, strict=True)
            ],
        ),
        (
            el.Adapt(Decimal(k), m),
            [wide, d.matrix(n, m)],
            elementwise(lambda _, a, b: a + k * b / m),
        ),
        (
            el.BelowMaximum(),
            [wide, d.row(n)],
            lambda _, a, b: [[x - y for x in row] for row, y in zip(a, b, strict=True)],
        ),
        (el.MaximumChange(), [d.row(n), d.row(n)], lambda _, a, b: list(map(sub, a, b))),
        (
            el.Rescale(),
            [d.row(n), d.row(n), d.row(n)],
            lambda _, a, f, b: [x * y + z for x, y, z in zip(a, f, b, strict=True)],
        ),
        (
            el.RescaleRows(),
            [wide, d.row(n), d.matrix(n, m)],
            lambda _, a, f, b: [
                [x * by + y for x, y in zip(row, added, strict=True)]
                for row, by, added in zip(a, f, b, strict=True)
            ],
        ),
        (
            op.LargestSoFar(),
            [wide, d.row(n)],
            lambda _, a, b: [max(*row, y) for row, y in zip(a, b, strict=True)],
        ),
        (op.PowerOfTwo(-8 * k, m), [], lambda maths: maths.power(2, -8 * k, m)),
        (el.Sin(), [wide], elementwise(lambda maths, a: maths.sin(a))),
        (el.Cos(), [wide], elementwise(lambda maths, a: maths.cos(a))),
        (
            op.DivTerm(m),
            [],
            lambda maths: [maths.power(10000, -2 * pair, m) for pair in range(half)],
        ),
        (el.NegativeLogLikelihood(rights, labels), [positive], surprises),
        (op.Cumulate(), [wide], lambda _, a: [list(itertools.accumulate(row)) for row in a]),
    ]


def plain(maths: Maths, data: Any) -> Any:
    """Numbers as they are typed, as those of one kind."""
    return [plain(maths, x) for x in data] if isinstance(data, list) else maths.number(str(data))


def flat(data: Any) -> list[Any]:
    return [x for part in data for x in flat(part)] if isinstance(data, list) else [data]


@BOTH
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_random_numbers_give_what_plain_formulas_give(
    arithmetic: Arithmetic, seed: int, n: int, m: int, k: int
) -> None:
    maths = PLAIN[arithmetic]
    for operation, operands, formula in trials(Drawn(random.Random(seed), n, m, k)):
        arrays = [np.array(x, dtype=object) for x in operands]
        found = result(arithmetic, operation, *arrays).tolist()
        with decimal_context(prec=PRECISION + 10):
            expected = formula(maths, *(plain(maths, x) for x in operands))
            # Sines have a float's digits in either arithmetic.
            within = 1e-15 if isinstance(operation, el.Sin | el.Cos) else TOLERANCE[arithmetic]
            for ours, theirs in zip(flat(found), flat(expected), strict=True):
                number = type(ours)
                # What is lost of a sum depends on its terms.
                size = number(500) if isinstance(operation, SUMS) else abs(theirs)
                assert abs(ours - theirs) <= number(within) * size, (operation, ours, theirs)


OF_THE_PASS = {type(case[0]) for case in CASES if isinstance(case[0], el.Elementwise)}


def test_each_operation_on_numbers_has_a_formula() -> None:
    tried = {type(each[0]) for each in trials(Drawn(random.Random(0), 2, 2, 2))}
    assert tried - set(el.Elementwise.__subclasses__()) == (
        set(get_args(op.Forward)) - {op.ArgMax, op.Pick, Gather, Contract, el.Elementwise, el.Mask}
    )
    assert tried & set(el.Elementwise.__subclasses__()) == OF_THE_PASS


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


# --- what has no result, and what is only noise --------------------------------------------------

TOO_LARGE = {DECIMALS: "99999999", FLOATS: "710"}
"""e to that power is beyond all bounds; e to minus twice that would be 0."""


@BOTH
def test_a_power_beyond_all_bounds_is_no_number(arithmetic: Arithmetic) -> None:
    most = TOO_LARGE[arithmetic]
    with pytest.raises(Overflow):
        result(arithmetic, el.Exp(), array(["0", most]))
    with pytest.raises(Underflow):
        result(arithmetic, el.Exp(), array(["0", "-Infinity"], [f"-{2 * int(most)}", "0"]))
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
    expected = (DivisionByZero, InvalidOperation, Overflow, FloatingPointError)
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
