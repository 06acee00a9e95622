"""Models with the names of nanoGPT and minGPT, which are GPT-2's with torch.nn.Linear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.errors import Problem, TracerError

HEADS = ("n_head", "n_heads", "num_heads", "num_attention_heads")
"""Names of the attribute that holds the number of heads, in an attention or a configuration."""
ACTIVATION = "activation_function"
_SIZES = {
    **{"wte": "num_embeddings", "wpe": "num_embeddings", "ln_f": "weight"},
    **{"h.0.attn.c_attn": "out_features", "h.0.mlp.c_fc": "out_features"},
}
"""Modules that the model has, and an attribute of each: those of torch.nn.Linear and so on."""
_TRANSPOSED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")


def config_of(modules: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values of GPT-2's config.json for a model with its names; None for another one.

    The activation is None if no module of the FFN says it.

    Raises:
        TracerError: nothing says the number of heads.
    """
    prefix = "transformer." if "transformer" in modules else ""
    named = {name.removeprefix(prefix): module for name, module in modules.items()}
    if not all(hasattr(named.get(name), size) for name, size in _SIZES.items()):
        return None
    embeddings, positions, hidden = (named[name] for name in ("wte", "wpe", "h.0.mlp.c_fc"))
    places = (named["h.0.attn"], modules[""], getattr(modules[""], "config", None))
    heads = next((n for at in places for key in HEADS if (n := getattr(at, key, None))), None)
    if heads is None:
        message = (
            f"nothing says the number of heads, expected an attribute {' or '.join(HEADS[:2])}"
        )
        raise TracerError(Problem(message, address="h.0.attn"))
    own = modules.get("lm_head")
    return {
        **{"model_type": "gpt2", "n_head": int(heads)},
        "n_layer": sum(name.startswith("h.") and name.count(".") == 1 for name in named),
        "vocab_size": embeddings.num_embeddings,
        "n_positions": positions.num_embeddings,
        **{"n_embd": embeddings.embedding_dim, "n_inner": hidden.out_features},
        "layer_norm_epsilon": getattr(named["ln_f"], "eps", 1e-5),
        "tie_word_embeddings": own is None or own.weight is embeddings.weight,
        ACTIVATION: next(
            (
                name
                for place, module in named.items()
                if place.startswith("h.0.mlp.") and (name := _activation(module))
            ),
            None,
        ),
    }


def _activation(module: Any) -> str | None:
    match type(module).__name__:
        case "GELU":
            return "gelu_new" if module.approximate == "tanh" else "gelu"
        case "NewGELU":
            return "gelu_new"
        case "ReLU" | "SiLU" as name:
            return name.lower()
    return None


def gpt2_tensors(modules: Mapping[str, Any], tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors as GPT-2 has them: matrices for x·W, and zeros as missing biases."""
    found = {
        name: tensor.T if name.endswith(_TRANSPOSED) else tensor for name, tensor in tensors.items()
    }
    for name, tensor in [*found.items()]:
        place, _, end = name.rpartition(".")
        is_biased = end == "weight" and place.rpartition(".")[2].startswith(("c_", "ln_"))
        if is_biased and f"{place}.bias" not in found:
            found[f"{place}.bias"] = tensor.new_zeros(tensor.shape[-1])
    return found
