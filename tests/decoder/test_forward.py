"""The forward pass: right numbers, at the addresses promised, rounded where they should be."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers.random_scenarios import scenarios
from tests.helpers.reference import reference
from tests.helpers.traces import (
    bundled,
    floats,
    is_short,
    numbers,
    steps,
    traced,
    traced_or_rejected,
    values,
)
from tracer.scenario.carry import Carry
from tracer.decoder.operations import Given
from tracer.scenario.rounding import Digits
from tracer.decoder.arithmetic import PRECISION
from tracer.decoder.tape import Record

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


# --- against the reference -----------------------------------------------------------------------


@settings(some, max_examples=80)
@given(scenarios(carry="never", max_layers=2))
def test_every_value_is_the_one_of_the_reference(spec: dict[str, Any]) -> None:
    found = values(traced_or_rejected(spec))
    expected = reference(spec)
    # Floats, which the reference works with, lose digits to large numbers and to small divisors.
    assume(all(np.abs(array).max() < 1000 for array in expected.values()))
    assume(all(array.min() > 1e-3 for name, array in expected.items() if name.endswith(".std")))
    for address, array in expected.items():
        assert found[address].numbers.shape == array.shape, address
        assert np.allclose(floats(found[address]), array, rtol=1e-12, atol=1e-12), address
    if "logits" in expected:
        words = list(found["prediction"].numbers)
        for word, logits in zip(words, expected["logits"], strict=True):
            assert logits[spec["vocabulary"].index(word)] == pytest.approx(logits.max(), abs=1e-12)


@some
@given(scenarios())
def test_every_axis_has_a_label_for_each_entry(spec: dict[str, Any]) -> None:
    for address, value in values(traced_or_rejected(spec)).items():
        assert value.numbers.shape == tuple(len(axis.labels) for axis in value.axes), address


# --- attention -----------------------------------------------------------------------------------


@some
@given(scenarios(carry="never", encoder=False, padded=False))
def test_attention_weights_are_shares_of_what_is_not_later(spec: dict[str, Any]) -> None:
    for address, value in values(traced_or_rejected(spec)).items():
        if address.endswith(".weights"):
            assert all(abs(row.sum() - 1) < Decimal("1e-20") for row in value.numbers)
            assert not np.triu(value.numbers, k=1).any()
            assert all(entry > 0 for entry in value.numbers[np.tril_indices_from(value.numbers)])


@some
@given(scenarios())
def test_a_later_token_changes_nothing_for_earlier_ones(spec: dict[str, Any]) -> None:
    assume(len(spec["tokens"]) > 1)
    if isinstance(spec["embeddings"], dict):
        spec = {**spec, "embeddings": [spec["embeddings"][token] for token in spec["tokens"]]}
    changed = deepcopy(spec)
    changed["embeddings"][-1] = [number + Decimal("0.37") for number in spec["embeddings"][-1]]
    before, after = values(traced_or_rejected(spec)), values(traced_or_rejected(changed))
    assert (before["embedding"].numbers[-1] != after["embedding"].numbers[-1]).all()
    for address, value in before.items():
        if value.per_token:
            # With later tokens as columns, these are the one thing that may change.
            by_key = value.numbers.ndim == 2 and value.axes[1].name == "key"
            seen = np.s_[:-1, :-1] if by_key else np.s_[:-1]
            assert (value.numbers[seen] == after[address].numbers[seen]).all(), address


# --- rounding on the way -------------------------------------------------------------------------


def test_is_short() -> None:
    three, two_significant = Digits(decimals=3), Digits(significant=2)
    assert is_short(Decimal("1.250"), three) and not is_short(Decimal("1.2505"), three)
    assert is_short(Decimal("0.00012"), three) and not is_short(Decimal("0.000123"), three)
    assert is_short(Decimal("1234000000000"), three) and not is_short(Decimal("12345e9"), three)
    assert is_short(Decimal("0.0012"), two_significant) and is_short(Decimal(123), two_significant)
    assert not is_short(Decimal("1.23"), two_significant)


@some
@given(scenarios(carry="line"))
def test_with_line_every_computed_value_has_no_more_digits_than_printed(
    spec: dict[str, Any],
) -> None:
    ran = traced_or_rejected(spec)
    for address, step in steps(ran).items():
        if not isinstance(step.operation, Given):
            digits = ran.scenario.rounding.digits_for(address)
            assert all(is_short(number, digits) for number in step.output.numbers.flat), address


ROUNDED = {
    *("position", "input", "query", "key", "value", "scores", "weights", "output"),
    *("residual", "norm", "hidden", "logits", "probabilities"),
}
IN_FULL = {
    *(
        "div_term",
        "angle",
        "sin",
        "cos",
        "dot",
        "scale",
        "masked",
        "exp",
        "exp_sum",
        "concat",
        "activation",
    ),
    *("mean", "deviation", "squared", "variance", "std", "prediction"),
}


def unrounded(step: Step) -> Any:
    assert not isinstance(step.operation, Given)
    with localcontext(prec=PRECISION):
        return step.operation.result(
            *(value.numbers for value in step.inputs), part=lambda array: array
        )


@some
@given(scenarios(carry="step"))
def test_with_step_only_the_ends_of_steps_are_rounded(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    for address, step in steps(ran).items():
        if isinstance(step.operation, Given):
            continue
        name = address.split(".")[-1]
        if name in ROUNDED:
            digits = ran.scenario.rounding.digits_for(address)
            assert all(is_short(number, digits) for number in step.output.numbers.flat), address
        else:
            assert name in IN_FULL, address
            assert (step.output.numbers == unrounded(step)).all(), address


@some
@given(scenarios(carry="never"))
def test_with_never_nothing_is_rounded(spec: dict[str, Any]) -> None:
    for address, step in steps(traced_or_rejected(spec)).items():
        if not isinstance(step.operation, Given):
            assert (step.output.numbers == unrounded(step)).all(), address


def test_alex_is_in_full_between_mean_and_deviation() -> None:
    """r₁ is 5.037, 7.759, 3.200, 6.620, 5.140, 5.451: all further digits by hand."""
    found = values(bundled("alex"))
    assert found["layer1.attention.norm.mean"].numbers[3] == Decimal("5.5345")
    squares = ["0.24750625", "4.94840025", "5.44989025", "1.17831025", "0.15563025", "0.00697225"]
    assert list(found["layer1.attention.norm.squared"].numbers[3]) == list(map(Decimal, squares))
    variance = found["layer1.attention.norm.variance"].numbers[3]
    assert abs(variance - Decimal("11.9867095") / 6) < Decimal("1e-25")


PRODUCTS = """
title: 0.5×0.5 is 0.25, for a pencil with one decimal 0.3
tokens: [a]
embeddings: [[0.5, 0.5]]
layers:
  - ffn: {W_1: [[0.5, 0.5, 0.5], [0.5, 0.6, 0.7]], W_2: [[1], [1], [1]], residual: false}
rounding: {decimals: 1, carry: CARRY}
"""


@pytest.mark.parametrize(
    ("carry", "hidden"),
    [
        ("line", ["0.6", "0.6", "0.7"]),  # 0.3 + 0.3, 0.3 + 0.3, 0.3 + 0.4
        ("step", ["0.5", "0.6", "0.6"]),  # 0.50, 0.55, 0.60, each rounded
        ("never", ["0.50", "0.55", "0.60"]),
    ],
)
def test_only_with_line_products_are_rounded_before_they_are_added(
    carry: str, hidden: list[str]
) -> None:
    assert numbers(traced(PRODUCTS.replace("CARRY", carry)), "layer1.ffn.hidden") == [hidden]


def test_with_line_the_root_of_the_width_is_the_one_printed() -> None:
    found = values(bundled("science", Carry.LINE))
    assert found["layer1.attention.head1.scale"].numbers == Decimal("1.414")
    # 4.32 / 1.414 = 3.055…, 2.44 / 1.414 = 1.725…, 6.76 / 1.414 = 4.780…, 11.08 / 1.414 = 7.835…
    expected = list(map(Decimal, ("3.06", "1.73", "4.78", "7.84")))
    assert list(found["layer1.attention.head1.scores"].numbers[3]) == expected
