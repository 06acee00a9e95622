"""What operations cost: as many multiply-adds as NumPy's products of the same pass make."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings

from tests.helpers.learning import way_back
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.traces import traced
from tracer.decoder import operations as op
from tracer.decoder.contract import Contract
from tracer.decoder.cost import degree, multiply_adds
from tracer.decoder.elementwise import Elementwise
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.routing import routing_of
from tracer.errors import TracerError
from tracer.formula.arithmetic import FLOATS, SHAPES, Arithmetic, Array, RoundPart
from tracer.scenario.loading import load, parse
from tracer.scenario.model import Scenario

FREE = {
    *(Elementwise, op.DivTerm, op.PowerOfTwo, op.Rotate, op.RotateBack, op.Cumulate),
    *(
        op.AccumulateGradients,
        op.ByWord,
        op.ByEntry,
        op.GroupExtreme,
        op.SumOfSquares,
        op.MixExperts,
        op.ExpertDots,
    ),
}
"""Operations that compute number by number, or add up without a product of matrices."""


class Counting(Arithmetic):
    """Floats that count what their products of matrices add up."""

    counted = 0

    def matmul(self, x: Array, w: Array, bias: list[Array], part: RoundPart) -> Array:
        self.counted += x.shape[0] * x.shape[1] * w.shape[1]
        return super().matmul(x, w, bias, part)


def counted(scenario: Scenario) -> int:
    counting = Counting()
    trace("counted", scenario, PassOptions(arithmetic=counting))
    return counting.counted


def cost(scenario: Scenario) -> int:
    return sum(map(multiply_adds, trace("cost", scenario, PassOptions(arithmetic=SHAPES)).records))


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics", "picture"])
def test_bundled_scenarios(name: str) -> None:
    assert cost(load(name).scenario) == counted(load(name).scenario) > 0


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(scenarios())
def test_random_scenarios(spec: dict[str, Any]) -> None:
    scenario = parse(to_yaml(spec), "f.yaml")
    for layer in (*spec["layers"], *spec.get("encoder", {}).get("layers", ())):
        for name in ("attention", "cross_attention"):
            layer.get(name, {}).pop("blocks", None)  # which repeat what is counted without them
    try:
        expected = counted(parse(to_yaml(spec), "f.yaml"))
    except TracerError:
        return  # the numbers lead nowhere
    # An expert costs what its tokens do, and only the numbers know how many they are.
    routing = routing_of(trace("f", scenario, PassOptions(arithmetic=FLOATS)).values.values())
    records = trace("f", scenario, PassOptions(arithmetic=SHAPES, routing=routing)).records
    assert sum(map(multiply_adds, records)) == expected


def test_every_operation_that_computes_has_a_cost_or_is_known_to_be_free() -> None:
    """A new operation costs nothing until `cost.py` says otherwise: decide it here."""
    records = way_back([load("pizza").scenario]).records
    costly = {type(record.operation) for record in records if multiply_adds(record)}
    assert set(get_args(op.Computed | op.Trained)) - FREE == {Contract}
    assert costly == {op.MatMul, op.Dot, op.TransposedMatMul}


def test_what_is_pinned_costs_nothing() -> None:
    free = "given: {layer1.ffn.hidden: [[1], [2]]}\n"
    records = traced(f"{SMALL_FFN}{free}").records
    assert [multiply_adds(record) for record in records if multiply_adds(record)] == [2 * 1 * 2]


SMALL_FFN = """\
tokens: [a, b]
embeddings: {a: [1, 2], b: [3, 4]}
layers: [{ffn: {W_1: [[1], [2]], W_2: [[1, 2]]}}]
"""


def test_with_which_power_of_the_tokens_each_grows() -> None:
    records = trace("t", load("transformer-base").scenario, PassOptions(arithmetic=SHAPES)).records
    found = {
        record.output.address.removeprefix("layer1."): degree(record)
        for record in records
        if multiply_adds(record)
    }
    assert found["attention.head1.query"] == found["attention.head1.key"] == 1
    assert found["attention.head1.dot"] == found["attention.head1.output"] == 2
    assert found["cross_attention.head1.query"] == 1
    assert found["cross_attention.head1.key"] == found["cross_attention.head1.value"] == 0
    assert found["cross_attention.head1.dot"] == found["cross_attention.head1.output"] == 1
    assert found["ffn.hidden"] == found["logits"] == 1
