"""Steps of training: the loss falls, each goes on from the one before, also from a saved file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.helpers.traces import numbers
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.training import Training, TrainingOptions, train
from tracer.errors import TracerError
from tracer.scenario.carry import Carry
from tracer.scenario.loading import load, parse
from tracer.scenario.model import Scenario
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.writer import written

STEPS = 10
SGD = {"learning_rate": "0.01"}
OPTIMIZERS = {
    "momentum": {"learning_rate": "0.003", "momentum": "0.5"},
    "adam": {"kind": "adam", "learning_rate": "0.003"},
    "adamw": {"kind": "adamw", "learning_rate": "0.003", "weight_decay": "0.01", "clip": "1"},
}


def optimizer(**said: str) -> Optimizer:
    return Optimizer.model_validate(said)


def carried(name: str, carry: Carry) -> Scenario:
    scenario = load(name).scenario
    rounding = scenario.rounding.model_copy(update={"carry": carry})
    return scenario.model_copy(update={"rounding": rounding})


def losses(found: Training) -> list[float]:
    return [float(each["loss"].numbers) for each in found.passes]


# --- the loss falls ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "carry"),
    [*zip(["science", "pizza", "comics"], Carry, strict=True), ("science", Carry.NEVER)],
)
def test_the_loss_falls_over_ten_steps(name: str, carry: Carry) -> None:
    found = losses(train(name, carried(name, carry), TrainingOptions(optimizer(**SGD), STEPS)))
    assert len(found) == STEPS + 1
    for before, after in pairwise(found):
        # What is rounded may be as it was.
        assert after < before or (carry is not Carry.NEVER and after == before)
    assert found[-1] < found[0]


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", ["science", "comics"])
def test_it_falls_with_each_optimizer(name: str, kind: str) -> None:
    found = losses(
        train(name, carried(name, Carry.STEP), TrainingOptions(optimizer(**OPTIMIZERS[kind]), 5))
    )
    assert found[-1] < found[0]


# --- a batch -------------------------------------------------------------------------------------

BATCH = """\
title: Two examples
tokens: [a, b]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.2, 0.7]}
layers:
  - attention:
      heads: [{W_Q: [[1], [0.3]], W_K: [[0.5], [0.1]], W_V: [[1, 0.5], [-1, 0.2]]}]
    ffn: {W_1: [[1, -0.5], [0.3, 1]], W_2: [[1, 0.2], [-0.3, 1]]}
vocabulary: [a, b, c]
unembedding: {W_U: [[1, 0.5, 0], [0.3, -1, 0.4]]}
training:
  - {tokens: [a, b], targets: [b, c]}
  - {tokens: [c, a, b], targets: [none, b, a]}
  - {tokens: [b], targets: [a]}
rounding: {carry: never}
"""


def test_the_loss_of_a_batch_is_the_mean_over_all_its_positions() -> None:
    scenario = parse(BATCH, "f.yaml")
    found = train("f", scenario, TrainingOptions(Optimizer())).steps[0]
    each = [
        trace("f", scenario.reading_example(example), PassOptions(loss=True))["loss.token"].array
        for example in scenario.training
    ]
    counted = [*each[0], *each[1][1:], *each[2]]
    assert float(found["loss"].numbers) == pytest.approx(sum(counted) / 5, rel=1e-15)


def test_one_example_alone_is_trained_where_it_is_asked_for() -> None:
    scenario = parse(BATCH, "f.yaml")
    found = train("f", scenario, TrainingOptions(Optimizer(), 2, example=2))
    assert found.steps[0].tokens == ("c", "a", "b") and not found.steps[0].others
    alone = scenario.reading_example(scenario.training[1])
    assert numbers(found.steps[0], "loss") == numbers(
        trace("f", alone, PassOptions(loss=True)), "loss"
    )
    before, after = (each.embeddings for each in (scenario, found.trained))
    assert isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys()


def test_the_first_example_without_anything_given_is_worked() -> None:
    pins = "given: {layer1.ffn.hidden: [[1, 2], [3, 4]]}"
    scenario = parse(BATCH.replace("targets: [b, c]", f"targets: [b, c], {pins}"), "f.yaml")
    found = train("f", scenario, TrainingOptions(Optimizer())).steps[0]
    assert found.tokens == ("c", "a", "b") and set(found.others) == {1, 3}
    assert numbers(found, "example1.layer1.ffn.hidden") == [["1", "2"], ["3", "4"]]


def test_the_gradient_of_a_batch_is_the_mean_of_its_examples() -> None:
    """Weighted by how many positions of each count."""
    scenario = parse(BATCH, "f.yaml")
    whole = train("f", scenario, TrainingOptions(Optimizer())).steps[0]
    parts = [
        train("f", scenario, TrainingOptions(Optimizer(), example=i)).steps[0] for i in (1, 2, 3)
    ]
    for address in ("embeddings", "layer1.ffn.W_1", "unembedding.W_U"):
        means = [part[f"gradient.{address}"].array for part in parts]
        mean = (2 * means[0] + 2 * means[1] + means[2]) / 5
        assert whole[f"gradient.{address}"].array == pytest.approx(mean, rel=1e-12, abs=1e-15)


# --- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("carry", Carry)
@pytest.mark.parametrize("name", ["science", "comics"])
def test_a_step_from_the_saved_scenario_is_the_next_one(name: str, carry: Carry) -> None:
    """And the pass after a step is that of the trained scenario."""
    whole = train(name, carried(name, carry), TrainingOptions(optimizer(**SGD), 2))
    first = train(name, carried(name, carry), TrainingOptions(optimizer(**SGD)))
    saved = parse(written(first.trained), "trained.yaml")
    second = train(name, saved, TrainingOptions(optimizer(**SGD)))
    assert_the_same(second.steps[0], whole.steps[1])
    assert_the_same(second.steps[0], first.after)
    assert written(second.trained) == written(whole.trained)


def assert_the_same(found: Trace, expected: Trace) -> None:
    """Every number of the shorter of two passes, and its digits."""
    assert len(found.values) >= len(expected.values)
    for address, value in expected.values.items():
        assert found[address].numbers.tolist() == value.numbers.tolist(), address


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
def test_tied_words_stay_tied(arithmetic: str) -> None:
    text = BATCH.replace("{W_U: [[1, 0.5, 0], [0.3, -1, 0.4]]}", "tied")
    found = train(
        "f", parse(f"{text}arithmetic: {arithmetic}\n", "f.yaml"), TrainingOptions(Optimizer(), 2)
    )
    table: Any = found.trained.embeddings
    assert found.trained.unembedding
    rows = tuple(zip(*found.trained.unembedding.W_U, strict=True))
    assert rows == tuple(table[word] for word in ("a", "b", "c"))
    assert "update.unembedding.W_U" not in found.steps[0].values
    assert losses(found)[-1] < losses(found)[0]


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BATCH.partition("vocabulary")[0], "vocabulary: the loss needs a vocabulary"),
        (BATCH.partition("training")[0] + "targets: [none, none]\n", "targets: no position has"),
    ],
)
def test_what_has_no_loss_is_not_trained(text: str, told: str) -> None:
    with pytest.raises(TracerError, match=told):
        train("f", parse(text, "f.yaml"), TrainingOptions(Optimizer()))


def test_a_step_that_is_too_long_is_told() -> None:
    """One line: what could not be computed, or said, with the weights after it."""
    with pytest.raises(TracerError) as caught:
        train(
            "science",
            carried("science", Carry.NEVER),
            TrainingOptions(optimizer(learning_rate="1e12"), 3),
        )
    (problem,) = caught.value.problems
    assert "too small" in str(problem) or "too large" in str(problem)
