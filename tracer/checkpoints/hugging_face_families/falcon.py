"""Falcon (Almazrouei et al. 2023) with 7 billion parameters, and models like it."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import layout

FALCON = HuggingFaceFamily(
    hidden="ffn_hidden_size",
    hidden_per_width=4,
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=("activation", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="",
    maybe_biases=(("QKVOF", "bias", False),),
    multi_query=("multi_query", True),
    rotary=rotary(),
    parallel=("parallel_attn", True),
    shares_norm=True,
    whole_heads=True,
    same={"n_embed": "hidden_size"},
    equal={"n_head": "num_attention_heads", "n_layer": "num_hidden_layers"},
    only={
        "apply_residual_connection_post_layernorm": (False, "norms before residual connections"),
        "alibi": (False, "ALiBi, whose bias is divided by √d_k, too"),
        "new_decoder_architecture": (False, "two norms for attention and the FFN"),
        "num_ln_in_parallel_attn": (None, "two norms for attention and the FFN"),
    },
    harmless="num_kv_heads",
    layout=layout(
        {
            "embeddings": "word_embeddings",
            "final_norm.gain": "ln_f",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_QKV": "self_attention.query_key_value",
            "layer.attention.W_O": "self_attention.dense",
            "layer.ffn.norm.gain": "post_attention_layernorm",
            "layer.ffn.W_1": "mlp.dense_h_to_4h",
            "layer.ffn.W_2": "mlp.dense_4h_to_h",
        },
        "h.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        groups=None,
        prefix="transformer.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"falcon": FALCON}
