"""Parallel attention and FFN compute the logits that transformers computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.decoder.test_models_of_transformers import IDS, WORDS, logits_of, typed
from tests.helpers.scenario_yaml import Scenario
from tracer.decoder.forward import trace
from tracer.scenario.model import Scenario as Model

Weights = Mapping[str, Any]

D_K = 4
SMALL: Scenario = {"vocab_size": len(WORDS), "tie_word_embeddings": False}
NAMED: Scenario = {
    **{"hidden_size": 8, "intermediate_size": 6, "num_hidden_layers": 2},
    **{"num_attention_heads": 2, "max_position_embeddings": 16},
}


def norm(weights: Weights, name: str, placement: str = "pre") -> Scenario:
    """A LayerNorm; the last one of a model has no placement."""
    found: Scenario = {"epsilon": 1e-5} | linear(weights, name, "gain", "shift")
    return found | ({"placement": placement} if placement else {})


def linear(weights: Weights, name: str, matrix: str, bias: str) -> Scenario:
    """A matrix or γ, stored with a row for each column, and its bias, if there is one."""
    found: Scenario = {matrix: weights[f"{name}.weight"].T.tolist()}
    if f"{name}.bias" in weights:
        found[bias] = weights[f"{name}.bias"].tolist()
    return found


def head(number: int, rows: Mapping[str, tuple[Any, Any]]) -> Scenario:
    """One of the heads, of which each has some rows of the stored weights."""
    own = slice(number * D_K, (number + 1) * D_K)
    found: Scenario = {}
    for name, (matrix, bias) in rows.items():
        found[f"W_{name}"] = matrix[own].T.tolist()
        if bias is not None:
            found[f"b_{name}"] = bias[own].tolist()
    return found


def separate(weights: Weights, at: str) -> list[Scenario]:
    """Heads of models that store queries, keys and values apart."""
    rows = {
        name: (
            weights[f"{at}.{name.lower()}_proj.weight"],
            weights.get(f"{at}.{name.lower()}_proj.bias"),
        )
        for name in "QKV"
    }
    return [head(number, rows) for number in range(2)]


def fused(weights: Weights, at: str) -> list[Scenario]:
    """Heads of GPT-NeoX, which stores query, key and value of each head together."""
    matrix, bias = (weights[f"{at}.query_key_value.{end}"] for end in ("weight", "bias"))
    apart, biases = matrix.reshape(2, 3, D_K, 8), bias.reshape(2, 3, D_K)
    return [
        head(0, {name: (apart[number, i], biases[number, i]) for i, name in enumerate("QKV")})
        for number in range(2)
    ]


def gpt_neox(weights: Weights, number: int) -> Scenario:
    """A layer with one norm for attention and one for the FFN."""
    at = f"gpt_neox.layers.{number}"
    return {
        "attention": {
            **linear(weights, f"{at}.attention.dense", "W_O", "b_O"),
            "heads": fused(weights, f"{at}.attention"),
            "norm": norm(weights, f"{at}.input_layernorm"),
        },
        "ffn": {
            **linear(weights, f"{at}.mlp.dense_h_to_4h", "W_1", "b_1"),
            **linear(weights, f"{at}.mlp.dense_4h_to_h", "W_2", "b_2"),
            "norm": norm(weights, f"{at}.post_attention_layernorm"),
            "activation": "gelu",
        },
    }


def gpt_j(weights: Weights, number: int) -> Scenario:
    """A layer with one norm."""
    at = f"transformer.h.{number}"
    return {
        "norm": norm(weights, f"{at}.ln_1"),
        "attention": {
            **linear(weights, f"{at}.attn.out_proj", "W_O", "b_O"),
            "heads": separate(weights, f"{at}.attn"),
        },
        "ffn": {
            **linear(weights, f"{at}.mlp.fc_in", "W_1", "b_1"),
            **linear(weights, f"{at}.mlp.fc_out", "W_2", "b_2"),
            "activation": "gelu_tanh",
        },
    }


def phi(weights: Weights, number: int) -> Scenario:
    """A layer in which attention's norm is the only one."""
    at = f"model.layers.{number}"
    return {
        "attention": {
            **linear(weights, f"{at}.self_attn.dense", "W_O", "b_O"),
            "heads": separate(weights, f"{at}.self_attn"),
            "norm": norm(weights, f"{at}.input_layernorm"),
        },
        "ffn": {
            **linear(weights, f"{at}.mlp.fc1", "W_1", "b_1"),
            **linear(weights, f"{at}.mlp.fc2", "W_2", "b_2"),
            "activation": "gelu_tanh",
        },
    }


GPT_J: Scenario = {
    **{"n_embd": 8, "n_inner": 6, "n_layer": 2, "n_head": 2, "n_positions": 16},
    "rotary_dim": 2,
}
HALF: Scenario = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}

MODELS: dict[
    str, tuple[Scenario, Callable[[Weights, int], Scenario], tuple[str, str, str], str]
] = {
    "GPTNeoXForCausalLM": (
        NAMED | {"rope_parameters": HALF, "use_parallel_residual": True},
        gpt_neox,
        ("gpt_neox.embed_in", "gpt_neox.final_layer_norm", "lm_head"),
        "halves",
    ),
    "GPTJForCausalLM": (
        GPT_J,
        gpt_j,
        ("transformer.wte", "transformer.ln_f", "lm_head"),
        "pairs",
    ),
    "PhiForCausalLM": (
        NAMED | {"rope_parameters": HALF},
        phi,
        ("model.embed_tokens", "model.final_layernorm", "lm_head"),
        "halves",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_parallel_layers(name: str) -> None:
    config, layer, (embeddings, last, to_words), layout = MODELS[name]
    theirs, weights = logits_of(name, SMALL | config, {})
    layers = [layer(weights, number) for number in range(2)]
    spec = {
        **{"tokens": [WORDS[number] for number in IDS], "vocabulary": WORDS},
        "embeddings": dict(zip(WORDS, weights[f"{embeddings}.weight"].tolist(), strict=True)),
        "positions": {"rotary": {"layout": layout, "share": 0.5}},
        "layers": [each | {"parallel": True} for each in layers],
        "final_norm": norm(weights, last, ""),
        "unembedding": linear(weights, to_words, "W_U", "b_U"),
        **{"arithmetic": "float64", "rounding": {"carry": "never"}},
    }
    ours = trace("t", Model.model_validate(typed(spec)))["logits"].array
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    other = trace("t", Model.model_validate(typed(spec | {"layers": layers})))
    assert np.abs(other["logits"].array - theirs).max() > 0.01
