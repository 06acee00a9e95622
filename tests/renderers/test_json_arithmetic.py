"""The JSON has the numbers that were worked on with: each comes from those before it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest

from tests.helpers.small_scenario import END, changed
from tests.helpers.strict_json import values

SCENARIOS = ["alex", "science"]
DECIMALS = {
    "alex": [("*", 3), ("*.exp", 0), ("*.exp_sum", 0)],
    "science": [
        *(("*", 4), ("*.scale", 3), ("*.scores", 2), ("*.weights", 3)),
        *(("*output", 2), ("probabilities", 3)),
    ],
}
"""The decimals of these scenarios, but for e to a power in science: three significant digits."""


def rounded(number: Decimal, decimals: int) -> Decimal:
    if number.is_infinite():
        return number
    return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def matmul(x: Any, w: Any, *bias: Any, decimals: int | None) -> Any:
    products = x[:, :, None] * w[None, :, :]
    if decimals is not None:
        products = np.vectorize(rounded, otypes=[object])(products, decimals)
    return products.sum(axis=1) + sum(bias)


def again(value: dict[str, Any], inputs: list[Any], decimals: int | None) -> Any:
    """What an operation should give; with decimals, each product is rounded to them."""
    match value["operation"], inputs:
        case "add", [a, b]:
            return a + b
        case "subtract", [a, b]:
            return a - b[:, None]
        case "square", [a]:
            return a * a
        case "matmul", [x, w, *bias]:
            return matmul(x, w, *bias, decimals=decimals)
        case "dot", [q, k]:
            return matmul(q, k.T, decimals=decimals)
        case (("divide" | "share" | "normalize"), [a, b]):
            return a / (b[:, None] if b.ndim else b)
        case "sum", [a]:
            return a.sum(axis=1)
        case "mean", [a]:
            return a.sum(axis=1) / Decimal(a.shape[1])
        case "sqrt", [a]:
            return np.asarray(np.vectorize(lambda x: x.sqrt(), otypes=[object])(a))
        case "exp", [a]:
            return np.vectorize(lambda x: x.exp(), otypes=[object])(a)
        case "relu", [a]:
            return a * (a > 0)
        case "copy", [a]:
            return a
        case "concat", heads:
            return np.concatenate(heads, axis=1)
        case "outer", [a, b]:
            return a[:, None] * b
        case "div_term", []:
            return np.array([Decimal(10000) ** (Decimal(-2 * k) / 6) for k in range(3)])
        case ("sin" | "cos") as name, [a]:
            wave = {"sin": math.sin, "cos": math.cos}[name]
            return np.array([[Decimal(repr(wave(x))) for x in row] for row in a])
        case "interleave", [sin, cos]:
            return np.array(
                [
                    [x for pair in zip(*rows, strict=True) for x in pair]
                    for rows in zip(sin, cos, strict=True)
                ]
            )
    raise AssertionError(value["operation"])


def array(value: dict[str, Any]) -> Any:
    return np.vectorize(Decimal, otypes=[object])(np.array(value["data"], dtype=object))


def replayed(found: dict[str, Any], decimals: int | None) -> Iterator[tuple[str, Any, Any]]:
    """Each computed address, its numbers, and those that its operands' numbers give."""
    for address, value in found.items():
        if value["operation"] not in ("given", "argmax"):
            operands = [array(found[operand]) for operand in value["operands"]]
            with localcontext(prec=60):
                yield address, array(value), np.asarray(again(value, operands, decimals))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_with_carry_line_each_number_comes_from_those_before_it(scenario: str) -> None:
    checked = 0
    found = values("run", scenario, "--carry", "line")
    for address, shown, exact in replayed(found, DECIMALS[scenario][0][1]):
        *_, usual = [d for pattern, d in DECIMALS[scenario] if fnmatchcase(address, pattern)]
        for number, expected in zip(shown.flat, exact.flat, strict=True):
            decimals = usual
            if scenario == "science" and address.endswith("exp"):
                decimals = max(0, 2 - expected.adjusted()) if expected else 0
            if expected and not rounded(expected, decimals):
                # It is not shown as 0, but with two digits.
                decimals = 1 - expected.adjusted()
            assert number == rounded(expected, decimals), address
            checked += 1
    assert checked > 150


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_with_carry_never_nothing_is_rounded(scenario: str) -> None:
    found = values("run", scenario, "--carry", "never")
    for address, shown, exact in replayed(found, None):
        for number, expected in zip(shown.flat, exact.flat, strict=True):
            if expected.is_infinite():
                assert number == expected
            else:  # JSON has the float64 nearest to each number.
                assert abs(number - expected) <= Decimal("1e-13") * (1 + abs(expected)), address


def test_the_residual_is_the_sum_of_the_numbers_shown() -> None:
    found = values("run", "alex", "--carry", "line", "--token", "Alex")
    (x,), (change,) = found["input"]["data"], found["layer1.attention.output"]["data"]
    (residual,) = found["layer1.attention.residual"]["data"]
    assert residual == [a + b for a, b in zip(x, change, strict=True)]
    assert len(residual) == 6


def test_a_bias_is_added() -> None:
    text = changed((END, f"{END}      b_2: [10, 20]\n      residual: false\n"))
    found = values("run", "-", stdin=text)["layer1.ffn.output"]
    without = values("run", "-", stdin=text.replace("      b_2: [10, 20]\n", ""))
    rows = without["layer1.ffn.output"]["data"]
    assert found["data"] == [[a + 10, b + 20] for a, b in rows]
    assert found["operands"][-1] == "layer1.ffn.b_2"
