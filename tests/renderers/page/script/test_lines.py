"""The script writes each worked line as the program does, in every character."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.bundled import TYPED
from tests.helpers.fuzzed import faults_of_all
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.script_in_node import Script, needs_node, running
from tests.helpers.whole_scenarios import whole_scenarios
from tests.helpers.worked_in_script import RUNNER, compare
from tracer.errors import TracerError

pytestmark = needs_node

TERMS = 17
"""One more than a sum may have that is written out whole."""


@pytest.fixture(scope="module")
def asked() -> Iterator[Script]:
    with running(RUNNER) as script:
        yield script


@pytest.mark.parametrize("name", sorted(TYPED))
def test_each_line_of_a_bundled_scenario(name: str, asked: Script) -> None:
    compared = compare(asked, TYPED[name].read_text(encoding="utf-8"))
    assert compared.differences == []
    assert compared.lines > 10


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_long_sums(carry: str, asked: Script) -> None:
    """Of their terms, the first are written, and the total of the others."""
    numbers = [str((7 * i % 19 - 9) / 10) for i in range(TERMS)]
    column = [[number] for number in numbers]
    heads = [{"W_Q": [["0.3"]], "W_K": [["1.7"]], "W_V": [["0.9"]]}]
    layer = {
        "attention": {"heads": heads, "W_O": [["1.1"]], "mask": "none", "blocks": 1},
        "ffn": {"W_1": [numbers], "b_1": numbers, "W_2": column, "activation": "relu"},
    }
    spec = {
        **{"title": "long", "tokens": [f"t{i}" for i in range(TERMS)], "embeddings": column},
        **{"layers": [layer], "rounding": {"carry": carry, "decimals": 2}},
    }
    compared = compare(asked, to_yaml(spec))
    assert compared.differences == []
    assert compared.long > TERMS


RARE = """
title: rare
tokens: [a, b, c]
embeddings:
  a: [0, 0, 0, 0]
  b: [-40, 3, 0.5, 1.2]
  c: [0.0000042, 2.75, -1, 7]
positions: {rotary: {share: 0.5}}
mask: causal
layers:
- attention:
    heads:
    - {W_Q: identity, W_K: identity, W_V: [[1, 0], [0, 2], [0.3, 0], [0, 0.07]]}
    W_O: [[1, 0, 0.5, 0], [0, 1, 0, 1]]
    blocks: 2
    norm: {kind: layer_norm, epsilon: 0.1, gain: [1, 0.9, 1.2, 2], shift: [0, 0, 0.5, 1]}
- ffn:
    W_1: [[30, 0], [0, -1000000000000], [-30, 0], [0, 1]]
    W_2: [[1, 0, 0, 1], [0, 0.000001, 1, 0]]
    activation: silu
    norm: none
vocabulary: [a, b]
unembedding: {W_U: [[1, 0], [0, 1], [0.1, 0], [0, 0]]}
targets: [b, none, a]
"""


@pytest.mark.parametrize("digits", ["{}", "{'*.concat': 1, '*.dot': {significant: 2}}"])
@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_what_is_rare(carry: str, digits: str, asked: Script) -> None:
    """Zeros, hidden keys, numbers beyond 10¹², a loss, copies with other digits."""
    rounding = f"rounding: {{carry: {carry}, digits: {digits}}}"
    compared = compare(asked, RARE + rounding)
    assert compared.differences == []
    assert compared.lines > 100


def faults(asked: Script, most: int, number: int) -> list[str]:
    """What differs in so many random scenarios."""

    def judge(spec: Any) -> list[str]:
        try:
            return compare(asked, to_yaml(spec)).differences
        except TracerError:
            return []

    return faults_of_all(whole_scenarios(), judge, most, number)


def test_each_line_of_some_random_scenarios(asked: Script) -> None:
    assert faults(asked, 8, 1) == []


@pytest.mark.fuzz
def test_each_line_of_many_random_scenarios(asked: Script) -> None:
    assert faults(asked, 100, 2) == []
