"""Qwen3-Next from a folder: its tensors are taken apart, against NumPy without heads."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tests.helpers.command import printed, run
from tests.helpers.tiny_models import naming
from tracer.decoder.forward import Trace, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.scenario.loading import load
from tracer.scenario.parts import learned

Array = NDArray[Any]
D, KEY_HEADS, HEADS, D_K, D_V, WINDOW, WORDS, EXPERTS, HIDDEN = 6, 2, 4, 3, 5, 3, 9, 3, 4
IDS = [3, 1, 4, 1, 5]
CONFIG: dict[str, Any] = {
    **{"model_type": "qwen3_next", "vocab_size": WORDS, "hidden_size": D, "head_dim": 4},
    **{"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1},
    **{"layer_types": ["linear_attention", "full_attention"], "rms_norm_eps": 1e-3},
    **{"linear_num_key_heads": KEY_HEADS, "linear_num_value_heads": HEADS},
    **{"linear_key_head_dim": D_K, "linear_value_head_dim": D_V, "linear_conv_kernel_dim": WINDOW},
    **{"num_experts": EXPERTS, "num_experts_per_tok": 2, "moe_intermediate_size": HIDDEN},
    **{"shared_expert_intermediate_size": HIDDEN, "bos_token_id": 0, "eos_token_id": 0},
    **{"partial_rotary_factor": 0.5, "max_position_embeddings": 16},
}


def drawn() -> dict[str, Array]:
    """Random tensors as a file has them: one row per output."""
    keys, values = KEY_HEADS * D_K, HEADS * D_V
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (WORDS, D),
        "model.norm.weight": (D,),
        "lm_head.weight": (WORDS, D),
    }
    for layer in range(2):
        at = f"model.layers.{layer}."
        shapes |= {f"{at}{norm}_layernorm.weight": (D,) for norm in ("input", "post_attention")}
        shapes |= {
            f"{at}mlp.gate.weight": (EXPERTS, D),
            f"{at}mlp.shared_expert_gate.weight": (1, D),
        }
        for expert in ("shared_expert", *(f"experts.{e}" for e in range(EXPERTS))):
            for name in ("gate_proj", "up_proj"):
                shapes[f"{at}mlp.{expert}.{name}.weight"] = (HIDDEN, D)
            shapes[f"{at}mlp.{expert}.down_proj.weight"] = (D, HIDDEN)
    shapes |= {
        f"model.layers.0.linear_attn.{name}": shape
        for name, shape in {
            "in_proj_qkvz.weight": (2 * keys + 2 * values, D),
            "in_proj_ba.weight": (2 * HEADS, D),
            "conv1d.weight": (2 * keys + values, 1, WINDOW),
            "A_log": (HEADS,),
            "dt_bias": (HEADS,),
            "norm.weight": (D_V,),
            "out_proj.weight": (D, values),
        }.items()
    }
    shapes |= {
        f"model.layers.1.self_attn.{name}.weight": shape
        for name, shape in {
            **{"q_proj": (16, D), "k_proj": (4, D), "v_proj": (4, D), "o_proj": (D, 8)},
            **{"q_norm": (4,), "k_norm": (4,)},
        }.items()
    }
    random = np.random.default_rng(2)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    save_file(drawn(), path / "model.safetensors")
    (path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(folder: Path) -> Trace:
    return trace("tiny", load(naming(folder, token_ids=IDS)).scenario)


def silu(x: Array) -> Array:
    found: Array = x / (1 + np.exp(-x))
    return found


def test_the_first_layer_is_the_gated_delta_rule(found: Trace) -> None:
    """With tensors of the file, in the order of the published code."""
    of = {
        name.removeprefix("model.layers.0.linear_attn."): numbers.astype(np.float64)
        for name, numbers in drawn().items()
    }
    x = found["layer1.attention.norm"].array
    n, keys = len(x), KEY_HEADS * D_K
    each = x @ of["in_proj_qkvz.weight"].T
    q, k, v, z = np.split(
        each.reshape(n, KEY_HEADS, -1), np.cumsum([D_K, D_K, HEADS // KEY_HEADS * D_V]), axis=2
    )
    rows = np.hstack([part.reshape(n, -1) for part in (q, k, v)])
    padded = np.vstack([np.zeros((WINDOW - 1, rows.shape[1])), rows])
    filters = of["conv1d.weight"][:, 0].T
    mixed = silu(sum(padded[j : j + n] * filters[j] for j in range(WINDOW)))
    q, k, v = np.split(mixed, [keys, 2 * keys], axis=1)
    q, k = (np.repeat(a.reshape(n, KEY_HEADS, D_K), HEADS // KEY_HEADS, axis=1) for a in (q, k))
    q, k = (a / np.sqrt((a**2).sum(axis=2, keepdims=True) + 1e-6) for a in (q, k))
    v, z = v.reshape(n, HEADS, D_V), z.reshape(n, HEADS, D_V)
    b, a = np.split((x @ of["in_proj_ba.weight"].T).reshape(n, KEY_HEADS, -1), 2, axis=2)
    beta = 1 / (1 + np.exp(-b.reshape(n, HEADS)))
    softplus = np.logaddexp(0, a.reshape(n, HEADS) + of["dt_bias"])
    gate = np.exp(-np.exp(of["A_log"]) * softplus)
    state, read = np.zeros((HEADS, D_K, D_V)), []
    for t in range(n):
        state = state * gate[t][:, None, None]
        error = v[t] - np.einsum("hkv,hk->hv", state, k[t])
        state = state + np.einsum("hk,hv,h->hkv", k[t], error, beta[t])
        read.append(np.einsum("hkv,hk->hv", state, q[t]) / np.sqrt(D_K))
    o = np.array(read)
    o = o / np.sqrt((o**2).mean(axis=2, keepdims=True) + 1e-3) * of["norm.weight"] * silu(z)
    expected = o.reshape(n, -1) @ of["out_proj.weight"].T
    assert_allclose(found["layer1.attention.output"].array, expected, rtol=1e-9, atol=1e-12)


def test_the_second_layer_has_a_gate_beside_each_query(found: Trace) -> None:
    q_proj = drawn()["model.layers.1.self_attn.q_proj.weight"].astype(np.float64)
    x = found["layer2.attention.norm"].array
    for head in (1, 2):
        query, gate = np.split(x @ q_proj[8 * head - 8 : 8 * head].T, 2, axis=1)
        at = f"layer2.attention.head{head}."
        assert_allclose(found[f"{at}query"].array, query, rtol=1e-9, atol=1e-12)
        expected = found[f"{at}output"].array / (1 + np.exp(-gate))
        assert_allclose(found[f"{at}gated_output"].array, expected, rtol=1e-9, atol=1e-12)


def test_numbers_that_several_heads_read_are_counted_once(folder: Path) -> None:
    scenario = load(naming(folder, token_ids=IDS)).scenario
    number = sum(tensor.size for tensor in drawn().values())
    assert sum(map(prod, learned(scenario).values())) == number
    told = " ".join(printed("shapes", naming(folder, token_ids=IDS), width=200).split())
    assert f"parameters {number:,} numbers that training would adjust" in told
    values_and_keys = KEY_HEADS * D_K + HEADS * D_V
    assert f"in their place would have {values_and_keys} for each token" in told
    kept = (WINDOW - 1) * (2 * KEY_HEADS * D_K + HEADS * D_V)
    assert f"before each convolution, {kept} numbers in all" in told


def test_a_cache_generates_the_same_text(folder: Path) -> None:
    scenario = load(naming(folder, token_ids=IDS)).scenario
    plain, cached = (
        generate("tiny", scenario, GenerationOptions(scenario.tokens, 4, cached=cached)).steps
        for cached in (False, True)
    )
    for one, other in zip(plain, cached, strict=True):
        ours, theirs = (step.trace["logits"].array[-1] for step in (one, other))
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("key", "said", "message"), [
    ("layer_types", ["linear_attention"] * 2, "layer_types: expected a layer of full_attention"),
    ("layer_types", ["full_attention", "mamba"], "supported are linear_attention and full"),
    ("linear_num_value_heads", 3, "3 heads with the delta rule, expected a multiple of the 2"),
    ("linear_key_head_dim", None, "linear_key_head_dim: got null, expected a whole number"),
    ("hidden_act", "gelu", "it is also the function behind the convolutions"),
    ("attention_bias", True, "attention_bias: got true"),
    ("mlp_only_layers", [0], "some layers have no experts"),
    ("decoder_sparse_step", 2, "only some layers have experts"),
])  # fmt: skip
def test_a_configuration_is_refused(tmp_path: Path, key: str, said: Any, message: str) -> None:
    save_file(drawn(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, key: said}), encoding="utf-8")
    ran = run("run", naming(tmp_path, token_ids=IDS))
    assert ran.exit_code == 2
    assert message in " ".join(ran.stderr.split()), ran.stderr
