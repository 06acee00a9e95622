"""Linear attention and the delta rule: values by a closed form, gradients, a cache, errors."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.decoder.test_gradients import assert_slope
from tests.helpers import learning
from tests.helpers.command import printed
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.parts.recurrent.closed import floats, gates, head
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
    found: dict[str, Any] = gates(part, x, len(x))
    alpha, beta = found.pop("gate"), found.pop("beta")
    for h, own in enumerate(part["heads"]):
        q, k, v = (x @ floats(own[name]) for name in ("W_Q", "W_K", "W_V"))
        of_head = head(part, q, k, v, alpha[:, h], beta[:, h])
        found |= {f"head{h + 1}.{address}": value for address, value in of_head.items()}
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
    ran = traced(to_yaml({**spec, "arithmetic": arithmetic}))
    for address, value in expected(spec).items():
        assert_allclose(ran[AT + address].array, value, rtol=1e-12, atol=1e-12, err_msg=address)


@pytest.mark.parametrize("seed", range(8))
def test_gradients_are_slopes_of_the_loss(seed: int) -> None:
    batch = learning.batch_of(drawn(seed, tokens=3))
    found = learning.way_back(batch)
    gradients = learning.gradients_of(found)
    for address in gradients.keys() - {"embeddings"}:
        assert_slope(batch, found[address], gradients[address])


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
