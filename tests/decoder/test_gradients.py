"""Gradients: against central differences, PyTorch, and by hand; which there are, and which not."""

from __future__ import annotations

import random
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers import learning
from tests.helpers.every_part import ADAPTED, POSITIONS, WITH_SINKS, every_part
from tests.helpers.learning_scenarios import examples, learning_scenarios, raised
from tests.helpers.scenario_yaml import Scenario as Spec
from tests.helpers.traces import numbers
from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.forward import Trace
from tracer.decoder.roles import EMBEDDING, ENCODER_OUTPUT, POSITION
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.scenario.carry import Carry
from tracer.scenario.loading import load, parse

NEVER = "rounding: {carry: never}\n"
CROSSED = """\
title: What every part leaves out
tokens: [a, b, a, <PAD>]
padding: <PAD>
embeddings: {a: [0.5, -1, 0.25], b: [1, 0.5, -0.75], c: [1, 1, 0], <PAD>: [0, 0.1, 0]}
positions: {table: [[0, 0.1, 0.2], [0.3, 0, -0.1], [0.1, 0.2, 0.3], [1, 1, 1], [2, 2, 2]]}
encoder: {tokens: [x, y], vectors: [[1, -0.5], [0.3, 0.8]]}
layers:
  - norm: {epsilon: 0.01, gain: [1, 0.5, 2], shift: [0.1, 0, -0.1]}
    attention:
      heads:
        - W_Q: [[1, 0.2], [0.3, 1], [-0.4, 0.5]]
          W_K: [[0.5, -0.2], [0.1, 1], [0.6, 0.7]]
          W_V: [[1], [0.5], [-1]]
          b_Q: [0.1, 0.2]
          b_K: [0.3, -0.1]
          b_V: [0.2]
        - {W_Q: [[0.7], [0.3], [-0.2]], W_K: [[1], [-1], [0.4]], W_V: [[1, 0], [0, 1], [1, 1]]}
      W_O: [[1, 0.2, 0], [0.1, 1, 0.4], [0.3, 0, 1]]
      b_O: [0.1, -0.1, 0.2]
    cross_attention:
      heads:
        - {W_Q: [[1], [0.5], [2]], W_K: [[0.3], [1]], W_V: [[1, 0.5, 0.1], [0.2, 1, -1]]}
        - {W_Q: [[0.4], [-1], [1]], shares: 1}
      W_O: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]
    ffn:
      W_1: [[1, -0.5], [0.3, 1], [0.2, 0.4]]
      b_1: [0.5, 1]
      W_2: [[1, 0.2, 0.1], [-0.3, 1, 0.6]]
      b_2: [0.1, 0, 0.2]
final_norm: {epsilon: 0.1, shift: [0.1, 0.2, 0.3]}
vocabulary: [b, c, d]
unembedding: {W_U: [[1, 0.5, 0.2], [0.3, -1, 1], [0.6, 0.1, 0.4]], b_U: [0, 0.1, -0.1]}
targets: [c, none, d, b]
"""
BATCH = f"""\
{CROSSED}\
training:
  - {{tokens: [a, b], targets: [b, c]}}
  - {{tokens: [b, b, a], targets: [none, c, d]}}
"""
WITHOUT_TARGETS = CROSSED.replace("targets: [c, none, d, b]\n", "")
EXPERTS = """\
title: What experts have
tokens: [a, b, c, a]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [-1, 0.3]}
softmax: shifted
layers:
  - ffn:
      router: [[1, -0.5, 0.2, -9], [0.4, 1, -2, -9]]
      top: 2
      experts:
        - {W_1: [[1, -0.5], [0.3, 1]], b_1: [0.5, 1], W_2: [[1, 0.2], [-0.3, 1]], b_2: [0.1, 0]}
        - {W_1: [[1], [0.3]], W_3: [[0.5], [1]], b_3: [0.1], W_2: [[1, 0.2]], activation: silu}
        - {W_1: [[0.4], [1]], W_2: [[1, 0.7]], activates: output, activation: gelu}
        - {W_1: [[1], [1]], W_2: [[1, 1]], b_2: [1, 1]}
      shared: {W_1: [[0.1], [0.2]], W_2: [[1, -1]], activation: none}
  - norm: {kind: rms_norm, epsilon: 0.1, placement: pre}
    ffn:
      router: [[1, 0.5, -0.2], [0.4, -1, 2]]
      top: 1
      normalize: false
      experts:
        - {W_1: [[1], [0.3]], W_2: [[1, 0.2]]}
        - {W_1: [[1, 1], [0.3, -1]], W_2: [[1, 0.2], [1, 1]], activation: gelu_tanh}
        - {W_1: [[0.5], [-0.3]], W_2: [[1, 0.2]], activation: silu}
vocabulary: [b, c]
unembedding: {W_U: [[1, 0.5], [0.3, -1]]}
targets: [c, none, b, b]
"""
CASES = {
    "squared": f"{WITHOUT_TARGETS}loss: {{kind: squared, target: [1, 2, -1]}}\n",
    "binary": f"{WITHOUT_TARGETS}loss: {{kind: binary}}\n",
    "halves": every_part("halves"),
    "pairs": every_part("pairs", mask="none", softmax="plain"),
    "far": every_part().replace(POSITIONS, "positions: {alibi: true}"),
    "adapted": ADAPTED,
    "sinks": WITH_SINKS.replace("{random: {seed: 1}}", "[[1, 0], [0, 1], [0.5, 2], [1, 1]]"),
    "crossed": CROSSED,
    "batch": BATCH,
    "experts": EXPERTS,
}
TABLES = tuple(
    f"{tower}{table}" for tower in ("", "encoder.") for table in ("embeddings", "positions.table")
)

few = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=400)


def case(name: str, ending: str = NEVER) -> list[Any]:
    scenario = parse(CASES[name] + ending, "f.yaml")
    return [scenario.reading_example(each) for each in scenario.training] or [scenario]


# --- central differences -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_slopes_of_the_loss(name: str) -> None:
    batch = case(name)
    found = learning.way_back(batch)
    gradients = learning.gradients_of(found)
    for address in random.Random(name).sample(sorted(gradients.keys() - set(TABLES)), 12):
        assert_slope(batch, found[address], gradients[address])


@few
@given(learning_scenarios(any_loss=True), st.integers(0, 2**16), st.booleans())
def test_random_gradients_are_slopes(spec: Spec, seed: int, beside: bool) -> None:
    are_slopes(spec, seed, beside)


@pytest.mark.fuzz
@many
@given(learning_scenarios(any_loss=True), st.integers(0, 2**16), st.booleans())
def test_many_random_gradients_are_slopes(spec: Spec, seed: int, beside: bool) -> None:
    are_slopes(spec, seed, beside)


def are_slopes(spec: Spec, seed: int, beside: bool) -> None:
    """Some of the gradients, `beside` something that is given or not; and no more is recorded."""
    rng = random.Random(seed)
    if beside:
        spec = with_one_given(spec, rng)
    batch = learning.batch_of(spec)
    found = learning.way_back_or_rejected(batch)
    assert_all_is_used(found)
    gradients = learning.gradients_of(found)
    tables = [address for address in TABLES if address in gradients]
    others = sorted(gradients.keys() - tables)
    for address in rng.sample(others, min(3, len(others))):
        assert_slope(batch, found[address], gradients[address])
    for address in tables:
        assert_slope_of_table(spec, address, gradients[address], rng)


def with_one_given(spec: Spec, rng: random.Random) -> Spec:
    """The scenario with one value pinned that has a gradient, near to what it is."""
    found = learning.way_back_or_rejected(learning.batch_of(spec))
    value = found[rng.choice(sorted(learning.gradients_of(found).keys() - set(TABLES)))]
    pins = {value.address: short(value.numbers.tolist())}
    if value.role.parameter or "training" not in spec:
        return {**spec, "given": pins}
    first, *others = spec["training"]
    return {**spec, "training": [{**first, "given": pins}, *others]}


def short(numbers: Any) -> Any:
    """Numbers as somebody types them."""
    if isinstance(numbers, list):
        return [short(number) for number in numbers]
    return Decimal(f"{numbers:.6g}") if numbers.is_finite() else "-inf"


def assert_slope(batch: list[Any], of: Value, gradient: Value) -> None:
    """What the gradient says of a direction is what happens to the loss there."""
    along = learning.direction(of)
    size = max(map(abs, gradient.numbers.flat))
    assert gradient.shape == of.shape
    assert learning.agree(
        np.asarray(gradient.numbers * along).sum(), learning.slope_along(batch, of, along), size
    ), of.address


def assert_slope_of_table(spec: Spec, address: str, gradient: Value, rng: random.Random) -> None:
    """The same of one number of a table, which is raised where the scenario says it."""
    at = tuple(rng.randrange(length) for length in gradient.shape)
    up, down = (
        learning.loss_of(learning.batch_of(raised(spec, address, at, sign * learning.STEP)))
        for sign in (1, -1)
    )
    size = abs(gradient.numbers).max()
    assert learning.agree(gradient.numbers[at], (up - down) / (2 * learning.STEP), size), (
        address,
        at,
    )


# --- PyTorch -------------------------------------------------------------------------------------


pytorch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


@pytorch
@few
@given(learning_scenarios(), st.integers(0, 2**16), st.booleans(), st.booleans())
def test_random_gradients_are_those_of_pytorch(
    spec: Spec, seed: int, beside: bool, in_floats: bool
) -> None:
    are_those_of_pytorch(spec, seed, beside, in_floats)


@pytest.mark.fuzz
@pytorch
@many
@given(learning_scenarios(), st.integers(0, 2**16), st.booleans(), st.booleans())
def test_many_random_gradients_are_those_of_pytorch(
    spec: Spec, seed: int, beside: bool, in_floats: bool
) -> None:
    are_those_of_pytorch(spec, seed, beside, in_floats)


def are_those_of_pytorch(spec: Spec, seed: int, beside: bool, in_floats: bool) -> None:
    """Of the same values, parameters and tables; to nine digits of each one's largest.

    An encoder that computes its vectors is judged by differences of the loss alone.
    """
    from tests.helpers.torch_reference import torch_gradients

    assume("vectors" in spec.get("encoder", {"vectors": ()}))

    if beside:
        spec = with_one_given(spec, random.Random(seed))
    arithmetic = "float64" if in_floats else "decimal"
    found = learning.gradients_of(
        learning.way_back_or_rejected(learning.batch_of({**spec, "arithmetic": arithmetic}))
    )
    expected = torch_gradients(examples(spec))
    assert expected and expected.keys() <= found.keys()
    for address, exact in expected.items():
        gradient = found[address].array
        within = 1e-9 * abs(exact).max() + 1e-13
        np.testing.assert_allclose(gradient, exact, rtol=1e-9, atol=within, err_msg=address)


@pytest.mark.parametrize("name", CASES)
def test_floats_have_the_gradients_of_decimals(name: str) -> None:
    exact = learning.gradients_of(learning.way_back(case(name)))
    found = learning.gradients_of(learning.way_back(case(name, NEVER + "arithmetic: float64\n")))
    assert found.keys() == exact.keys()
    for address, gradient in found.items():
        np.testing.assert_allclose(
            gradient.array, exact[address].array, rtol=1e-9, atol=1e-13, err_msg=address
        )


# --- which there are -----------------------------------------------------------------------------

LEARNED = (EMBEDDING, POSITION, ENCODER_OUTPUT)


@pytest.mark.parametrize("name", CASES)
def test_there_is_a_gradient_of_all_that_is_learned_and_leads_to_the_loss(name: str) -> None:
    found = learning.way_back(case(name))
    leads, learned = set[Value](), set[Value]()
    for record in reversed(found.records):
        if record.output.address == "loss" or record.output in leads:
            leads.update(record.inputs)
    for record in found.records:
        of = record.output.role
        if not learned.isdisjoint(record.inputs) or (
            isinstance(record.operation, op.Given)
            and (of.parameter or of in LEARNED)
            and not of.frozen
        ):
            learned.add(record.output)
    steps = {record.output: record.operation for record in found.records}
    whole = (el.Exp, op.Total, op.Largest, el.NegativeLogLikelihood, op.Join)
    expected = {
        value.address
        for value in leads & learned
        if not isinstance(steps[value], whole)
        and ("router." in value.address or "probabilities" not in value.address)
        and (not value.address.startswith("loss.") or value.address == "loss.output")
        and not value.address.endswith(".shifted")
    }
    of_tables = {address for address in TABLES if f"gradient.{address}" in found.values}
    there = {
        address.removeprefix("gradient.")
        for address, value in found.values.items()
        if value.role.derivation == "gradient"
    }
    assert there - of_tables == expected
    assert "embeddings" in of_tables


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_recorded_for_nothing(name: str) -> None:
    assert_all_is_used(learning.way_back(case(name)))


def test_nothing_is_recorded_before_something_given() -> None:
    """Of a norm behind it γ and β are still learned, and so are the weights of later parts."""
    rows = "[[1, 2, 4], [2, 0, 1], [0, 1, 5], [3, 1, 1]]"
    found = learning.way_back(
        case("crossed", f"given: {{layer1.attention.residual: {rows}}}\n{NEVER}")
    )
    assert_all_is_used(found)
    of_layer = "gradient.layer1.attention"
    assert {a for a in found.values if a.startswith(f"{of_layer}.")} == {
        *(f"{of_layer}.norm{part}" for part in ("", ".gain", ".shift", ".standardized")),
    }


def assert_all_is_used(found: Trace) -> None:
    """What is recorded on the way back is a gradient, or something is computed from it."""
    used = {value for record in found.records for value in record.inputs}
    for record in found.records:
        value = record.output
        if value.place.phase == "gradient" and value.role.derivation != "gradient":
            assert value in used, value.address


# --- by hand -------------------------------------------------------------------------------------

LINEAR = """\
title: Two words, one number each
tokens: [a, a, b]
embeddings: {a: [1], b: [2], c: [5]}
layers: []
vocabulary: [x, y]
unembedding: {W_U: [[0, 0]]}
"""


def test_what_fills_up_teaches_nothing() -> None:
    found = learning.way_back(case("crossed"))
    assert not found["gradient.logits"].numbers[1].any()  # it has no target
    assert not found["gradient.logits"].numbers[3].any()  # its word only fills up
    assert not found["gradient.embeddings"].numbers[3].any()
    assert not found["gradient.positions.table"].numbers[3:].any()
    assert found["gradient.embeddings"].numbers[:2].all()


@pytest.mark.parametrize("carry", Carry)
@pytest.mark.parametrize("name", ["science", "pizza", "comics"])
def test_rounded_gradients_are_near_the_exact_ones(name: str, carry: Carry) -> None:
    """What is rounded on the way is the same calculation, with the digits of a pencil."""
    scenario = load(name).scenario
    batch = [scenario.reading_example(each) for each in scenario.training[1:]] or [scenario]

    def gradient(of: Carry) -> Any:
        rounding = scenario.rounding.model_copy(update={"carry": of})
        copies = [each.model_copy(update={"rounding": rounding}) for each in batch]
        return learning.way_back(copies)["gradient.unembedding.W_U"].array

    exact = gradient(Carry.NEVER)
    assert abs(gradient(carry) - exact).max() < 0.05 * abs(exact).max()


# --- what is refused -----------------------------------------------------------------------------

ROWS = "[[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]"
ALL_GIVEN = "loss: nothing is learned: all values between the loss and the weights are given"
IN_A_SOFTMAX = "a part of this softmax is given, so it passes on no gradient"
REFUSED = {
    "probabilities": (ROWS, ALL_GIVEN),
    "logits": (ROWS, ALL_GIVEN),
    "loss.token": ("[1, 2, 3, 4]", ALL_GIVEN),
    "loss": ("1", ALL_GIVEN),
    "probabilities.exp_sum": ("[1, 2, 3, 4]", f"probabilities.exp_sum: {IN_A_SOFTMAX}"),
    "layer1.attention.head1.exp_sum": (
        *("[1, 2, 3, 4]", f"layer1.attention.head1.exp_sum: {IN_A_SOFTMAX}"),
    ),
}


@pytest.mark.parametrize("address", REFUSED)
def test_what_nothing_is_learned_through_is_told(address: str) -> None:
    pins, said = REFUSED[address]
    with pytest.raises(TracerError) as caught:
        learning.way_back(case("crossed", f"given: {{{address}: {pins}}}\n{NEVER}"))
    (problem,) = caught.value.problems
    assert str(problem) == said
    assert problem.yaml_path and problem.yaml_path[0] == "given"


def test_a_root_of_zero_has_no_slope() -> None:
    norm = "final_norm: {epsilon: 0.1, epsilon_outside: true}\n"
    with pytest.raises(TracerError, match="σ is 0 but for ε, and the root of 0 has no slope"):
        learning.way_back([parse(f"{LINEAR}{norm}{NEVER}targets: [x, x, y]\n", "f.yaml")])


def test_a_table_that_only_another_example_reads_from_is_learned() -> None:
    pins = "given: {output: [[1, 0, 1], [0, 1, 0]]}"
    text = BATCH.replace("targets: [b, c]}", f"targets: [b, c], {pins}}}")
    scenario = parse(text + NEVER, "f.yaml")
    found = learning.way_back([scenario.reading_example(each) for each in scenario.training])
    gradients = learning.gradients_of(found)
    once, again, of_a = found["gradient.example2.embedding"].array  # of b, b and a
    np.testing.assert_allclose(gradients["embeddings"].array[:2], [of_a, once + again], rtol=1e-12)
    np.testing.assert_allclose(
        gradients["positions.table"].array[:3], [once, again, of_a], rtol=1e-12
    )


def test_what_is_given_of_a_parameter_holds_for_all_examples() -> None:
    text = f"{BATCH}given: {{layer1.ffn.b_1: [1, 1]}}\n{NEVER}"
    scenario = parse(text, "f.yaml")
    found = learning.way_back([scenario.reading_example(each) for each in scenario.training])
    assert "gradient.layer1.ffn.b_1" not in found.values
    typed = parse(BATCH.replace("b_1: [0.5, 1]", "b_1: [1, 1]") + NEVER, "f.yaml")
    same = learning.way_back([typed.reading_example(each) for each in typed.training])
    assert numbers(found, "loss") == numbers(same, "loss")
    assert numbers(found, "gradient.layer1.ffn.W_1") == numbers(same, "gradient.layer1.ffn.W_1")


def test_a_parameter_that_is_given_in_one_example_alone_is_refused() -> None:
    text = BATCH.replace(
        "targets: [none, c, d]", "targets: [none, c, d], given: {layer1.ffn.b_1: [1, 1]}"
    )
    scenario = parse(text + NEVER, "f.yaml")
    with pytest.raises(TracerError, match="given in one example, and all have the same"):
        learning.way_back([scenario.reading_example(each) for each in scenario.training])
