"""The view without the mask: the same softmax on the scores before they are masked."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers.command import printed, run_json
from tests.helpers.random_scenarios import CARRY_MODES, Scenario, scenarios, to_yaml
from tests.helpers.reference import reference

UNMASKED = re.compile(r"(layer\d+\.attention\.head\d+)\.unmasked\.weights")

few = settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))


def values(*arguments: str, stdin: str = "") -> dict[str, Any]:
    document = run_json(*arguments, stdin=stdin)
    return {value["address"]: value["data"] for value in document["values"]}


def softmax(row: list[float]) -> list[float]:
    highest = max(row)
    powers = [math.exp(x - highest) for x in row]
    return [power / math.fsum(powers) for power in powers]


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize(("scenario", "count"), [("alex", 2), ("science", 1), ("pizza", 4)])
def test_weights_are_the_softmax_of_the_unmasked_scores(
    scenario: str, count: int, carry: str
) -> None:
    found = values(scenario, "--no-mask", "--carry", carry, "--decimals", "6")
    # With `line`, exponentials are rounded to whole numbers in one of the scenarios.
    tolerance = {"line": 0.05, "step": 0.0006, "never": 1e-12}[carry]
    heads = [head[1] for head in map(UNMASKED.fullmatch, found) if head]
    assert len(heads) == count
    for head in heads:
        for scores, weights in zip(
            found[f"{head}.scores"], found[f"{head}.unmasked.weights"], strict=True
        ):
            assert weights == pytest.approx(softmax(scores), abs=tolerance)


@few
@given(scenario=scenarios("never", epsilons=("0.1",), max_layers=2, limits=(1,)))
def test_random_scenarios(scenario: Scenario) -> None:
    expected = reference(scenario)
    scores = {address: x for address, x in expected.items() if address.endswith(".scores")}
    masked = re.compile(r"layer\d+\.attention\.head\d+\.scores")
    assume(any(map(masked.match, scores)))  # else there is no mask to leave out
    assume(all(np.abs(x).max() < 50 for x in scores.values()))
    text = to_yaml(scenario)
    usual = values("-", stdin=text)
    assume(any(a.split(".")[-1] == "mask" for a in usual))  # else it hides nothing
    # Only the decoder's self-attention has a mask.
    found = values("-", "--no-mask", stdin=text)
    heads = {a.removesuffix(".masked") for a in expected if re.match(r".*\.masked$", a)}
    names = ["exp", "exp_sum", "weights"]
    names += ["max", "shifted"] if scenario.get("softmax") == "shifted" else []
    of_sink = [f"{head}.unmasked.{end}_and_sink" for head in heads for end in ("scores", "weights")]
    assert {a for a in found if ".unmasked." in a} == {
        *(f"{head}.unmasked.{name}" for head in heads for name in names),
        *(a for a in of_sink if a.replace("unmasked.", "") in expected),
    }
    for head in heads:
        beside = expected.get(f"{head}.scores_and_sink", np.full((1, 1), -np.inf))[0, -1]
        ends = (f"{head}.{name}" for name in ("biased", "capped", "scores"))
        seen = next(expected[end] for end in ends if end in expected).tolist()
        for row, weights in zip(seen, found[f"{head}.unmasked.weights"], strict=True):
            shares = softmax([*row, beside])[:-1]
            assert weights == pytest.approx(shares, rel=1e-12, abs=1e-12)
    assert usual == {address: found[address] for address in found if ".unmasked." not in address}


LEAKS = [("alex", "Emma"), ("alex", "Frank"), ("science", "2"), ("pizza", "3"), ("pizza", "1")]


@pytest.mark.parametrize(("scenario", "token"), LEAKS)
def test_the_reading_sums_what_goes_to_later_tokens(scenario: str, token: str) -> None:
    document = run_json(scenario, "--no-mask")
    tokens = next(v["data"] for v in document["values"] if v["address"] == "tokens")
    place = int(token) - 1 if token.isdecimal() else tokens.index(token)
    text = " ".join(printed("run", scenario, "--no-mask", "--token", token).split())
    said = re.findall(r"Without the mask, “(\S+)” would give ([0-9.]+) % of its attention to", text)
    leaks = [
        math.fsum(value["data"][place][place + 1 :])
        for value in document["values"]
        if UNMASKED.fullmatch(value["address"])
    ]
    assert [name for name, _ in said] == [tokens[place]] * len(leaks)
    for (_, percent), leak in zip(said, leaks, strict=True):
        decimals = len(percent.partition(".")[2])
        assert abs(float(percent) - 100 * leak) <= 0.5 * 10**-decimals + 1e-9


def test_from_the_last_token_nothing_is_taken() -> None:
    text = " ".join(printed("run", "alex", "--no-mask").split())
    assert text.count("“Alex” is the last token: the mask hides nothing from it.") == 2
    assert "Without the mask, “Alex”" not in text


def test_one_address_can_be_asked_for() -> None:
    shown = printed("step", "unmasked", "-s", "pizza", "--layer", "1", "--no-mask", "-f", "json")
    addresses = {value["address"] for value in json.loads(shown)["values"]}
    assert all(re.fullmatch(r"layer1\.attention\.head[12]\.unmasked\.\w+", a) for a in addresses)
    assert len(addresses) == 6
