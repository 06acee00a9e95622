"""Attention, masked and crossed: heads, their shares, and what is hidden from them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from numpy.testing import assert_allclose

from tests.helpers import random_scenarios
from tests.helpers.command import printed, run_json
from tests.helpers.reference import Array, reference
from tests.helpers.traces import numbers, traced, values

several = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
some = settings(several, max_examples=4)

ATTENTION = """
title: two heads, of width 3 and 1
tokens: [a, b]
embeddings: [[1, 2], [3, 4]]
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1, 0, 2], [0, 1, 0]]}
        - {W_Q: [[0, 1], [1, 0]], W_K: [[0, 0], [0, 0]], W_V: [[0], [1]]}
      SETTINGS
rounding: {decimals: 3, carry: never}
"""


def test_without_w_o_residual_and_norm_the_heads_are_the_output() -> None:
    ran = traced(ATTENTION.replace("SETTINGS", "residual: false"))
    concat = numbers(ran, "layer1.attention.concat")
    assert numbers(ran, "layer1.attention.output") == numbers(ran, "output") == concat
    found = set(values(ran))
    assert not found & {"layer1.attention.residual", "layer1.attention.norm", "position"}
    assert not any("W_O" in address or ".norm." in address for address in found)


def of_sink(spec: random_scenarios.Scenario, address: str, scores: Any) -> Any:
    """The share of a head's sink, which the weights of a row lack: exp(s) / sum; 0 without one."""
    layer, part, head = re.findall(r"^layer(\d+)\.(\w+)\.head(\d+)", address)[0]
    sink = spec["layers"][int(layer) - 1][part]["heads"][int(head) - 1].get("sink")
    if sink is None:
        return 0
    s = type(scores[0])(sink)
    return 1 / (1 + sum(np.exp(x - s) for x in scores if np.isfinite(float(x))))


# --- what is hidden ------------------------------------------------------------------------------

POSITIVE = ("0.1", "0.00001")
"""Epsilons with which every row has a LayerNorm."""

TOLERANCE = 1e-12
LARGEST = 50
"""Beyond scores of this size float64, in which the reference is written, is not as good as that."""


def in_json(scenario: random_scenarios.Scenario) -> dict[str, Any]:
    """The values of a run by address, as JSON has them."""
    shown = random_scenarios.printed_or_rejected(scenario, "run", "-", "--format", "json")
    return {value["address"]: value for value in json.loads(shown)["values"]}


def floats(value: dict[str, Any]) -> Array:
    """Its numbers; minus infinity is a text in JSON."""
    return np.array(value["data"], dtype=object).astype(np.float64)


def tame(expected: dict[str, Array]) -> bool:
    exponents = [x for a, x in expected.items() if a.endswith((".scores", "logits"))]
    return all(np.abs(x).max() < LARGEST for x in exponents)


def hidden(scenario: random_scenarios.Scenario) -> list[tuple[int, int]]:
    """Which position does not see which: those behind it, and the ones that only fill up."""
    tokens, padding = scenario["tokens"], scenario["padding"]
    places = range(len(tokens))
    return [(i, j) for i in places for j in places if j > i or tokens[j] == padding]


@several
@given(
    scenario=random_scenarios.scenarios(
        epsilons=POSITIVE, padded=True, max_layers=2, max_tokens=5, masks=random_scenarios.CAUSAL
    )
)
def test_what_is_masked_weighs_nothing_in_any_carry_mode(
    scenario: random_scenarios.Scenario,
) -> None:
    assume(scenario["padding"] in scenario["tokens"] and tame(reference(scenario)))
    found = in_json(scenario)
    of_self_attention = [
        a for a in found if re.fullmatch(r"layer\d\.attention\.head\d\.weights", a)
    ]
    assume(of_self_attention)
    unseen = hidden(scenario)
    for address in of_self_attention:
        weights = floats(found[address])
        assert [weights[pair] for pair in unseen] == [0] * len(unseen)
        output = floats(found[address.replace("weights", "output")])
        for i, row in enumerate(weights):
            if all((i, j) in unseen for j in range(len(row))):
                assert not output[i].any()
            elif scenario["rounding"]["carry"] == "never":
                scores = floats(found[address.replace("weights", "masked")])[i]
                assert abs(row.sum() + of_sink(scenario, address, scores) - 1) < TOLERANCE


def by_position(scenario: random_scenarios.Scenario) -> random_scenarios.Scenario:
    """The scenario with a vector for each position, so that one can be changed by itself."""
    table = scenario["embeddings"]
    rows = table if isinstance(table, list) else [table[token] for token in scenario["tokens"]]
    return {**scenario, "embeddings": [list(row) for row in rows]}


def moved(scenario: random_scenarios.Scenario, positions: list[int]) -> random_scenarios.Scenario:
    """The scenario with other vectors at some positions."""
    changed = by_position(scenario)
    for position in positions:
        row = changed["embeddings"][position]
        row[:] = [number / 2 + Decimal("0.25") for number in row]
    return changed


def rows_that_change(before: dict[str, Any], after: dict[str, Any]) -> set[int]:
    """The tokens of which any number is another one."""
    assert before.keys() == after.keys()
    found = set()
    for address, value in before.items():
        axes = [axis["name"] for axis in value["axes"]]
        if axes[:1] != ["token"] or "key" in axes:  # a score with what is masked afterwards
            continue
        if ".expert" in address:  # which tokens it has may change
            continue
        pairs = zip(value["data"], after[address]["data"], strict=True)
        found |= {i for i, (old, new) in enumerate(pairs) if old != new}
    return found


@some
@given(
    scenario=random_scenarios.scenarios(epsilons=POSITIVE, padded=True, max_layers=2, max_tokens=5)
)
def test_what_fills_up_changes_nothing_elsewhere(scenario: random_scenarios.Scenario) -> None:
    filling = [i for i, token in enumerate(scenario["tokens"]) if token == scenario["padding"]]
    assume(filling)
    changed = moved(scenario, filling)
    assume(tame(reference(scenario)) and tame(reference(changed)))
    assert rows_that_change(in_json(scenario), in_json(changed)) <= set(filling)


@some
@given(
    scenario=random_scenarios.scenarios(
        carry="never", epsilons=POSITIVE, encoder=True, max_layers=2
    )
)
def test_the_order_of_the_encoders_tokens_does_not_matter(
    scenario: random_scenarios.Scenario,
) -> None:
    encoder = {**scenario["encoder"], "positions": "none"}
    if "vectors" in encoder:
        del encoder["positions"]
    scenario = {**scenario, "encoder": encoder}
    assume(tame(reference(scenario)))
    rows = [
        key for key in ("tokens", "vectors", "embeddings") if isinstance(encoder.get(key), list)
    ]
    turned = encoder | {key: encoder[key][::-1] for key in rows}
    before, after = in_json(scenario), in_json({**scenario, "encoder": turned})
    for address, value in before.items():
        if re.fullmatch(r"layer\d\.cross_attention\.head\d\.weights", address):
            backwards = floats(after[address])[:, ::-1]
        elif re.fullmatch(r"layer\d\.cross_attention\.(keys|key_norm.*)(?<!gain|hift)", address):
            backwards = floats(after[address])[::-1]
        elif address.startswith("layer") and ".head" not in address:
            backwards = floats(after[address])
        else:
            continue
        np.testing.assert_allclose(backwards, floats(value), rtol=TOLERANCE, atol=TOLERANCE)


SENTENCE = """\
title: A sentence that is filled up in front
tokens: [<PAD>, a]
padding: <PAD>
embeddings: {<PAD>: [5, 7], a: [1, 2]}
layers:
  - attention:
      heads: [{W_Q: [[1], [1]], W_K: [[1], [1]], W_V: [[1, 0], [0, 1]]}]
"""


def test_a_token_that_sees_nothing_keeps_what_it_was() -> None:
    found = {value["address"]: value for value in run_json("-", stdin=SENTENCE)["values"]}
    assert floats(found["layer1.attention.head1.weights"]).tolist() == [[0, 0], [0, 1]]
    assert found["output"]["data"] == [[5, 7], [2, 4]]


# --- a mask that adds numbers --------------------------------------------------------------------

ALIKE = """
title: scores that are all 0
tokens: [a, b]
embeddings: [[1, 2], [3, 4]]
layers: [{attention: {heads: [{W_Q: [[0], [0]], W_K: [[1], [1]], W_V: [[1], [0]]}], W_O: [[1, 0]]}}]
"""
ADDED = "mask: [[0, -99], [-1e9, 0]]"


@pytest.mark.parametrize("mask", [ADDED, f"given: {{{ADDED}}}"])
@pytest.mark.parametrize("carry", ["{carry: step}", "{carry: never}\narithmetic: float64"])
def test_a_masks_numbers_are_added_to_the_scores(mask: str, carry: str) -> None:
    text = f"{ALIKE}{mask}\nrounding: {carry}\n"
    found = {value["address"]: value for value in run_json("-", stdin=text)["values"]}
    assert floats(found["layer1.attention.head1.masked"]).tolist() == [[0, -99], [-1e9, 0]]
    weights = floats(found["layer1.attention.head1.weights"])
    assert_allclose(weights, [[1, np.exp(-99)], [0, 1]], rtol=0.05, atol=0)
    shown = printed("run", "-", "--token", "2", stdin=text)
    assert re.search(r"a: e\^\(-1000000000(\.000)?\) +≈ 0\n", shown)
    assert "The mask is added to the scores." in shown
    assert "the token is hidden" not in shown
    assert "not seen" not in shown
