"""Gates of head outputs: values by NumPy, gradients, training, a cache, PyTorch, errors."""

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
from tests.helpers.part_tests import cached_generations, refusals, slopes
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.parts.output_gate.scenario import HeadKeys
from tracer.scenario.loading import parse
from tracer.scenario.part import keys_of

AT = "layer1.attention."
WIDTH = 3


def matrix(rows: int, columns: int, rng: random.Random) -> list[list[Decimal]]:
    return [[Decimal(rng.randint(-99, 99)) / 100 for _ in range(columns)] for _ in range(rows)]


def drawn(seed: int) -> dict[str, Any]:
    """A random layer of three heads: one without a gate, one that shares keys and values."""
    rng = random.Random(seed)
    words = ["a", "b", "c", "a"]
    heads: list[dict[str, Any]] = [
        {**{name: matrix(WIDTH, 2, rng) for name in ("W_Q", "W_K")}, "W_V": matrix(WIDTH, d_v, rng)}
        for d_v in (2, 1)
    ]
    heads[0] |= {"W_G": matrix(WIDTH, 2, rng), "b_G": matrix(1, 2, rng)[0]}
    heads.append({"W_Q": matrix(WIDTH, 2, rng), "shares": 1, "W_G": matrix(WIDTH, 2, rng)})
    part: dict[str, Any] = {"heads": heads, "W_O": matrix(5, WIDTH, rng)}
    if seed % 2:
        part |= {"output_gate": "silu"}
    if seed % 4 > 1:
        part |= {"kind": "delta", "beta": Decimal("0.5"), "unit_length": {"epsilon": Decimal(1)}}
    table = {word: matrix(1, WIDTH, rng)[0] for word in dict.fromkeys(words)}
    return {
        "title": "gated",
        "tokens": words,
        "embeddings": table,
        "layers": [{"norm": {"kind": "rms_norm", "placement": "pre"}, "attention": part}],
        "vocabulary": list(table),
        "unembedding": {"W_U": matrix(WIDTH, len(table), rng)},
        "targets": [*words[1:], words[0]],
        "rounding": {"carry": "never"},
    }


def floats(numbers: Any) -> Any:
    return np.array(numbers, np.float64)


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("seed", range(8))
def test_outputs_are_multiplied_by_gates_of_what_attention_reads(
    seed: int, arithmetic: str
) -> None:
    spec = drawn(seed)
    ran = traced(to_yaml({**spec, "arithmetic": arithmetic}))
    part = spec["layers"][0]["attention"]
    x = floats([spec["embeddings"][token] for token in spec["tokens"]])
    x = x / np.sqrt((x**2).mean(axis=1, keepdims=True))
    behind = []
    for h, head in enumerate(part["heads"], start=1):
        output = ran[f"{AT}head{h}.output"].array
        if "W_G" in head:
            logits = x @ floats(head["W_G"]) + floats(head.get("b_G", 0))
            gate = 1 / (1 + np.exp(-logits)) * (logits if "output_gate" in part else 1)
            output = output * gate
            found = ran[f"{AT}head{h}.gated_output"].array
            assert_allclose(found, output, rtol=1e-12, atol=1e-12)
        behind.append(output)
    expected = np.hstack(behind) @ floats(part["W_O"])
    assert_allclose(ran[f"{AT}output"].array, expected, rtol=1e-12, atol=1e-12)


test_gradients_are_slopes_of_the_loss = slopes(
    {f"{seed}": drawn(seed) for seed in range(4)},
    *(f"{AT}{name}" for name in ("head1.W_G", "head1.b_G", "head3.W_G")),
)


def test_training_changes_the_gate(tmp_path: Path) -> None:
    spec, new = drawn(0), tmp_path / "new.yaml"
    spec["optimizer"] = {"learning_rate": Decimal("0.1")}
    printed("train", "-", "--save", str(new), stdin=to_yaml(spec))
    scenario = parse(new.read_text(encoding="utf-8"), "f.yaml")
    attention = scenario.layers[0].attention
    assert attention
    weights = keys_of(attention.heads[0], HeadKeys).W_G
    assert (
        weights
        and floats(weights).tolist()
        != floats(spec["layers"][0]["attention"]["heads"][0]["W_G"]).tolist()
    )
    trained = trace("f", scenario, PassOptions(loss=True))
    assert trained["loss"].numbers < learning.loss_of(learning.batch_of(spec))


test_a_cache_changes_no_number = cached_generations(
    {f"{seed}": to_yaml(drawn(seed)) for seed in (0, 2)}, addresses=(f"{AT}output", "logits")
)


def test_outputs_are_those_of_qwen3_next() -> None:
    """Its q_proj has each head's query, then its gate; the rest of the layer is switched off."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    qwen3_next: Any = pytest.importorskip(
        "transformers.models.qwen3_next.modeling_qwen3_next", exc_type=ImportError
    )
    rng = random.Random(5)
    head = {name: matrix(2, 2, rng) for name in ("W_Q", "W_K", "W_V", "W_G")}
    norm = {"kind": "rms_norm", "epsilon": Decimal("0.000001")}
    spec: dict[str, Any] = {
        "tokens": ["a", "b"],
        "embeddings": matrix(2, 2, rng),
        "layers": [
            {
                "attention": {
                    "heads": [head],
                    "W_O": matrix(2, 2, rng),
                    "query_norm": norm,
                    "key_norm": norm,
                }
            }
        ],
        "rounding": {"carry": "never"},
    }
    config = qwen3_next.Qwen3NextConfig(
        **{"hidden_size": 2, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 2},
        **{"num_hidden_layers": 1, "layer_types": ["full_attention"]},
    )
    config._attn_implementation = "eager"
    module = qwen3_next.Qwen3NextAttention(config, 0).double()
    weights = {
        "q_proj": np.hstack([floats(head["W_Q"]), floats(head["W_G"])]),
        **{f"{name}_proj": floats(head[f"W_{name.upper()}"]) for name in "kv"},
        "o_proj": floats(spec["layers"][0]["attention"]["W_O"]),
    }
    with torch.no_grad():
        for name, rows in weights.items():
            getattr(module, name).weight.copy_(torch.tensor(rows.T))
        hidden = torch.triu(torch.full((1, 1, 2, 2), -torch.inf, dtype=torch.float64), 1)
        still = torch.ones(1, 2, 2, dtype=torch.float64), torch.zeros(1, 2, 2).double()
        found, _ = module(torch.tensor(floats(spec["embeddings"]))[None], still, hidden)
    # Its softmax and norms compute in float32.
    assert_allclose(
        traced(to_yaml(spec))[f"{AT}output"].array, found[0].numpy(), rtol=1e-5, atol=1e-6
    )


SMALL = """\
title: a gate
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    output_gate: silu
    heads:
    - {W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]], W_G: [[1], [0.5]]}
    W_O: [[1, 0]]
"""


# fmt: off
test_what_does_not_fit = refusals(
    SMALL,
    ("W_G: [[1], [0.5]]", "W_G: [[1], [0.5], [1]]", 8, "layer1.attention.head1.W_G: 3 rows"),
    ("W_G: [[1], [0.5]]", "W_G: [[1, 1], [1, 1]]", 8, "head1.W_G: 2 columns, expected 1, as many"),
    ("[0.5]]", "[0.5]], b_G: [1, 2]", 8, "layer1.attention.head1.b_G: 2 numbers, expected 1"),
    (", W_G: [[1], [0.5]]", "", 6, "output_gate: a function of gates, but no head has W_G"),
    ("W_G: [[1], [0.5]]", "b_G: [1]", 8, "head1.b_G: a bias without W_G"),
    ("silu", "relu", 6, "layer1.attention.output_gate: expected"),
    ("    output_gate", "    latent: {W_DKV: [[1, 0], [0, 1]]}\n    output_gate", 9,
     "head1.W_G: a gate of latent attention is not supported"),
)
# fmt: on


def test_a_gate_needs_vectors() -> None:
    typed = SMALL.replace("W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]]",
                          "Q: [[1], [2]], K: [[1], [1]], V: [[1], [0]]")  # fmt: skip
    typed = typed.replace("embeddings: {a: [1, 0.5], b: [-0.5, 2]}\n", "")
    assert "no vectors to read" in run("run", "-", stdin=typed).stderr
