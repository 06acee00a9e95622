"""The soft cap of scores and logits: by hand, its gradient, what is refused, its text."""

from __future__ import annotations

import re

from tests.helpers.command import printed
from tests.helpers.part_tests import refusals_of
from tests.helpers.traces import numbers, traced
from tracer.scenario.loading import parse
from tracer.scenario.writer import written

CAPPED = """\
title: capped
tokens: [a, b, c]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [1, 1]}
layers:
  - attention:
      softcap: 0.5
      heads: [{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}]
vocabulary: [a, b, c]
unembedding: {W_U: tied, softcap: 1.5}
"""


def test_the_larger_of_two_logits_that_print_alike_is_predicted() -> None:
    text = """\
tokens: [a]
embeddings: [[1]]
vocabulary: [x, y]
unembedding: {W_U: [[10.5, 12]], softcap: 0.5}
rounding: {decimals: 1, carry: line}
"""
    found = traced(text)
    assert numbers(found, "logits") == [["0.5", "0.5"]]
    assert numbers(found, "prediction") == ["y"]


def test_a_tied_unembedding_with_a_cap_is_written_as_it_was_typed() -> None:
    scenario = parse(CAPPED, "f.yaml")
    assert scenario.is_tied
    again = parse(written(scenario), "f.yaml")
    assert again == scenario
    assert "W_U: tied" in written(scenario)


AT = ":6:7: layer1.attention.softcap: expected"

test_a_cap_is_a_positive_number = refusals_of(
    "softcap: 0.5",
    CAPPED,
    {
        "softcap: 0": f"{AT} more than 0, got '0'",
        "softcap: -3": f"{AT} more than 0, got '-3'",
        "softcap: high": f"{AT} a number, such as softcap: 50, got 'high'",
    },
)


def test_the_line_of_a_capped_score() -> None:
    text = printed("step", "softcap", "-s", "-", stdin=CAPPED)
    assert re.search(r"a: 0\.5×tanh\(\S+ / 0\.5\) ≈ 0\.5×\S+ +≈ ", text)
    latex = printed("step", "softcap", "-s", "-", "--format", "latex", stdin=CAPPED)
    assert r"\tanh(" in latex
