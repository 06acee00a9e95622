"""The soft cap of scores and logits: by hand, its gradient, what is refused, its text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
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
NEVER = "rounding: {carry: never}\n"


def test_scores_are_capped_before_the_mask_and_logits_before_the_softmax() -> None:
    found = traced(CAPPED + NEVER)
    head = "layer1.attention.head1."
    scores = found[f"{head}scores"].numbers.astype(float)
    assert_allclose(
        found[f"{head}capped"].numbers.astype(float), 0.5 * np.tanh(scores / 0.5), rtol=1e-12
    )
    masked = found[f"{head}masked"].numbers.astype(float)
    seen = np.tri(3, dtype=bool)
    assert_allclose(masked[seen], 0.5 * np.tanh(scores / 0.5)[seen], rtol=1e-12)
    assert np.isneginf(masked[~seen]).all()
    before, after = (found[a].numbers.astype(float) for a in ("logits.uncapped", "logits"))
    assert_allclose(after, 1.5 * np.tanh(before / 1.5), rtol=1e-12)
    shares = np.exp(after) / np.exp(after).sum(axis=1, keepdims=True)
    assert_allclose(found["probabilities"].numbers.astype(float), shares, rtol=1e-12)


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


@pytest.mark.parametrize(("cap", "message"), [
    ("0", "expected more than 0, got '0'"),
    ("-3", "expected more than 0, got '-3'"),
    ("high", "expected a number, such as softcap: 50, got 'high'"),
])  # fmt: skip
def test_a_cap_is_a_positive_number(cap: str, message: str) -> None:
    ran = run("run", "-", stdin=CAPPED.replace("softcap: 0.5", f"softcap: {cap}"))
    assert ran.exit_code == 2
    assert f":6:7: layer1.attention.softcap: {message}" in ran.stderr


def test_the_line_of_a_capped_score() -> None:
    text = printed("step", "softcap", "-s", "-", stdin=CAPPED)
    assert re.search(r"a: 0\.5×tanh\(\S+ / 0\.5\) ≈ 0\.5×\S+ +≈ ", text)
    latex = printed("step", "softcap", "-s", "-", "--format", "latex", stdin=CAPPED)
    assert r"\tanh(" in latex
