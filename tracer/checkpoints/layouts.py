"""What each format calls the parameters of each family, and how it lays them out.

A `{}` stands for the layer's number, counted from 0. All heads lie side by side in a matrix;
`W_QKV` holds the queries, the keys and the values of all heads.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.architecture import Family
from tracer.frozen import frozen


@frozen
class Layout:
    """The tensor of each parameter; `layer.` stands before what each layer has of its own."""

    names: Mapping[str, str]
    transposed: bool
    """Whether a matrix is stored with a row for each output, to be multiplied as W·x."""
    optional: frozenset[str] = frozenset()
    """What a model may lack."""
    unused: tuple[str, ...] = ()
    """Patterns of tensors that say nothing which is not known without them."""


ATTENTION_BIASES = frozenset(f"layer.attention.b_{part}" for part in "QKVO")

_GGUF_ENDS = {
    "embeddings": "token_embd.weight",
    "final_norm.gain": "output_norm.weight",
    "unembedding.W_U": "output.weight",
}
_GGUF_LLAMA = _GGUF_ENDS | {
    "layer.attention.norm.gain": "blk.{}.attn_norm.weight",
    "layer.attention.W_Q": "blk.{}.attn_q.weight",
    "layer.attention.b_Q": "blk.{}.attn_q.bias",
    "layer.attention.W_K": "blk.{}.attn_k.weight",
    "layer.attention.b_K": "blk.{}.attn_k.bias",
    "layer.attention.W_V": "blk.{}.attn_v.weight",
    "layer.attention.b_V": "blk.{}.attn_v.bias",
    "layer.attention.W_O": "blk.{}.attn_output.weight",
    "layer.attention.b_O": "blk.{}.attn_output.bias",
    "layer.ffn.norm.gain": "blk.{}.ffn_norm.weight",
    "layer.ffn.W_1": "blk.{}.ffn_gate.weight",
    "layer.ffn.W_3": "blk.{}.ffn_up.weight",
    "layer.ffn.W_2": "blk.{}.ffn_down.weight",
}
_GGUF_GPT2 = _GGUF_ENDS | {
    "positions": "position_embd.weight",
    "layer.attention.norm.gain": "blk.{}.attn_norm.weight",
    "layer.attention.norm.shift": "blk.{}.attn_norm.bias",
    "layer.attention.W_QKV": "blk.{}.attn_qkv.weight",
    "layer.attention.b_QKV": "blk.{}.attn_qkv.bias",
    "layer.attention.W_O": "blk.{}.attn_output.weight",
    "layer.attention.b_O": "blk.{}.attn_output.bias",
    "layer.ffn.norm.gain": "blk.{}.ffn_norm.weight",
    "layer.ffn.norm.shift": "blk.{}.ffn_norm.bias",
    "layer.ffn.W_1": "blk.{}.ffn_up.weight",
    "layer.ffn.b_1": "blk.{}.ffn_up.bias",
    "layer.ffn.W_2": "blk.{}.ffn_down.weight",
    "layer.ffn.b_2": "blk.{}.ffn_down.bias",
    "final_norm.shift": "output_norm.bias",
}
_LLAMA = {
    "embeddings": "model.embed_tokens.weight",
    "layer.attention.norm.gain": "model.layers.{}.input_layernorm.weight",
    "layer.attention.W_Q": "model.layers.{}.self_attn.q_proj.weight",
    "layer.attention.b_Q": "model.layers.{}.self_attn.q_proj.bias",
    "layer.attention.W_K": "model.layers.{}.self_attn.k_proj.weight",
    "layer.attention.b_K": "model.layers.{}.self_attn.k_proj.bias",
    "layer.attention.W_V": "model.layers.{}.self_attn.v_proj.weight",
    "layer.attention.b_V": "model.layers.{}.self_attn.v_proj.bias",
    "layer.attention.W_O": "model.layers.{}.self_attn.o_proj.weight",
    "layer.attention.b_O": "model.layers.{}.self_attn.o_proj.bias",
    "layer.ffn.norm.gain": "model.layers.{}.post_attention_layernorm.weight",
    "layer.ffn.W_1": "model.layers.{}.mlp.gate_proj.weight",
    "layer.ffn.W_3": "model.layers.{}.mlp.up_proj.weight",
    "layer.ffn.W_2": "model.layers.{}.mlp.down_proj.weight",
    "final_norm.gain": "model.norm.weight",
    "unembedding.W_U": "lm_head.weight",
}
_GPT2 = {
    "embeddings": "wte.weight",
    "positions": "wpe.weight",
    "layer.attention.norm.gain": "h.{}.ln_1.weight",
    "layer.attention.norm.shift": "h.{}.ln_1.bias",
    "layer.attention.W_QKV": "h.{}.attn.c_attn.weight",
    "layer.attention.b_QKV": "h.{}.attn.c_attn.bias",
    "layer.attention.W_O": "h.{}.attn.c_proj.weight",
    "layer.attention.b_O": "h.{}.attn.c_proj.bias",
    "layer.ffn.norm.gain": "h.{}.ln_2.weight",
    "layer.ffn.norm.shift": "h.{}.ln_2.bias",
    "layer.ffn.W_1": "h.{}.mlp.c_fc.weight",
    "layer.ffn.b_1": "h.{}.mlp.c_fc.bias",
    "layer.ffn.W_2": "h.{}.mlp.c_proj.weight",
    "layer.ffn.b_2": "h.{}.mlp.c_proj.bias",
    "final_norm.gain": "ln_f.weight",
    "final_norm.shift": "ln_f.bias",
    "unembedding.W_U": "lm_head.weight",
}

# The factors of the rotary angles are read with the architecture.
_GGUF_UNUSED = ("rope_freqs.weight",)
_ONLY_OUTPUT = frozenset({"layer.attention.b_O"})

GGUF: Mapping[Family, Layout] = {
    "gpt2": Layout(_GGUF_GPT2, True),
    "llama": Layout(_GGUF_LLAMA, True, ATTENTION_BIASES, _GGUF_UNUSED),
    "qwen2": Layout(_GGUF_LLAMA, True, _ONLY_OUTPUT, _GGUF_UNUSED),
}

HUGGING_FACE: Mapping[Family, Layout] = {
    "gpt2": Layout(_GPT2, False, unused=("h.*.attn.bias", "h.*.attn.masked_bias")),
    "llama": Layout(_LLAMA, True, ATTENTION_BIASES, ("*.rotary_emb.inv_freq",)),
    "mistral": Layout(_LLAMA, True, ATTENTION_BIASES, ("*.rotary_emb.inv_freq",)),
    "qwen2": Layout(_LLAMA, True, _ONLY_OUTPUT, ("*.rotary_emb.inv_freq",)),
}
