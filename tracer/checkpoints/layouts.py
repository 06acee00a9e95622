"""The name and layout of each parameter, by file format and family.

A `{}` stands for the layer's number, counted from 0. All heads are side by side in a matrix;
`W_QKV` holds the queries, the keys and the values of all heads.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.architecture import Family
from tracer.frozen import frozen


@frozen
class Layout:
    """The tensor of each parameter; the names of a layer's own parameters begin with `layer.`."""

    names: Mapping[str, str]
    transposed: bool
    """Whether a matrix is stored with one row per output, for W·x."""
    unused: tuple[str, ...] = ()
    """Patterns of tensors that add nothing to the others."""
    prefix: str = ""
    """The prefix of all names but the unembedding's; a model may be saved without it."""


_TENSORS: Mapping[str, tuple[str | None, str | None, str | None, str | None]] = {
    "embeddings": ("token_embd", "token_embd", "embed_tokens", "wte"),
    "positions": (None, "position_embd", None, "wpe"),
    "final_norm.gain": ("output_norm", "output_norm", "norm", "ln_f"),
    "unembedding.W_U": ("output", "output", "lm_head", "lm_head"),
    "layer.attention.norm.gain": ("attn_norm", "attn_norm", "input_layernorm", "ln_1"),
    "layer.attention.W_Q": ("attn_q", None, "self_attn.q_proj", None),
    "layer.attention.W_K": ("attn_k", None, "self_attn.k_proj", None),
    "layer.attention.W_V": ("attn_v", None, "self_attn.v_proj", None),
    "layer.attention.W_QKV": (None, "attn_qkv", None, "attn.c_attn"),
    "layer.attention.W_O": ("attn_output", "attn_output", "self_attn.o_proj", "attn.c_proj"),
    "layer.ffn.norm.gain": ("ffn_norm", "ffn_norm", "post_attention_layernorm", "ln_2"),
    "layer.ffn.W_1": ("ffn_gate", "ffn_up", "mlp.gate_proj", "mlp.c_fc"),
    "layer.ffn.W_3": ("ffn_up", None, "mlp.up_proj", None),
    "layer.ffn.W_2": ("ffn_down", "ffn_down", "mlp.down_proj", "mlp.c_proj"),
}
"""Tensor names without `.weight` and `.bias`: GGUF's Llama and GPT-2, then Hugging Face's."""
GGUF_LLAMA, GGUF_GPT2, LLAMA, GPT2 = range(4)

ALL_BIASES = ("layer.", "final_norm.")


def _names(column: int, layer: str, biased: tuple[str, ...], prefix: str = "") -> dict[str, str]:
    """Return the tensors of a column; `layer` begins the names of a layer's own tensors.

    Parameters whose names begin with an entry of `biased` have biases.
    """
    found: dict[str, str] = {}
    for parameter, names in _TENSORS.items():
        if name := names[column]:
            tensor = layer + name if parameter.startswith("layer.") else name
            tensor = tensor if name == "lm_head" else prefix + tensor
            found[parameter] = f"{tensor}.weight"
            if parameter.startswith(biased):
                bias = parameter.replace("W_", "b_").replace("gain", "shift")
                found[bias] = f"{tensor}.bias"
    return found


# The factors of the rotary angles are read with the architecture.
_GGUF_LLAMA = Layout(
    _names(GGUF_LLAMA, "blk.{}.", ("layer.attention.W",)), True, ("rope_freqs.weight",)
)
_OF_GPT2, _OF_LLAMA = "transformer.", "model."
_LLAMA = Layout(
    _names(LLAMA, "layers.{}.", ("layer.attention.W",), _OF_LLAMA),
    True,
    ("*.rotary_emb.inv_freq",),
    _OF_LLAMA,
)

GGUF: Mapping[Family, Layout] = {
    "gpt2": Layout(_names(GGUF_GPT2, "blk.{}.", ALL_BIASES), True),
    "llama": _GGUF_LLAMA,
    "qwen2": _GGUF_LLAMA,
}

HUGGING_FACE: Mapping[Family, Layout] = {
    "gpt2": Layout(
        _names(GPT2, "h.{}.", ALL_BIASES, _OF_GPT2),
        False,
        ("*.attn.bias", "*.attn.masked_bias"),
        _OF_GPT2,
    ),
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "qwen2": _LLAMA,
}
