"""The name and layout of each parameter in a format's files.

A `{}` stands for the layer's number, counted from 0. All heads are side by side in a matrix;
`W_QKV` holds the queries, the keys and the values of all heads, `W_13` W_1 and W_3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Layout:
    """The tensor of each parameter; the names of a layer's own parameters begin with `layer.`."""

    names: Mapping[str, str]
    transposed: bool
    """Whether a matrix is stored with one row per output, for W·x."""
    unused: tuple[str, ...] = ()
    """Patterns of tensors that add nothing to the others."""
    by_head: bool = False
    """Whether W_QKV holds the queries, keys and values of each head side by side."""
    older: Mapping[str, str] = field(default_factory=dict)
    """Older names of tensors, with their names."""
    prefix: str = ""
    """The prefix of all names but the unembedding's; a model may be saved without it."""
    optional: tuple[str, ...] = ()
    """Parameters that a file may leave out."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Tensors that must have the same numbers as another one, if they are there."""


def layout(
    tensors: Mapping[str, str],
    layer: str,
    biased: tuple[str, ...],
    *,
    transposed: bool,
    unused: tuple[str, ...] = (),
    by_head: bool = False,
    older: Mapping[str, str] | None = None,
    prefix: str = "",
) -> Layout:
    """Return the layout of tensors that are given without `.weight` and `.bias`.

    `layer` begins the names of a layer's own tensors. Parameters whose addresses begin with an
    entry of `biased` may have biases.
    """
    names: dict[str, str] = {}
    for parameter, name in tensors.items():
        tensor = layer + name if parameter.startswith("layer.") else name
        tensor = tensor if parameter == "unembedding.W_U" else prefix + tensor
        names[parameter] = f"{tensor}.weight"
        if parameter.startswith(biased):
            bias = parameter.replace("W_", "b_").replace("gain", "shift")
            names[bias] = f"{tensor}.bias"
    return Layout(names, transposed, unused, by_head, older or {}, prefix)


def with_query_key_norms(llama: Layout) -> Layout:
    """Return Llama's layout with a gain for the norm of queries, and one for that of keys."""
    attention = f"{llama.prefix}layers.{{}}.self_attn."
    own = {
        "layer.attention.query_norm.gain": f"{attention}q_norm.weight",
        "layer.attention.key_norm.gain": f"{attention}k_norm.weight",
    }
    return replace(llama, names={**llama.names, **own})


def with_fused_matrices(llama: Layout, attention: str, ffn: str) -> Layout:
    """Return Llama's layout with W_Q, W_K and W_V in one matrix, and W_1 and W_3 in another."""
    layer = f"{llama.prefix}layers.{{}}."
    apart = (*(f"{kind}_{part}" for kind in "Wb" for part in "QKV"), "W_1", "W_3")
    others = {key: name for key, name in llama.names.items() if not key.endswith(apart)}
    fused = {
        "layer.attention.W_QKV": f"{layer}{attention}.weight",
        "layer.ffn.W_13": f"{layer}{ffn}.weight",
    }
    return replace(llama, names={**others, **fused})


def with_norms_after(llama: Layout, *, before: bool = True) -> Layout:
    """Return Llama's layout with norms after each sub-layer, and maybe before (Gemma 2, OLMo 2)."""
    layer = f"{llama.prefix}layers.{{}}."
    own = {
        "attention.norm": "input_layernorm",
        "attention.norm_after": "post_attention_layernorm",
        "ffn.norm": "pre_feedforward_layernorm",
        "ffn.norm_after": "post_feedforward_layernorm",
    }
    others = {key: name for key, name in llama.names.items() if not key.endswith(".norm.gain")}
    norms = {
        f"layer.{norm}.gain": f"{layer}{name}.weight"
        for norm, name in own.items()
        if before or norm.endswith("after")
    }
    return replace(llama, names={**others, **norms})


def with_experts(llama: Layout, router: str, experts: str, matrices: tuple[str, ...]) -> Layout:
    """Return Llama's layout with a router and experts, whose W_1, W_3 and W_2 are `matrices`."""
    layer = f"{llama.prefix}layers.{{}}."
    own = {
        f"layer.ffn.expert.{name}": f"{layer}{experts}{matrix}.weight"
        for name, matrix in zip(("W_1", "W_3", "W_2"), matrices, strict=True)
    }
    others = {key: name for key, name in llama.names.items() if ".ffn.W_" not in key}
    return replace(llama, names={**others, "layer.ffn.router": f"{layer}{router}.weight", **own})
