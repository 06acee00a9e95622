"""Phi-1 to Phi-4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import one_window
from tracer.checkpoints.layouts import layout, with_fused_attention, with_fused_ffn

PHI3 = replace(
    LLAMA,
    missing_context=4096,
    epsilon=("rms_norm_eps", 1e-5),
    maybe_biases=(),
    whole_heads=False,
    not_null=HEAD_DIM,
    rotary=rotary(
        share=("partial_rotary_factor", 1.0),
        scalings=("default", "longrope"),
        older={"su": "longrope", "yarn": "longrope"},
        original=4096,
    ),
    windows=one_window,
    only=WITHOUT_WINDOW_KEY,
    harmless="original_max_position_embeddings",
    layout=with_fused_ffn(
        with_fused_attention(LLAMA.layout, "self_attn.qkv_proj"), "mlp.gate_up_proj"
    ),
)
PHI = replace(
    LLAMA,
    epsilon=("layer_norm_eps", 1e-5),
    activation=("hidden_act", "gelu_new"),
    norm="layer_norm",
    gated=False,
    biases="QKVOF",
    maybe_biases=(),
    whole_heads=False,
    not_null=HEAD_DIM,
    rotary=rotary(share=("partial_rotary_factor", 0.5)),
    rotates_pairs=True,
    parallel=True,
    shares_norm=True,
    only={**LLAMA.only, "qk_layernorm": (False, "a norm of queries and keys")},
    harmless="rotary_dim",
    layout=layout(
        {
            "embeddings": "embed_tokens",
            "final_norm.gain": "final_layernorm",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_Q": "self_attn.q_proj",
            "layer.attention.W_K": "self_attn.k_proj",
            "layer.attention.W_V": "self_attn.v_proj",
            "layer.attention.W_O": "self_attn.dense",
            "layer.ffn.W_1": "mlp.fc1",
            "layer.ffn.W_2": "mlp.fc2",
        },
        "layers.{}.",
        ("layer.", "final_norm.", "unembedding."),
        transposed=True,
        unused=LLAMA.layout.unused,
        prefix="model.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"phi": PHI, "phi3": PHI3}
