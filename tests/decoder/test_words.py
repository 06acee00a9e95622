"""From the model's output to words: the prediction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.traces import numbers, traced, traced_or_rejected

ALIKE = """
title: words that rounding makes alike
tokens: [a]
embeddings: [[1, 2]]
layers:
  - ffn: {W_1: [[1], [1]], W_2: [[0, 0]]}
vocabulary: [x, y, z]
unembedding: {W_U: [[0, 0, 0], [0, 0, 0]], b_U: [0.3, 0.301, LAST]}
rounding: {decimals: 1, carry: CARRY}
"""


@pytest.mark.parametrize("carry", ["line", "step", "never"])
@pytest.mark.parametrize(
    ("last", "word"),
    [
        ("0.3", "y"),
        ("0.302", "z"),
        ("0.301", "y"),  # of equal ones the first
        ("0.0", "y"),
    ],
)
def test_words_made_alike_by_rounding_are_told_apart_by_the_logits(
    carry: str, last: str, word: str
) -> None:
    ran = traced(ALIKE.replace("LAST", last).replace("CARRY", carry))
    if carry != "never":
        [p] = numbers(ran, "probabilities")
        assert p[0] == p[1]
    assert numbers(ran, "prediction") == [word]


def test_pinned_probabilities_decide_and_of_equal_ones_the_logits() -> None:
    text = ALIKE.replace("LAST", "0.302").replace("CARRY", "step")
    assert numbers(traced(text), "prediction") == ["z"]
    pinned = f"{text}given: {{probabilities: [[0.4, 0.4, 0.2]]}}\n"
    assert numbers(traced(pinned), "prediction") == ["y"]
    pinned = f"{text}given: {{probabilities: [[0.5, 0.4, 0.1]]}}\n"
    assert numbers(traced(pinned), "prediction") == ["x"]
    pinned = f"{text}given: {{logits: [[3, 1, 3]]}}\n"
    assert numbers(traced(pinned), "prediction") == ["x"]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(speaks=True, max_layers=1))
def test_however_numbers_are_rounded_the_largest_logit_decides(spec: Scenario) -> None:
    spec["unembedding"].pop("softcap", None)  # under which large logits are alike
    ran = traced_or_rejected(spec)
    weights, bias = spec["unembedding"]["W_U"], spec["unembedding"].get("b_U")
    columns = range(len(spec["vocabulary"]))
    carries_parts = spec["rounding"]["carry"] == "line"

    def logits(row: Any) -> list[Decimal]:
        return [
            sum((x * w[j] for x, w in zip(row, weights, strict=True)), bias[j] if bias else 0)
            for j in columns
        ]

    transform = "unembedding.transform."
    read = [f"{transform}norm", f"{transform}activation", "output"]
    first = next(ran[address] for address in read if address in ran.values)
    for row, word in zip(first.numbers, ran["prediction"].numbers, strict=True):
        z = logits(row)
        off = max(z) - z[spec["vocabulary"].index(word)]
        # With `line` each product is rounded before it is added.
        unit = Decimal(1).scaleb(-spec["rounding"]["decimals"])
        assert off <= (unit * len(weights) if carries_parts else Decimal("1e-30"))
