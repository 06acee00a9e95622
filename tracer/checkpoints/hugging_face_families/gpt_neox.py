"""GPT-NeoX (Black et al. 2022) and Pythia."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import layout

GPT_NEOX = HuggingFaceFamily(
    epsilon=("layer_norm_eps", 1e-5),
    activation=("hidden_act", "gelu"),
    tied=False,
    norm="layer_norm",
    gated=False,
    biases="F",
    maybe_biases=(("QKVO", "attention_bias", True),),
    rotary=rotary(key="rotary_emb_base", share=("rotary_pct", 0.25)),
    parallel=("use_parallel_residual", True),
    whole_heads=True,
    harmless="rope_theta partial_rotary_factor",
    layout=layout(
        {
            "embeddings": "embed_in",
            "final_norm.gain": "final_layer_norm",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_QKV": "attention.query_key_value",
            "layer.attention.W_O": "attention.dense",
            "layer.ffn.norm.gain": "post_attention_layernorm",
            "layer.ffn.W_1": "mlp.dense_h_to_4h",
            "layer.ffn.W_2": "mlp.dense_4h_to_h",
        },
        "layers.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        groups=None,
        older={"embed_out.": "lm_head."},
        unused=("*.attention.bias", "*.attention.masked_bias", "*.rotary_emb.inv_freq"),
        prefix="gpt_neox.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt_neox": GPT_NEOX}
