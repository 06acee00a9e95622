"""A scenario with a model's weights computes the logits that transformers computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.helpers.scenario_yaml import Scenario
from tracer.decoder.forward import trace
from tracer.scenario.model import Scenario as Model

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

IDS = [3, 1, 4, 1, 5]
WORDS = [f"w{number}" for number in range(8)]
SMALL: Scenario = {
    **{"vocab_size": len(WORDS), "hidden_size": 8, "intermediate_size": 6, "head_dim": 4},
    **{"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1},
    **{"max_position_embeddings": 16, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0},
}


def logits_of(name: str, config: Scenario, settings: Scenario) -> tuple[Any, Mapping[str, Any]]:
    """The logits of a small model with random weights, and the weights."""
    torch.manual_seed(1)
    kind = getattr(transformers, name)
    asked = kind.config_class(**config | settings)
    model = kind._from_config(asked, attn_implementation="eager").double().eval()
    with torch.no_grad():
        for numbers in model.parameters():
            numbers.copy_(torch.randn_like(numbers) * 0.5)
        logits = model(torch.tensor([IDS])).logits[0].numpy()
    return logits, {name: each.numpy() for name, each in model.state_dict().items()}


def columns(weights: Any, first: int, width: int) -> list[list[float]]:
    """The columns of one head of x · W, of weights that are stored with a row for each column."""
    found: list[list[float]] = weights[first : first + width].T.tolist()
    return found


def norm(weights: Mapping[str, Any], name: str, **settings: Any) -> Scenario:
    """An RMSNorm as a scenario says it."""
    return {
        "kind": "rms_norm",
        "epsilon": 1e-6,
        "gain": weights[f"{name}.weight"].tolist(),
    } | settings


def attention(weights: Mapping[str, Any], at: str) -> Scenario:
    """Two heads that share keys and values."""
    q, k, v = (weights[f"{at}.self_attn.{name}_proj.weight"] for name in "qkv")
    heads: list[Scenario] = [
        {"W_Q": columns(q, 0, 4), "W_K": columns(k, 0, 4), "W_V": columns(v, 0, 4)},
        {"W_Q": columns(q, 4, 4), "shares": 1},
    ]
    found: Scenario = {"heads": heads, "W_O": weights[f"{at}.self_attn.o_proj.weight"].T.tolist()}
    for key, name in (("query_norm", "q_norm"), ("key_norm", "k_norm")):
        if f"{at}.self_attn.{name}.weight" in weights:
            found[key] = norm(weights, f"{at}.self_attn.{name}")
    return found


def ffn(weights: Mapping[str, Any], at: str, activation: str) -> Scenario:
    """A gated FFN."""
    names = {"W_1": "gate", "W_3": "up", "W_2": "down"}
    matrices = {
        key: weights[f"{at}.mlp.{name}_proj.weight"].T.tolist() for key, name in names.items()
    }
    return {**matrices, "activation": activation}


LAYERS = ("model.layers.0", "model.layers.1")


def before(weights: Mapping[str, Any], at: str, activation: str, **settings: Any) -> Scenario:
    """A layer with a norm before each sub-layer."""
    first, second = (
        {"norm": norm(weights, f"{at}.{name}", placement="pre", **settings)}
        for name in ("input_layernorm", "post_attention_layernorm")
    )
    return {
        "attention": attention(weights, at) | first,
        "ffn": ffn(weights, at, activation) | second,
    }


def both(weights: Mapping[str, Any], at: str) -> Scenario:
    """A layer with a norm before and a norm after each sub-layer, as Gemma 2 has them."""
    first, last, third, fourth = (
        norm(weights, f"{at}.{name}layernorm", unit_offset=True)
        for name in ("input_", "post_attention_", "pre_feedforward_", "post_feedforward_")
    )
    pre = {"placement": "pre"}
    return {
        "attention": attention(weights, at) | {"norm": first | pre, "norm_after": last},
        "ffn": ffn(weights, at, "gelu_tanh") | {"norm": third | pre, "norm_after": fourth},
    }


def logits_here(weights: Mapping[str, Any], layers: list[Scenario], parts: Scenario) -> Any:
    """The logits of the scenario."""
    spec = {
        **{"tokens": [WORDS[number] for number in IDS], "vocabulary": WORDS, "layers": layers},
        "embeddings": dict(zip(WORDS, weights["model.embed_tokens.weight"].tolist(), strict=True)),
        "unembedding": {"W_U": weights["lm_head.weight"].T.tolist()},
        "positions": {"rotary": {"layout": "halves"}},
        **{"arithmetic": "float64", "rounding": {"carry": "never"}},
        **parts,
    }
    return trace("t", Model.model_validate(typed(spec)))["logits"].array


def typed(data: Any) -> Any:
    """Numbers as texts, which is how a file says them."""
    match data:
        case dict():
            return {key: typed(each) for key, each in data.items()}
        case list():
            return [typed(each) for each in data]
        case bool():
            return data
        case _:
            return str(data)


def test_gemma() -> None:
    theirs, weights = logits_of("GemmaForCausalLM", SMALL, {})
    layers = [before(weights, at, "gelu_tanh", unit_offset=True) for at in LAYERS]
    final = norm(weights, "model.norm", unit_offset=True)
    ours = logits_here(weights, layers, {"final_norm": final, "embedding_scale": "sqrt"})
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_qwen_3() -> None:
    """Norms of queries and keys."""
    theirs, weights = logits_of("Qwen3ForCausalLM", SMALL, {"tie_word_embeddings": False})
    layers = [before(weights, at, "silu") for at in LAYERS]
    assert "query_norm" in layers[0]["attention"]
    ours = logits_here(weights, layers, {"final_norm": norm(weights, "model.norm")})
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["Gemma2ForCausalLM", "Gemma3ForCausalLM"])
def test_gemma_2_and_3(name: str) -> None:
    """Norms before and after each sub-layer; Gemma 3 normalizes queries and keys, too."""
    settings: Scenario = {
        **{"attn_logit_softcapping": None, "final_logit_softcapping": None},
        **{"query_pre_attn_scalar": 4, "layer_types": ["full_attention"] * 2},
        "rope_parameters": {
            of: {"rope_type": "default", "rope_theta": 10000.0}
            for of in ("full_attention", "sliding_attention")
        },
    }
    if name == "Gemma2ForCausalLM":
        del settings["rope_parameters"]
    theirs, weights = logits_of(name, SMALL, settings)
    layers = [both(weights, at) for at in LAYERS]
    for layer in layers:
        for of in ("query_norm", "key_norm"):
            if of in layer["attention"]:
                layer["attention"][of]["unit_offset"] = True
    assert ("query_norm" in layers[0]["attention"]) == ("3" in name)
    final = norm(weights, "model.norm", unit_offset=True)
    ours = logits_here(weights, layers, {"final_norm": final, "embedding_scale": "sqrt"})
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
