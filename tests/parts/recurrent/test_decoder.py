"""Linear attention and the delta rule: values by a closed form, gradients, a cache, errors."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers import learning
from tests.helpers.command import printed, run
from tests.helpers.part_tests import refusals, slopes
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.parts.recurrent.closed import floats, heads
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.scenario.loading import parse

WIDTH = 3
AT = "layer1.attention."


def matrix(rows: int, columns: int, rng: random.Random) -> list[list[Decimal]]:
    return [[Decimal(rng.randint(-99, 99)) / 100 for _ in range(columns)] for _ in range(rows)]


def drawn(seed: int, *, tokens: int = 4) -> dict[str, Any]:
    """A random model of one layer; seeds have other kinds, gates and forms of β."""
    rng = random.Random(seed)
    delta, unit, mapped = (seed >> i & 1 for i in range(3))
    part: dict[str, Any] = {"kind": "delta" if delta else "linear"}
    words = ["a", "b", "c", "d", "a", "b", "c"][:tokens]

    def typed(letter: str) -> Any:
        of_tokens = [Decimal(rng.randint(20, 100)) / 100 for _ in words]
        weights: dict[str, Any] = {f"W_{letter}": matrix(WIDTH, 2, rng)}
        if rng.random() < 0.5:
            weights[f"b_{letter}"] = matrix(1, 2, rng)[0]
        if letter == "A" and rng.random() < 0.5:
            weights["A_log"] = matrix(1, 2, rng)[0]
        return rng.choice([Decimal("0.75"), of_tokens, weights, weights])

    if rng.random() < 0.8:
        part["gate"] = typed("A")
    if delta and rng.random() < 0.8:
        part["beta"] = typed("B")
    if unit:
        part["unit_length"] = {} if rng.random() < 0.5 else {"epsilon": Decimal("0.01")}
    if mapped:  # of relu, a vector can be 0 and has no length
        part["feature_map"] = "elu_plus_1" if part.get("unit_length") == {} else "relu"
    if not delta and part.get("feature_map") == "elu_plus_1":
        part["normalizer"] = rng.random() < 0.7
    part["scale"] = rng.choice(["sqrt", "none", Decimal("1.5")])
    widths = [(rng.randint(1, 3), rng.randint(1, 3)) for _ in range(2)]
    part["heads"] = [
        {
            **{name: matrix(WIDTH, d_k, rng) for name in ("W_Q", "W_K")},
            "W_V": matrix(WIDTH, d_v, rng),
        }
        for d_k, d_v in widths
    ]
    part["W_O"] = matrix(sum(d_v for _, d_v in widths), WIDTH, rng)
    table = {word: matrix(1, WIDTH, rng)[0] for word in dict.fromkeys(words)}
    return {
        "title": "recurrent",
        "tokens": words,
        "embeddings": table,
        "layers": [{"attention": part}],
        "vocabulary": list(table),
        "unembedding": {"W_U": matrix(WIDTH, len(table), rng)},
        "targets": [*words[1:], words[0]],
        "rounding": {"carry": "never"},
    }


def expected(spec: dict[str, Any]) -> dict[str, Any]:
    """The values of the layer's attention by the closed form."""
    part = spec["layers"][0]["attention"]
    x = floats([spec["embeddings"][token] for token in spec["tokens"]])
    projected = ([x @ floats(own[name]) for own in part["heads"]] for name in ("W_Q", "W_K", "W_V"))
    found = heads(part, x, *projected)
    assert found
    side_by_side = np.hstack([found[f"head{h + 1}.output"] for h in range(2)])
    return found | {"output": side_by_side @ floats(part["W_O"])}


# --- numbers -------------------------------------------------------------------------------------


def test_a_state_by_hand() -> None:
    """With α = 0.5 and β = 0.5: S = k₁ᵀ v₁ / 2, then 0.5 S + k₂ᵀ (v₂ - k₂ 0.5 S) / 2."""
    ran = traced("""\
tokens: [a, b]
layers:
- attention:
    kind: delta
    gate: 0.5
    beta: 0.5
    scale: none
    heads: [{Q: [[1, 1], [2, 0]], K: [[1, 0], [1, 1]], V: [[8], [4]]}]
""")
    at = f"{AT}head1.token"
    assert ran[f"{at}1.state"].array.tolist() == [[4], [0]]
    assert ran[f"{at}2.kept"].array.tolist() == [[2], [0]]
    assert ran[f"{at}2.predicted"].array.tolist() == [[2]]
    assert ran[f"{at}2.error"].array.tolist() == [[2]]
    assert ran[f"{at}2.state"].array.tolist() == [[3], [1]]
    assert ran[f"{AT}head1.output"].array.tolist() == [[4], [6]]


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("seed", range(24))
def test_values_are_those_of_the_closed_form(seed: int, arithmetic: str) -> None:
    spec = drawn(seed)
    if seed > 8 and not spec["layers"][0]["attention"].get("normalizer"):
        spec["layers"][0]["attention"]["chunk"] = seed % 3 + 1
    ran = traced(to_yaml({**spec, "arithmetic": arithmetic}))
    found = expected(spec)
    for address, value in found.items():
        assert ran[AT + address].shape == value.shape, address
        assert_allclose(ran[AT + address].array, value, rtol=1e-12, atol=1e-12, err_msg=address)
    inside = {address.removeprefix(AT) for address in ran.values if ".token" in address}
    given_only = {f"head{h}.token1.gate" for h in (1, 2)}
    assert inside - given_only <= found.keys()


test_gradients_are_slopes_of_the_loss = slopes(
    {f"{seed}": drawn(seed, tokens=3) for seed in range(8)}
)


@pytest.mark.parametrize("seed", range(12))
def test_chunks_give_the_outputs_and_states_of_the_recurrence(seed: int) -> None:
    spec = drawn(seed, tokens=5)
    part = spec["layers"][0]["attention"]
    if part.pop("normalizer", False):
        del part["feature_map"]
    part["chunk"] = 1 + seed % 6
    ran = traced(to_yaml(spec))
    expected_values = expected(spec)
    for h in (1, 2):
        at = f"head{h}."
        output = expected_values[f"{at}output"]
        assert_allclose(ran[f"{AT}{at}chunks.output"].array, output, rtol=1e-12, atol=1e-12)
        last = -(-5 // part["chunk"])
        state = expected_values[f"{at}token5.state"]
        assert_allclose(ran[f"{AT}{at}block{last}.state"].array, state, rtol=1e-12, atol=1e-12)


def test_linear_attention_is_attention_without_a_softmax() -> None:
    """Each output is the sum of the values up to the token, each times q · k."""
    spec = drawn(0)
    part = spec["layers"][0]["attention"]
    part.pop("gate", None)
    ran = traced(to_yaml(spec))
    for at in (f"{AT}head1.", f"{AT}head2."):
        q = ran[f"{at}scaled_query" if part["scale"] != "none" else f"{at}query"].array
        k, v = (ran[f"{at}{name}"].array for name in ("key", "value"))
        output = np.tril(q @ k.T) @ v
        assert_allclose(ran[f"{at}output"].array, output, rtol=1e-12, atol=1e-12)
        assert_allclose(
            ran[f"{at}block1.kept_products"].array, np.tril(q @ k.T), rtol=1e-12, atol=1e-12
        )
        assert_allclose(ran[f"{at}chunks.output"].array, output, rtol=1e-12, atol=1e-12)


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    spec, new = drawn(7), tmp_path / "new.yaml"
    spec["optimizer"] = {"learning_rate": Decimal("0.1")}
    printed("train", "-", "--save", str(new), stdin=to_yaml(spec))
    trained = trace("f", parse(new.read_text(encoding="utf-8"), "f.yaml"), PassOptions(loss=True))
    assert trained["loss"].numbers < learning.loss_of(learning.batch_of(spec))


@pytest.mark.parametrize("seed", range(8))
def test_a_cache_changes_no_number(seed: int) -> None:
    spec = drawn(seed, tokens=5)
    del spec["vocabulary"], spec["unembedding"], spec["targets"]
    scenario = parse(to_yaml(spec), "f.yaml")
    whole: Trace = trace("f", scenario)
    cached = generate("f", scenario, GenerationOptions(("a",), 10, cached=True)).steps
    assert len(cached) > 3
    for step in cached:
        n = len(step.trace.tokens)
        for address in (f"{AT}head1.token{n}.state", f"{AT}head2.token{n}.state"):
            assert step.trace[address].numbers.tolist() == whole[address].numbers.tolist()
        row = step.trace[f"{AT}output"].numbers[-1].tolist()
        assert row == whole[f"{AT}output"].numbers[n - 1].tolist()


# --- what does not fit ---------------------------------------------------------------------------

SMALL = """\
title: a state
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    kind: delta
    gate: 0.5
    beta: 0.5
    heads:
    - {W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]]}
    W_O: [[1, 0]]
"""
MASKED = "layers:\n- attention:\n"


# fmt: off
test_what_does_not_fit = refusals(
    SMALL,
    ("gate: 0.5", "gate: 1.5", 7, "layer1.attention.gate: expected a number from 0 to 1, got 1.5"),
    ("gate: 0.5", "gate: [0.5, -1]", 7, "gate entry 2: expected a number from 0 to 1, got -1"),
    ("gate: 0.5", "gate: [0.5, 1, 1]", 7, "layer1.attention.gate: 3 numbers, expected 2"),
    ("beta: 0.5", "beta: 2.5", 8, "layer1.attention.beta: expected a number from 0 to 2, got 2.5"),
    ("gate: 0.5", "gate: {W_A: [[1], [1], [1]]}", 7, "layer1.attention.gate.W_A: 3 rows"),
    ("gate: 0.5", "gate: {W_A: [[1, 1], [1, 1]]}", 7, "layer1.attention.gate.W_A: 2 columns"),
    ("gate: 0.5", "gate: {W_A: [[1], [1]], A_log: [1, 2]}", 7, "gate.A_log: 2 numbers"),
    ("gate: 0.5", "gate: often", 7, "layer1.attention.gate: expected a number"),
    ("kind: delta", "kind: linear", 8, "layer1.attention.beta: expected only with kind: delta"),
    ("kind: delta", "kind: softmax", 7, "layer1.attention.gate: expected only with kind: linear"),
    ("kind: delta", "kind: cosine", 6, "layer1.attention.kind: expected"),
    ("gate: 0.5", "normalizer: true", 7, "normalizer: expected only with kind: linear"),
    ("gate: 0.5", "softcap: 2", 7, "softcap: kind: delta has no softmax over scores"),
    ("gate: 0.5", "blocks: 2", 7, "blocks: kind: delta has no softmax over scores"),
    ("gate: 0.5", "mask: none", 7, "mask: kind: delta has no softmax over scores"),
    ("gate: 0.5", "latent: {W_DKV: [[1, 0], [0, 1]]}", 7, "latent: kind: delta has no softmax"),
    ("{W_Q:", "{sink: 1, W_Q:", 10, "head1.sink: kind: delta has no softmax over scores"),
    ("gate: 0.5", "chunk: 0", 7, "layer1.attention.chunk: expected"),
    ("gate: 0.5", "gate: 0\n    chunk: 2", 7, "gate: 0, by which a chunk divides"),
    (MASKED, f"mask: none\n{MASKED}", 4, "mask: kind: delta reads the tokens one after the other"),
    (MASKED, f"padding: b\n{MASKED}", 4, "padding: kind: delta reads the tokens one after the"),
    (MASKED, f"positions: {{alibi: true}}\n{MASKED}", 4, "positions.alibi: kind: delta has no"),
)
# fmt: on


def test_queries_keys_and_values_can_be_typed() -> None:
    typed = SMALL.replace("{W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]]}",
                          "{Q: [[1], [2]], K: [[1], [1]], V: [[1], [0]]}")  # fmt: skip
    typed = typed.replace("embeddings: {a: [1, 0.5], b: [-0.5, 2]}\n", "")
    assert run("run", "-", stdin=typed).exit_code == 0
    weights = typed.replace("gate: 0.5", "gate: {W_A: [[1]]}")
    assert "no vectors to read" in run("run", "-", stdin=weights).stderr
