"""The families of models in GGUF files: the tensors and parts of each.

Mistral's models are called llama in these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.architecture import Activation, NormKind, RotaryLayout
from tracer.checkpoints.layouts import Layout, layout
from tracer.dataclass import frozen


@frozen
class GGUFFamily:
    """What a family's values and tensors mean; a key that nothing here names is refused."""

    norm: NormKind
    epsilon: str
    """The key of ε."""
    activation: Activation
    gated: bool
    rotary: RotaryLayout | None
    """None if positions are a table."""
    biases: str | None
    """The attention projections with biases; None if the tensors say so."""
    layout: Layout
    of_heads: bool = False
    """Whether the queries and the keys of each head are normalized."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""


_OF_ALL = {
    "embeddings": "token_embd",
    "final_norm.gain": "output_norm",
    "unembedding.W_U": "output",
    "layer.attention.norm.gain": "attn_norm",
    "layer.attention.W_O": "attn_output",
    "layer.ffn.norm.gain": "ffn_norm",
    "layer.ffn.W_2": "ffn_down",
}
GPT2 = GGUFFamily(
    norm="layer_norm",
    epsilon="attention.layer_norm_epsilon",
    activation="gelu_tanh",
    gated=False,
    rotary=None,
    biases="QKVO",
    layout=layout(
        {
            **_OF_ALL,
            "positions": "position_embd",
            "layer.attention.W_QKV": "attn_qkv",
            "layer.ffn.W_1": "ffn_up",
        },
        "blk.{}.",
        ("layer.", "final_norm."),
        transposed=True,
    ),
)
LLAMA = GGUFFamily(
    norm="rms_norm",
    epsilon="attention.layer_norm_rms_epsilon",
    activation="silu",
    gated=True,
    rotary="pairs",
    biases=None,
    layout=layout(
        {
            **_OF_ALL,
            "layer.attention.W_Q": "attn_q",
            "layer.attention.W_K": "attn_k",
            "layer.attention.W_V": "attn_v",
            "layer.ffn.W_1": "ffn_gate",
            "layer.ffn.W_3": "ffn_up",
        },
        "blk.{}.",
        ("layer.attention.W",),
        transposed=True,
        unused=("rope_freqs.weight",),  # which is read with the architecture
    ),
)
QWEN2 = replace(LLAMA, rotary="halves")
QWEN3 = replace(
    QWEN2,
    of_heads=True,
    layout=replace(
        LLAMA.layout,
        names={
            **LLAMA.layout.names,
            "layer.attention.query_norm.gain": "blk.{}.attn_q_norm.weight",
            "layer.attention.key_norm.gain": "blk.{}.attn_k_norm.weight",
        },
    ),
)
GEMMA = replace(QWEN2, activation="gelu_tanh", scales_embeddings=True)
"""These files store 1 + γ."""
PHI3 = replace(
    QWEN2,
    biases="",
    layout=layout(
        {**_OF_ALL, "layer.attention.W_QKV": "attn_qkv", "layer.ffn.W_13": "ffn_up"},
        "blk.{}.",
        (),
        transposed=True,
    ),
)

FAMILIES: Mapping[str, GGUFFamily] = {
    "gemma": GEMMA,
    "gpt2": GPT2,
    "llama": LLAMA,
    "phi3": PHI3,
    "qwen2": QWEN2,
    "qwen3": QWEN3,
}
"""By `general.architecture`."""
