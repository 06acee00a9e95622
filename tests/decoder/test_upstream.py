"""A backward pass that begins at given gradients: of Σ G ⊙ v, where G is given at the value v."""

from __future__ import annotations

import json
import random
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers import learning
from tests.helpers.command import printed, problems, run
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.small_scenario import SMALL
from tracer.decoder.forward import PassOptions, trace
from tracer.formula.arithmetic import PRECISION

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
VALUES = ("query", "weights", "output", "hidden", "residual", "norm", "input", "logits")


def rows(numbers: Any) -> Any:
    return tuple(map(tuple, numbers)) if numbers.ndim == 2 else tuple(numbers)


@few
@given(learning_scenarios(max_layers=1, max_tokens=3), st.integers(0, 2**16))
def test_gradients_are_slopes_of_the_weighted_sum(spec: Scenario, seed: int) -> None:
    rng = random.Random(seed)
    [scenario, *_] = learning.batch_of(spec)
    plain = trace("f", scenario)
    ends = [
        a
        for a, v in plain.values.items()
        if a.endswith(VALUES) and len(v.axes) == 2 and v.numbers.size
    ]
    at = rng.choice([address for address in ends if "encoder" not in address])
    weights = learning.direction(plain[at])
    given = {**scenario.given, f"gradient.{at}": rows(weights)}
    begun = scenario.model_copy(update={"given": given, "training": ()})
    found = learning.way_back_or_rejected([begun])
    gradients = {a: g for a, g in learning.gradients_of(found).items() if a in found.values}
    learned = sorted(a for a in gradients if found[a].role.parameter)
    assume(learned)

    def weighted(address: str, numbers: Any) -> Decimal:
        pins = {**scenario.given, address: rows(numbers)}
        ran = trace("f", scenario.model_copy(update={"given": pins}), PassOptions())
        with localcontext() as context:
            context.prec = PRECISION
            return Decimal((ran[at].numbers * weights).sum())

    for address in rng.sample(learned, min(3, len(learned))):
        value, along = found[address], learning.direction(found[address], seed)
        up, down = (weighted(address, value.numbers + s * learning.STEP * along) for s in (1, -1))
        expected = Decimal((gradients[address].numbers * along).sum())
        size = Decimal(abs(gradients[address].numbers * along).sum())
        assert learning.agree((up - down) / (2 * learning.STEP), expected, size), address


BEGUN = f"{SMALL}given: {{gradient.layer1.attention.output: [[1, 0], [2, 1]]}}\n"
OUTPUT = "gradient.layer1.attention.output"


def test_neither_words_nor_a_loss_are_needed() -> None:
    found = json.loads(printed("train", "-", "--format", "json", stdin=BEGUN))
    values = {value["address"]: value for value in found["values"]}
    assert values[OUTPUT]["operation"] == "given" and values[OUTPUT]["data"] == [[1, 0], [2, 1]]
    assert "loss" not in values and found["passes"][0]["loss"] is None
    learned = {a.rpartition(".")[2] for a in values if a.startswith("update.")}
    assert learned == {"W_Q", "W_K", "W_V", "embeddings"}
    # X = [1 2; 3 4], W_V is the identity and b gives nearly all its attention to itself.
    assert values["gradient.layer1.attention.concat"]["data"] == [[1, 0], [2, 1]]


def test_a_run_is_as_without_it() -> None:
    assert printed("run", "-", stdin=BEGUN) == printed("run", "-", stdin=SMALL)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[2, 1]]", "[2]]", f":15:9: {OUTPUT}: given as rows of different lengths"),
        (", [2, 1]]", "]", f":15:9: {OUTPUT}: given as 1×2 numbers, expected 2×2 numbers"),
        ("attention.output", "attention.outputs", "did you mean 'gradient.layer1.attention.output"),
        ("layer1.attention.output", "mask", ":15:9: gradient.mask: no trained parameter acts on"),
    ],
)
def test_what_does_not_fit_is_refused(old: str, new: str, told: str) -> None:
    ran = run("train", "-", stdin=BEGUN.replace(old, new))
    [problem] = problems(ran)
    assert ran.exit_code == 2 and told in problem


def test_it_holds_for_one_step_without_examples() -> None:
    ran = run("train", "-", "--steps", "2", stdin=BEGUN)
    assert ran.exit_code == 2 and "--steps: a given gradient holds for one step only" in ran.stderr
    text = f"{BEGUN}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 2], [0, 1]]}}\n"
    ran = run("train", "-", stdin=f"{text}training: [{{tokens: [a], targets: [b]}}]\n")
    assert ran.exit_code == 2 and "for the scenario's own tokens only" in ran.stderr
