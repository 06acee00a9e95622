"""The texts of states: every format, sentences, a cache, sizes, programs, edits of a page."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.every_judge import SAID_TWICE, faults_of_run
from tests.helpers.part_tests import CARRIES, joined, page_edits, programs, texts
from tests.helpers.random_scenarios import Scenario, scenarios
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.truth import false_equations
from tests.lesson.test_every_claim import SEEN, wrong
from tests.parts.recurrent.judged import PART, draw
from tests.parts.recurrent.test_decoder import SMALL, drawn

GATED = to_yaml({**drawn(3), "rounding": {}})
"""The delta rule with a gate, β and keys of length 1."""
LINEAR = to_yaml({**drawn(4), "rounding": {}})
CHUNKED = SMALL.replace("beta: 0.5", "beta: 0.5\n    chunk: 2")


EACH = {"delta": GATED, "linear": LINEAR, "chunked": CHUNKED}

test_every_text_is_written = texts(
    {"delta": GATED, "linear": LINEAR},
    "tutorial - --detail short",
    "run - --detail normal",
    "lens -",
    "steps - --names",
    "run - --format json",
    "value layer1.attention.head1.token2.state[1,1] -s -",
    "attribute logits[b,a] -s -",
)
test_programs_compute_the_numbers = programs(EACH)
"""Those of the chunks, too, which no later value reads."""
test_edits_of_a_page = page_edits(EACH)


@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize("seed", [3, 4])
def test_texts_are_true(seed: int, carry: str) -> None:
    spec = {**drawn(seed, tokens=3), "rounding": {"carry": carry}}
    text = printed("run", "-", stdin=to_yaml(spec))
    assert false_equations(text) == []
    assert carry == "never" or violations(text) == []
    assert wrong("tutorial", spec) == []


@pytest.mark.parametrize("seed", [1, 3])
def test_sentences_of_the_backward_pass_are_true(seed: int) -> None:
    spec = drawn(seed, tokens=3)
    del spec["rounding"]
    assert wrong("train", spec) == []


def test_every_form_of_sentence_is_met() -> None:
    SEEN.clear()
    for seed in range(8):
        spec = drawn(seed, tokens=3)
        part = spec["layers"][0]["attention"]
        if seed < 4 and not part.get("normalizer"):
            part["chunk"] = 2
        if seed == 4:
            part["gate"] = 1
        spec["rounding"] = {"decimals": 2} if seed % 2 else {"carry": "never"}
        assert wrong("run", spec) == []
    plain = yaml.safe_load(SMALL.replace("kind: delta", "kind: linear"))
    part = plain["layers"][0]["attention"]
    del part["gate"], part["beta"]
    for more in ({}, {"feature_map": "elu_plus_1"}, {"feature_map": "relu", "normalizer": True}):
        own = {**plain, "layers": [{"attention": {**part, **more}}]}
        assert wrong("run", own) == []
    for values, beta in (([[1], [2], [3], [3]], 1), ([[1], [2], [3], [4]], Decimal("0.5"))):
        spec = yaml.safe_load(OVERWRITTEN.replace("V: V", f"V: {values}"))
        spec["layers"][0]["attention"]["beta"] = beta
        assert wrong("run", spec) == []
    forms = [form for form in PART.claims if not form.startswith("Compute the gradient")]
    assert [form for form in forms if not SEEN[form]] == []


OVERWRITTEN = """\
tokens: [a, b, c, d]
layers:
- attention:
    kind: delta
    scale: none
    heads:
    - {Q: [[1, 0], [1, 0], [1, 0], [1, 0]], K: [[1, 0], [0, 1], [1, 0], [1, 0]], V: V}
rounding: {decimals: 2}
"""


def test_a_value_is_replaced_for_an_equal_key() -> None:
    """Without a gate, with β of 1 and keys of length 1, the state returns the newest value."""
    text = OVERWRITTEN.replace("V: V", "V: [[1], [2], [3], [3]]")
    said = joined(printed("run", "-", stdin=text))
    for name in "abc":
        assert f"The state now returns the value of “{name}” for its key." in said
    assert "The state already returns the value of “d” for its key: nothing changes." in said
    weak = text.replace("kind: delta", "kind: delta\n    beta: 0.5")
    assert "now returns" not in joined(printed("run", "-", stdin=weak))
    longer = text.replace("[0, 1]", "[0, 2]")
    assert "value of “b” for its key" not in joined(printed("run", "-", stdin=longer))


def test_a_gate_of_0_forgets_all_tokens() -> None:
    text = OVERWRITTEN.replace("V: V", "V: [[1], [2], [3], [3]]")
    said = joined(
        printed("run", "-", stdin=text.replace("kind: delta", "kind: linear\n    gate: 0"))
    )
    assert "The gate is 0: the state forgets all tokens before." in said
    said = joined(printed("run", "-", stdin=text.replace("scale", "gate: 1\n    scale")))
    assert "The gate is 1: the state forgets nothing." in said


def test_both_forms_are_equal() -> None:
    said = joined(printed("run", "-", stdin=CHUNKED))
    assert "All numbers are equal to those of O, computed token by token." in said
    rough = CHUNKED.replace("gate: 0.5", "gate: 0.7") + "rounding: {carry: line, decimals: 1}\n"
    assert "computed token by token. As printed, they differ by at most" in joined(
        printed("run", "-", stdin=rough)
    )
    linear = SMALL.replace("kind: delta", "kind: linear").replace("    beta: 0.5\n", "")
    said = joined(printed("run", "-", stdin=linear.replace("    gate: 0.5\n", "")))
    assert "causal attention whose weights are the scores themselves, without a softmax." in said
    assert "without a softmax" not in joined(printed("run", "-", stdin=linear))


def test_a_cache_keeps_the_state() -> None:
    """d_k · d_v numbers for each head, in place of d_k + d_v for each token."""
    spec = drawn(1)
    attention = spec["layers"][0]["attention"]
    sizes = [(len(h["W_K"][0]), len(h["W_V"][0])) for h in attention["heads"]]
    kept, each = sum(d_k * d_v for d_k, d_v in sizes), sum(map(sum, sizes))
    found = json.loads(printed("shapes", "-", "--format", "json", stdin=to_yaml(spec)))["cache"]
    assert (found["per_token"], found["states"], found["all"]) == (0, kept, kept)
    text = joined(printed("shapes", "-", stdin=to_yaml(spec)))
    assert f"The states have {kept} numbers, whatever the number of tokens." in text
    first = next(n for n in range(1, 99) if n * each > kept)
    assert f"would have {each} for each token: from {first} token" in text
    turn = ("generate", "-", "--kv-cache", "--start", "a", "--max-tokens", "2")
    assert "the states of “a” are reused from earlier turns" in joined(
        printed(*turn, stdin=to_yaml(spec))
    )


@pytest.mark.parametrize("scenario", [GATED, CHUNKED], ids=["delta", "chunked"])
def test_a_matrix_says_its_symbol_once(scenario: str) -> None:
    """From the second token on, the lines of a step have no words over them."""
    assert SAID_TWICE.findall(printed("run", "-", stdin=scenario)) == []


@st.composite
def with_states(draws: st.DrawFn) -> Scenario:
    """A random scenario whose attentions may have a state."""
    epsilons = ("0.1", "0.00001")
    spec = draws(
        scenarios(all_digits=True, epsilons=epsilons, padded=False, masks=("default", "causal"))
    )
    draw(spec, Random(draws(st.integers(0, 2**16))), 0.7)
    return spec


@pytest.mark.fuzz
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(with_states())
def test_random_scenarios_with_states(spec: Scenario) -> None:
    assert faults_of_run(spec, spec, width=80) == []
