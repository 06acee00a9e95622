"""Llama (Touvron et al. 2023), whose declaration most families change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily, Only
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import WINDOW, full_attention
from tracer.checkpoints.layouts import layout

NO_FFN_BIASES: Only = {"mlp_bias": (False, "the FFN has biases")}
LLAMA = HuggingFaceFamily(
    epsilon=("rms_norm_eps", 1e-6),
    activation=("hidden_act", "silu"),
    tied=False,
    norm="rms_norm",
    gated=True,
    biases="",
    maybe_biases=(("QKVO", "attention_bias", False),),
    shares_keys=True,
    rotary=rotary(),
    whole_heads=True,
    windows=full_attention,
    only={
        **NO_FFN_BIASES,
        "rope_interleaved": (False, "pairs of the rotary positions are adjacent columns"),
        WINDOW: (None, "tokens attend within a window"),
    },
    layout=layout(
        {
            "embeddings": "embed_tokens",
            "final_norm.gain": "norm",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_Q": "self_attn.q_proj",
            "layer.attention.W_K": "self_attn.k_proj",
            "layer.attention.W_V": "self_attn.v_proj",
            "layer.attention.W_O": "self_attn.o_proj",
            "layer.ffn.norm.gain": "post_attention_layernorm",
            "layer.ffn.W_1": "mlp.gate_proj",
            "layer.ffn.W_3": "mlp.up_proj",
            "layer.ffn.W_2": "mlp.down_proj",
        },
        "layers.{}.",
        ("layer.attention.W", "layer.ffn.W"),
        transposed=True,
        unused=("*.rotary_emb.inv_freq",),
        prefix="model.",
    ),
)
WITHOUT_WINDOW_KEY = {key: LLAMA.only[key] for key in LLAMA.only if key != WINDOW}


def with_ffn_biases(family: HuggingFaceFamily) -> HuggingFaceFamily:
    """Return a family whose FFN has biases if `mlp_bias` is true."""
    return replace(
        family,
        maybe_biases=(*family.maybe_biases, ("F", "mlp_bias", False)),
        only={key: family.only[key] for key in family.only if key not in NO_FFN_BIASES},
    )


FAMILIES: Mapping[str, HuggingFaceFamily] = {"llama": with_ffn_biases(LLAMA)}
