"""Encoder and decoder, norms before and behind, padding: the numbers agree with the reference."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers.command import printed, run, run_json
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.reference import Array, predicted_words, reference

POSITIVE = ("0.1", "0.00001")
"""Epsilons with which every row has a LayerNorm."""

TOLERANCE = 1e-12
LARGEST = 50
"""Beyond scores of this size float64, in which the reference is written, is not as good as that."""

several = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
some = settings(several, max_examples=10)


def values(scenario: Scenario) -> dict[str, Any]:
    """The values of a run by address, as JSON has them."""
    ran = run("run", "-", "--format", "json", stdin=to_yaml(scenario))
    assert ran.exit_code == 0, ran.stderr
    return {value["address"]: value for value in json.loads(ran.stdout)["values"]}


def numbers(value: dict[str, Any]) -> Array:
    """Its numbers; minus infinity is a text in JSON."""
    return np.array(value["data"], dtype=object).astype(np.float64)


def tame(expected: dict[str, Array]) -> bool:
    exponents = [x for a, x in expected.items() if a.endswith((".scores", "logits"))]
    return all(np.abs(x).max() < LARGEST for x in exponents)


@several
@given(scenario=scenarios(carry="never", epsilons=POSITIVE))
def test_every_computed_value_is_the_references(scenario: Scenario) -> None:
    expected = reference(scenario)
    assume(tame(expected))
    found = values(scenario)
    words = found.pop("prediction", None)
    if words:
        assert words["data"] == predicted_words(scenario)
    computed = {a: v for a, v in found.items() if v["operation"] != "given" or a == "position"}
    assert computed.keys() == expected.keys()
    for address, value in computed.items():
        np.testing.assert_allclose(
            numbers(value), expected[address], rtol=TOLERANCE, atol=TOLERANCE, err_msg=address
        )


def hidden(scenario: Scenario) -> list[tuple[int, int]]:
    """Which position does not see which: those behind it, and the ones that only fill up."""
    tokens, padding = scenario["tokens"], scenario["padding"]
    places = range(len(tokens))
    return [(i, j) for i in places for j in places if j > i or tokens[j] == padding]


@several
@given(scenario=scenarios(epsilons=POSITIVE, padded=True, max_layers=2, max_tokens=5))
def test_what_is_masked_weighs_nothing_in_any_carry_mode(scenario: Scenario) -> None:
    assume(scenario["padding"] in scenario["tokens"] and tame(reference(scenario)))
    found = values(scenario)
    of_self_attention = [
        a for a in found if re.fullmatch(r"layer\d\.attention\.head\d\.weights", a)
    ]
    assume(of_self_attention)
    unseen = hidden(scenario)
    for address in of_self_attention:
        weights = numbers(found[address])
        assert [weights[pair] for pair in unseen] == [0] * len(unseen)
        output = numbers(found[address.replace("weights", "output")])
        for i, row in enumerate(weights):
            if all((i, j) in unseen for j in range(len(row))):
                assert not output[i].any()
            elif scenario["rounding"]["carry"] == "never":
                assert abs(row.sum() - 1) < TOLERANCE


def by_position(scenario: Scenario) -> Scenario:
    """The scenario with a vector for each position, so that one can be changed by itself."""
    table = scenario["embeddings"]
    rows = table if isinstance(table, list) else [table[token] for token in scenario["tokens"]]
    return {**scenario, "embeddings": [list(row) for row in rows]}


def moved(scenario: Scenario, positions: list[int]) -> Scenario:
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
        pairs = zip(value["data"], after[address]["data"], strict=True)
        found |= {i for i, (old, new) in enumerate(pairs) if old != new}
    return found


@some
@given(scenario=scenarios(epsilons=POSITIVE, max_layers=2, max_tokens=5))
def test_a_token_changes_nothing_before_it(scenario: Scenario) -> None:
    changed = moved(scenario, [len(scenario["tokens"]) - 1])
    assume(tame(reference(scenario)) and tame(reference(changed)))
    found = rows_that_change(values(scenario), values(changed))
    assert found <= {len(scenario["tokens"]) - 1}


@some
@given(scenario=scenarios(epsilons=POSITIVE, padded=True, max_layers=2, max_tokens=5))
def test_what_fills_up_changes_nothing_elsewhere(scenario: Scenario) -> None:
    filling = [i for i, token in enumerate(scenario["tokens"]) if token == scenario["padding"]]
    assume(filling)
    changed = moved(scenario, filling)
    assume(tame(reference(scenario)) and tame(reference(changed)))
    assert rows_that_change(values(scenario), values(changed)) <= set(filling)


@some
@given(scenario=scenarios(carry="never", epsilons=POSITIVE, encoder=True, max_layers=2))
def test_the_order_of_the_encoders_tokens_does_not_matter(scenario: Scenario) -> None:
    assume(tame(reference(scenario)))
    encoder = scenario["encoder"]
    turned = encoder | {key: encoder[key][::-1] for key in ("tokens", "vectors")}
    before, after = values(scenario), values({**scenario, "encoder": turned})
    for address, value in before.items():
        if re.fullmatch(r"layer\d\.cross_attention\.head\d\.weights", address):
            backwards = numbers(after[address])[:, ::-1]
        elif address.startswith("layer") and ".head" not in address:
            backwards = numbers(after[address])
        else:
            continue
        np.testing.assert_allclose(backwards, numbers(value), rtol=TOLERANCE, atol=TOLERANCE)


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
    assert numbers(found["layer1.attention.head1.weights"]).tolist() == [[0, 0], [0, 1]]
    assert found["output"]["data"] == [[5, 7], [2, 4]]
    text = printed("run", "-", "--token", "1", stdin=SENTENCE)
    assert "everything is hidden" in " ".join(text.split())
