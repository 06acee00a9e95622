"""Training some parameters only: their gradients and updates stay, all others are left out."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers.command import printed, problems, run
from tests.helpers.learning import WITHOUT_A_SLOPE
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.small_scenario import SMALL

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
VOCABULARY = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 2], [0, 1]]}\n"


def trained(spec: Scenario) -> dict[str, Any]:
    """The numbers of one step, by address."""
    ran = run("train", "-", "--format", "json", stdin=to_yaml(spec))
    if any(said in ran.stderr for said in WITHOUT_A_SLOPE):
        reject()
    return {value["address"]: value["data"] for value in json.loads(ran.stdout)["values"]}


@few
@given(learning_scenarios(max_layers=1, max_tokens=3), st.integers(0, 2**16))
def test_what_is_trained_is_trained_as_with_all(spec: Scenario, seed: int) -> None:
    rng = random.Random(seed)
    whole = trained(spec)
    updates = [address for address in whole if address.startswith("update.")]
    chosen = rng.sample(updates, rng.randint(1, len(updates)))
    some = trained({**spec, "optimizer": {"trains": [a.removeprefix("update.") for a in chosen]}})
    assert {address for address in some if address.startswith("update.")} == {*chosen}
    for address, numbers in some.items():
        if "gradient." not in address:
            assert whole[address] == numbers
    for address in chosen:
        gradient = address.replace("update.", "gradient.")
        assert some[gradient] == whole[gradient]
    kept = [a for a in updates if a not in chosen]
    assert not {a.replace("update.", "gradient.") for a in kept} & some.keys()


def test_only_what_leads_there_has_a_gradient() -> None:
    text = f"{SMALL}{VOCABULARY}optimizer: {{trains: [unembedding.W_U]}}\n"
    found = json.loads(printed("train", "-", "--format", "json", stdin=text))["values"]
    gradients = [v["address"] for v in found if v["address"].startswith("gradient.")]
    assert gradients == ["gradient.logits", "gradient.unembedding.W_U"]


def test_heads_of_which_different_parts_are_trained_are_drawn() -> None:
    """The gradient goes on to the keys in one head, and ends at the values in the other."""
    head = "{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}"
    attention = f"attention: {{heads: [{head}, {head}], W_O: [[1, 0], [0, 1], [1, 1], [2, 1]]}}"
    text = "title: T\ntokens: [a, b]\nembeddings: {a: [1, 2], b: [3, 4]}\n"
    text += f"layers: [{{{attention}}}]\n"
    only = "optimizer: {trains: ['*head1.W_V', '*head2.W_K']}\n"
    for form in ("terminal", "markdown", "latex"):
        shown = printed("train", "-", "--format", form, stdin=f"{text}{VOCABULARY}{only}")
        assert "Only these parameters are trained" in " ".join(shown.split())


def test_another_optimizer_trains_the_same_parameters() -> None:
    text = f"{SMALL}{VOCABULARY}optimizer: {{trains: ['*.W_2', '*.head1.*']}}\n"
    shown = printed("train", "-", "--optimizer", "adam", stdin=text)
    names = ", ".join(f"layer1.attention.head1.{name}" for name in ("W_Q", "W_K", "W_V"))
    whole = " ".join(shown.split())
    assert f"Only these parameters are trained: {names}, layer1.ffn.W_2. All others" in whole


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[unembedding.W_V]", ":17:22: optimizer.trains: no parameter has the address "),
        ("['*.W_9']", ":17:22: optimizer.trains: no parameter has the address '*.W_9'"),
        ("[]", "optimizer.trains: "),
    ],
)
def test_what_is_no_parameter_is_refused(said: str, told: str) -> None:
    ran = run("run", "-", stdin=f"{SMALL}{VOCABULARY}optimizer: {{trains: {said}}}\n")
    [problem] = problems(ran)
    assert ran.exit_code == 2 and told in problem
