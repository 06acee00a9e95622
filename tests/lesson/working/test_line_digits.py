"""How many digits a worked line shows: as typed, as many as asked for, more where it needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.command import printed
from tests.helpers.random_scenarios import scenarios
from tests.helpers.traces import is_short, traced, traced_or_rejected, worked, writer
from tests.helpers.truth import false_equations, unreadable
from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.tape import Record
from tracer.formula.expression import Expression, Number
from tracer.lesson.working.lines import Writer, is_fully_masked
from tracer.lesson.working.written import Worked
from tracer.scenario.rounding import Digits

TYPED = """
title: typed numbers
tokens: [a]
embeddings: [[0.98, 2, 0.1234567]]
positions: {table: [[0.02, 1.50, 0]]}
layers:
  - ffn: {W_1: [[0.970, 1], [1, -0.50], [0.50, 1.00000]], W_2: [[1, 2, 3], [1, 2, 3]]}
"""


def test_typed_numbers_are_neither_rounded_nor_padded() -> None:
    ran = traced(TYPED)
    assert worked(ran, "input", token=1) == {
        "d₀": "0.98 + 0.02 = 1.000",
        "d₁": "2 + 1.50 = 3.500",
        "d₂": "0.1234567 + 0 ≈ 0.123",
    }
    assert worked(ran, "layer1.ffn.hidden", token=1) == {
        "h₁": "1.000×0.970 + 3.500×1 + 0.123×0.50 ≈ 0.970 + 3.500 + 0.062 = 4.532",
        "h₂": "1.000×1 + 3.500×(-0.50) + 0.123×1.00000 = 1.000 - 1.750 + 0.123 = -0.627",
    }


TINY = """
title: tiny numbers
tokens: [a]
embeddings: [[0.05]]
positions: {table: [[0.05]]}
layers:
  - ffn: {W_1: [[0.0002]], W_2: [[0]], activation: none}
vocabulary: [x, y]
unembedding: {W_U: [[0, 0]], b_U: [0, -12]}
"""


@pytest.mark.parametrize(
    ("address", "lines"),
    [
        ("layer1.ffn.hidden", {"h₁": "0.100×0.0002 = 2.0×10⁻⁵"}),
        # The largest of the row has six significant digits, and so the row five decimals.
        ("probabilities.exp", {"x": "e^0 = 1.00000", "y": "e^(-12.000) ≈ 6.1×10⁻⁶"}),
        ("probabilities.exp_sum", {"": "Σ = 1.00000 + 6.1×10⁻⁶ = 1.0000061 ≈ 1.00001"}),
        (
            "probabilities",
            {"x": "1.00000 / 1.00001 ≈ 1.000", "y": "6.1×10⁻⁶ / 1.00001 ≈ 6.1×10⁻⁶"},
        ),
    ],
)
def test_what_is_tiny_is_not_printed_as_zero(address: str, lines: dict[str, str]) -> None:
    assert worked(traced(TINY), address, token=1) == lines


@pytest.mark.parametrize(
    ("weight", "decimals", "end"),
    [
        # 0.1 times the weight; as a power of ten one rounded digit would tell too little.
        ("0.000051", 5, "×(5.1×10⁻⁵) = 5.1×10⁻⁶"),
        ("0.0000985", 5, "×(9.85×10⁻⁵) ≈ 9.9×10⁻⁶"),
        ("0.0001", 5, "×0.0001 = 1×10⁻⁵"),  # which is all that there is
        ("0.00012345", 5, "×0.00012345 ≈ 1×10⁻⁵"),
        ("0.006", 3, "×0.006 ≈ 0.001"),
        ("0.004", 3, "×0.004 = 0.00040"),
    ],
)
def test_less_than_one_of_the_last_place(weight: str, decimals: int, end: str) -> None:
    small = f"{TINY.replace('0.0002', weight)}rounding: {{decimals: {decimals}}}\n"
    (line,) = worked(traced(small), "layer1.ffn.hidden", token=1).values()
    assert line.endswith(end)


def test_huge_numbers() -> None:
    huge = TINY.replace("-12]", "30]")
    assert worked(traced(huge), "probabilities.exp", token=1)["y"] == "e^30.000 ≈ 1.069×10¹³"


PARTS = """
title: biases, gain and shift
tokens: [a]
embeddings: [[1, 3]]
layers:
  - ffn:
      W_1: [[1.5], [-0.5]]
      b_1: [0.25]
      W_2: [[0, 0]]
      norm: NORM
rounding: {decimals: 3, carry: CARRY, trailing_zeros: trim}
"""


def parts(norm: str, carry: str = "step") -> Any:
    return traced(PARTS.replace("NORM", norm).replace("CARRY", carry))


def test_a_bias_is_the_last_term() -> None:
    lines = worked(parts("none"), "layer1.ffn.hidden", token=1)
    assert lines == {"h₁": "1×1.5 + 3×(-0.5) + 0.25 = 1.5 - 1.5 + 0.25 = 0.25"}


@pytest.mark.parametrize(
    ("norm", "carry", "std", "first", "second"),
    [
        # (1, 3) has the mean 2 and the variance 1.
        ("{}", "step", "σ = √1 = 1", "-1 / 1 = -1", "1 / 1 = 1"),
        ("{epsilon: 3}", "step", "σ = √(1 + 3) = √4 = 2", "-1 / 2 = -0.5", "1 / 2 = 0.5"),
        (
            "{epsilon: 3, gain: [2, 3]}",
            "step",
            "σ = √(1 + 3) = √4 = 2",
            "(-1 / 2)×2 = (-0.5)×2 = -1",
            "(1 / 2)×3 = 0.5×3 = 1.5",
        ),
        (
            "{epsilon: 3, shift: [0.50, -1]}",
            "step",
            "σ = √(1 + 3) = √4 = 2",
            "-1 / 2 + 0.50 = -0.5 + 0.50 = 0",
            "1 / 2 + (-1) = 0.5 + (-1) = -0.5",
        ),
        (
            "{epsilon: 3, gain: [2, 3], shift: [0.5, -1]}",
            "step",
            "σ = √(1 + 3) = √4 = 2",
            "(-1 / 2)×2 + 0.5 = (-0.5)×2 + 0.5 = -1 + 0.5 = -0.5",
            "(1 / 2)×3 + (-1) = 0.5×3 + (-1) = 1.5 + (-1) = 0.5",
        ),
        # 1 + γ is a number that is used next: it has as many digits as γ, also with few decimals.
        (
            "{epsilon: 3, gain: [0.1234567, 3], unit_offset: true}",
            "line",
            "σ = √(1 + 3) = √4 = 2",
            "(-1 / 2)×(1 + 0.1234567) = (-0.5)×1.1234567 ≈ -0.562",
            "(1 / 2)×(1 + 3) = 0.5×4 = 2",
        ),
        (
            "{epsilon: 0.0000001, gain: [2, 3]}",
            "line",
            "σ = √(1 + 1×10⁻⁷) = √1.0000001 ≈ 1",
            "(-1 / 1)×2 = (-1)×2 = -2",
            "(1 / 1)×3 = 1×3 = 3",
        ),
        # 1 / √2 is 0.70710…; five of them are 3.53553…, but 5×0.707 is 3.535.
        (
            "{epsilon: 1, gain: [1, 5]}",
            "line",
            "σ = √(1 + 1) = √2 ≈ 1.414",
            "(-1 / 1.414)×1 ≈ (-0.707)×1 = -0.707",
            "(1 / 1.414)×5 ≈ 0.707×5 = 3.535",
        ),
        (
            "{epsilon: 1, gain: [1, 5]}",
            "never",
            "σ = √(1 + 1) = √2 ≈ 1.414",
            "(-1 / 1.414)×1 ≈ (-0.707)×1 = -0.707",
            "(1 / 1.4142)×5 ≈ 0.7071×5 = 3.5355 ≈ 3.536",
        ),
    ],
)
def test_norm(norm: str, carry: str, std: str, first: str, second: str) -> None:
    ran = parts(norm, carry)
    assert worked(ran, "layer1.ffn.norm.std", token=1) == {"": std}
    assert worked(ran, "layer1.ffn.norm", token=1) == {"d₀": first, "d₁": second}


# --- long sums -----------------------------------------------------------------------------------


def long(features: int, decimals: int) -> str:
    columns = range(1, features + 1)
    return f"""
title: many features
tokens: [a]
embeddings: [{[0.1] * features}]
layers:
  - ffn:
      W_1: {[[k / 100, 0.05] for k in columns]}
      W_2: {[[k % 3 for k in columns], [k % 2 for k in columns]]}
      norm: {{}}
rounding: {{decimals: {decimals}, trailing_zeros: trim}}
"""


def test_a_long_sum_shows_what_the_rest_comes_to() -> None:
    products = " + ".join(f"0.1×0.{k:02}".rstrip("0") for k in range(1, 13))
    parts = " + ".join(f"0.{k:03}".rstrip("0") for k in range(1, 13))
    # 0.013 + 0.014 + … + 0.020 = 0.132; and all twenty are 0.001×20×21 / 2.
    assert worked(traced(long(20, 3)), "layer1.ffn.hidden", token=1)["h₁"] == (
        f"{products} + [8 more: 0.132] = {parts} + [8 more: 0.132] = 0.21"
    )


def test_sixteen_terms_are_written_out() -> None:
    line = worked(traced(long(16, 3)), "layer1.ffn.hidden", token=1)["h₁"]
    assert "more" not in line and line.count("×") == 16 and line.endswith(" = 0.136")


@pytest.mark.parametrize("decimals", [1, 2, 3, 6])
def test_long_sums_are_true(decimals: int) -> None:
    text = printed("run", "-", stdin=long(20, decimals))
    assert unreadable(text) == []
    assert false_equations(text) == []
    # Both hidden units, twice each; the sums of the mean and of the variance.
    assert len(re.findall(r"\[8 more: ", text)) == 6


# --- every number that a line puts in stood before it --------------------------------------------


def leaves(expression: Expression) -> Iterator[Decimal]:
    """The numbers in an expression."""
    if isinstance(expression, Number):
        yield expression.value
        return
    for field in fields(expression):
        inner = getattr(expression, field.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if not isinstance(part, str | int):
                yield from leaves(part)


def operands(record: Record, write: Writer) -> set[str]:
    """The numbers that a record works on, digit by digit; a score is worked from query and key."""
    of = [record]
    producer = write.producers[record.inputs[0]]
    if isinstance(record.operation, el.Divide) and isinstance(producer.operation, op.Dot):
        of = [producer, write.producers[record.inputs[1]]]
    # Of what is given there is nothing that it was made of.
    values = (value for made in of for value in (made.inputs or (made.output,)))
    return {str(number) for value in values for number in value.numbers.flat}


def of_the_formula(record: Record) -> set[str]:
    """The numbers that a formula brings with it."""
    match record.operation:
        case op.Mean(sample):  # divided by how many there are, or by one less
            return {str(record.inputs[0].numbers.shape[1] - sample)}
        case el.SquareRoot(epsilon):
            return {str(epsilon)}
        case el.SoftCap(number) | el.Scale(number) | el.DivideBy(number) | el.AtMost(number):
            return {str(number)}
        case el.ScaledSilu(number) | el.MultiplyShifted(number):
            return {"1", str(number)}
        case el.BucketOfDistance(exact, buckets, furthest):
            return {str(exact), str(buckets - exact), str(furthest)}
        case el.Sigmoid():  # 1 / (1 + e^(-a))
            return {"1"}
        case el.Clamp(number):
            return {str(number), str(-number)}
        case el.Square() | el.Activate("relu" | "relu_squared"):  # a² and max(0, a)
            return {"0", "2"}
        case el.Activate():  # a / (1 + e^(-√(8 / π)×(a + 0.044715×a³)))
            return {"1", "8", "0.044715", "3"}
    return set()


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=2, max_tokens=4), st.sampled_from(["line", "step"]))
def test_every_number_put_in_is_the_recorded_one(spec: dict[str, Any], carry: str) -> None:
    ran = traced_or_rejected({**spec, "rounding": {**spec["rounding"], "carry": carry}})
    write = writer(ran)
    usual = Digits(decimals=spec["rounding"]["decimals"])
    of_scores = Digits(decimals=spec["rounding"].get("digits", {}).get("*.scores", usual.decimals))
    for record in ran.records:
        address = record.output.address
        if not isinstance(record.operation, Worked) or not record.inputs:
            continue
        if carry == "step" and address.endswith((".dot", ".scale")):
            continue  # written out inside the lines of the scores, and exact there
        known = operands(record, write) | of_the_formula(record)
        of_norm = isinstance(record.operation, el.Normalize) and record.operation
        if of_norm and of_norm.gain and of_norm.unit_offset:
            known |= {"1", *(str(1 + gain) for gain in record.inputs[2].numbers)}
        for index in np.ndindex(record.output.numbers.shape):
            if is_fully_masked(record, index):
                continue
            sides = write.chain(record, index).sides
            if isinstance(record.operation, op.Total) and record.inputs[0].numbers.shape[1] == 1:
                # There is nothing to add: where both are the same, only the result is printed.
                assert {*map(str, leaves(sides[0]))} <= known | {str(record.output.numbers[index])}
                continue
            assert set(map(str, leaves(sides[0]))) <= known, address
            assert list(map(str, leaves(sides[-1]))) == [str(record.output.numbers[index])]
            rounds_parts = isinstance(record.operation, op.MatMul | op.Dot | el.Normalize)
            if carry == "line" and rounds_parts and not isinstance(sides[1], Number):
                # The products, or the quotient, as the pencil rounds them; the rest is typed.
                parts = [part for part in leaves(sides[1]) if str(part) not in known]
                allowed = {usual, of_scores} if address.endswith(".scores") else {usual}
                long = [p for p in parts if not any(is_short(p, digits) for digits in allowed)]
                assert long == [], address
