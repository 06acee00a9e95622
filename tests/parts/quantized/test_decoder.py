"""Quantized weights: scales, integers, what they stand for; what is refused; training."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from tests.helpers.part_tests import refusals_of
from tests.helpers.quantized import FOUR_BITS, stored
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tracer.checkpoints.four_bits import E2M1
from tracer.decoder.training import TrainingOptions, train
from tracer.formula.steps import OF_DECIMALS, OF_FLOATS
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.parts import frozen_weights, learned
from tracer.scenario.writer import written

W = "layer1.ffn.W_1"
SETTINGS = (
    *({"bits": bits, "group": group} for bits in (2, 4, 8) for group in ("tensor", "row", 1, 2)),
    *({"bits": 4, "group": group, "zero_point": True} for group in ("tensor", "column", 2)),
    *({"kind": "mxfp4"}, {"kind": "mxfp4", "group": 2}, {}),
)
NEVER = {"carry": "never"}


def scenario(keys: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An FFN whose first matrix has the keys."""
    rows, columns = len(keys["of"]), len(keys["of"][0])
    return {
        "title": "Quantized",
        "tokens": ["a"],
        "embeddings": {"a": [1] * rows},
        "layers": [{"ffn": {"W_1": keys, "W_2": [[1] * rows] * columns}}],
        **more,
    }


def numbers(keys: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The numbers at the weights, by the end of their addresses."""
    found = traced(to_yaml(scenario(keys, **more)))
    names = {a.removeprefix(W): value.numbers for a, value in found.values.items() if W in a}
    return {name.removeprefix("."): each for name, each in names.items()}


weights = st.lists(
    st.lists(st.decimals(-3, 3, places=2).map(str), min_size=3, max_size=3), min_size=4, max_size=4
)


@settings(max_examples=40, deadline=None)
@given(rows=weights, how=st.sampled_from(SETTINGS), arithmetic=st.sampled_from(("", "float64")))
def test_the_numbers_are_those_of_the_papers(rows: Any, how: Any, arithmetic: str) -> None:
    """In fractions, so that each tie is one."""
    keys = {"quantized": how, "of": rows}
    settings_ = {"rounding": NEVER} | ({"arithmetic": arithmetic} if arithmetic else {})
    found, (parts, expected) = numbers(keys, **settings_), stored(keys)
    integers = found["elements" if how.get("kind") == "mxfp4" else "integers"]
    assert (integers.astype(float) == parts["integers"].astype(float)).all()
    assert_allclose(found[""].astype(float), expected.astype(float), rtol=1e-12, atol=1e-15)
    of = np.array([[float(each) for each in row] for row in rows])
    assert_allclose(found["error"].astype(float), of - expected.astype(float), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    rows=weights,
    how=st.sampled_from(SETTINGS),
    carry=st.sampled_from(("line", "step")),
    decimals=st.integers(0, 4),
    digits=st.sampled_from(({}, {"*.scale": 1}, {"*": 1})),
)
def test_integers_fit_in_their_bits_however_numbers_are_rounded(
    rows: Any, how: Any, carry: str, decimals: int, digits: Any
) -> None:
    """A scale that is rounded down, to 0.0 if the author asks for that, divides to more."""
    rounding = {"carry": carry, "decimals": decimals, "digits": digits}
    found = numbers({"quantized": how, "of": rows}, rounding=rounding)
    if how.get("kind") == "mxfp4":
        assert {abs(each) for each in found["elements"].flat} <= set(E2M1)
        return
    bits = how.get("bits", 8)
    least, most = (0, 2**bits - 1) if how.get("zero_point") else (1 - 2 ** (bits - 1), None)
    assert found["integers"].min() >= least
    assert found["integers"].max() <= (2 ** (bits - 1) - 1 if most is None else most)


def test_a_group_of_zeros_stays_zero() -> None:
    zeros = [["0", "1"], ["0", "-0.5"]]
    for how in ({"group": "column"}, {"group": "column", "zero_point": True}, {"kind": "mxfp4"}):
        found = numbers({"quantized": how, "of": zeros})
        assert not found[""][:, 0].any() and found[""][:, 1].all()
        assert found["scale"][0, 1] and (how.get("kind") or not found["scale"][0, 0])
    assert found["exponent"].tolist() == [[-127, -2]]


def test_a_weight_alone_in_its_group_keeps_its_number() -> None:
    """Also with a zero point: the range of a group includes 0."""
    rows = [["0.7", "-0.3"], ["2", "0"]]
    for how in ({"group": 1}, {"group": 1, "zero_point": True}):
        found = numbers({"quantized": how, "of": rows}, rounding=NEVER)
        assert_allclose(found[""].astype(float), np.array(rows, float), rtol=1e-15)


def test_four_bits_round_to_the_even_mantissa() -> None:
    """Between neighbors, the one whose last bit is 0; 6 where a number is too large."""
    assert [Fraction(each) for each in E2M1] == list(FOUR_BITS)
    ties = {"0.25": 0, "0.75": 1, "1.25": 1, "1.75": 2, "2.5": 2, "3.5": 4, "5": 4, "100": 6}
    for ratio, expected in ties.items():
        for sign in (1, -1):
            assert OF_DECIMALS["E2M1"](sign * Decimal(ratio)) == sign * expected
            assert OF_FLOATS["E2M1"](np.array([sign * float(ratio)]))[0] == sign * expected


def test_integers_round_half_to_even() -> None:
    found = numbers({"quantized": {"bits": 4}, "of": [["0.7", "0.05", "0.15", "0.25", "-0.25"]]})
    assert found["integers"].tolist() == [[7, 0, 2, 2, -2]]


@settings(max_examples=100, deadline=None)
@given(st.decimals("1e-30", "1e12", allow_nan=False, places=30))
def test_the_logarithm_is_on_the_right_side_of_each_power(x: Decimal) -> None:
    if x:
        power = int(OF_DECIMALS["floor"](OF_DECIMALS["log2"](x)))
        assert Fraction(2) ** power <= Fraction(x) < Fraction(2) ** (power + 1)


def test_only_what_is_not_quantized_learns() -> None:
    keys = {"quantized": {"bits": 4}, "of": [["1", "0.3"], ["-0.2", "0.5"]]}
    spec = scenario(
        keys,
        vocabulary=["a", "b"],
        unembedding={"W_U": [[1, 0.3], [0.2, 1]]},
        targets=["b"],
        rounding=NEVER,
    )
    before = parse(to_yaml(spec), "f.yaml")
    assert set(learned(before)) == {"embeddings", "layer1.ffn.W_2", "unembedding.W_U"}
    assert set(frozen_weights(before)) == {f"{W}.of"}
    ran = train("f", before, TrainingOptions(Optimizer(), 2))
    first, after = ran.steps[0], ran.after
    assert not [address for address in first.values if address.startswith(f"gradient.{W}")]
    assert (first[W].numbers == after[W].numbers).all()
    assert (first["layer1.ffn.W_2"].numbers != after["layer1.ffn.W_2"].numbers).any()
    again = parse(written(ran.trained), "f.yaml")
    assert again.layers == ran.trained.layers


def test_the_gradient_of_the_input_passes_through_the_quantized_weights() -> None:
    """∂L/∂x = g Wᵀ with what is left of W."""
    keys = {"quantized": {"bits": 2}, "of": [["1", "0.3"], ["-0.2", "0.5"]]}
    spec = scenario(
        keys,
        vocabulary=["a", "b"],
        unembedding={"W_U": [[1, 0.3], [0.2, 1]]},
        targets=["b"],
        rounding=NEVER,
    )
    spec["layers"][0]["ffn"] |= {"residual": False, "activation": "none"}
    found = train("f", parse(to_yaml(spec), "f.yaml"), TrainingOptions(Optimizer(), 1)).steps[0]
    g, x = (found[f"gradient.{each}"].array for each in ("layer1.ffn.hidden", "input"))
    assert_allclose(x, g @ stored(keys)[1].astype(float).T, rtol=1e-12)
    assert (found[W].array != found[f"{W}.of"].array).any()


OF_W_1 = "{quantized: {bits: 4}, of: [[1], [2]]}"
VALID = f"""\
tokens: [a]
embeddings: {{a: [1, 1]}}
layers: [{{ffn: {{W_1: {OF_W_1}, W_2: [[1, 1]]}}}}]
"""

SETTINGS_THAT_DO_NOT_FIT = {
    "bits: 9": ".bits: expected at most 8, got '9'",
    "bits: 1": ".bits: expected at least 2, got '1'",
    "group: all": (
        ".group: expected tensor, row, column or a number of weights, such as group: 4, got 'all'"
    ),
    "group: 0": ".group: expected at least 1, got '0'",
    "kind: mxfp4, bits: 8": ": mxfp4 has 4 bits, got bits: 8",
    "kind: mxfp4, zero_point: true": ": mxfp4 has no zero point, expected zero_point: false",
    "kind: mxfp4, group: row": (
        ": mxfp4 has blocks, expected group: 32 or another number, got row"
    ),
    "kind: int8": ".kind: expected integers or mxfp4, got 'int8'",
}

test_what_does_not_fit = refusals_of(
    OF_W_1,
    VALID,
    {
        **{
            f"{{quantized: {{{keys}}}, of: [[1], [2]]}}": f"W_1.quantized{told}"
            for keys, told in SETTINGS_THAT_DO_NOT_FIT.items()
        },
        "{quantized: {group: 3}, of: [[1], [2]]}": "W_1: quantized.group: 3 does not divide the 2",
        "{quantized: {bits: 4}}": "W_1.of: missing, expected of: ",
        "{of: [[1], [2]]}": "W_1.quantized: missing, expected quantized: ",
        "{quantized: {bits: 4}, of: [[1], [2], [3]]}": "W_1.of: 3 rows, expected 2",
        "{quantized: {bits: 4}, of: [[1], [2]], zeros: 1}": "W_1.zeros: unknown key",
    },
)


def test_given_values_take_the_place_of_each_part() -> None:
    keys = {"quantized": {"bits": 4, "zero_point": True}, "of": [["1", "0.3"], ["-0.2", "0.5"]]}
    rows = [[1, 2], [3, 4]]
    for end in ("", ".integers", ".of", ".error"):
        found = numbers(keys, given={f"{W}{end}": rows})
        assert found[end.removeprefix(".")].tolist() == rows
    assert numbers(keys, given={f"{W}.scale": [["0.5"]]})[""].tolist() != numbers(keys)[""].tolist()
