"""GPT-2 (Radford et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.layouts import layout

GPT2 = HuggingFaceFamily(
    layers="n_layer",
    width="n_embd",
    heads="n_head",
    hidden="n_inner",
    context="n_positions",
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=("activation_function", "gelu_new"),
    tied=True,
    norm="layer_norm",
    gated=False,
    hidden_per_width=4,
    biases="QKVOF",
    whole_heads=True,
    divided_by_layer="scale_attn_by_inverse_layer_idx",
    divides_scores="scale_attn_weights",
    same={
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    harmless="n_ctx n_special",
    layout=layout(
        {
            "embeddings": "wte",
            "positions": "wpe",
            "final_norm.gain": "ln_f",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "ln_1",
            "layer.attention.W_QKV": "attn.c_attn",
            "layer.attention.W_O": "attn.c_proj",
            "layer.ffn.norm.gain": "ln_2",
            "layer.ffn.W_1": "mlp.c_fc",
            "layer.ffn.W_2": "mlp.c_proj",
        },
        "h.{}.",
        ("layer.", "final_norm."),
        transposed=False,
        unused=("*.attn.bias", "*.attn.masked_bias"),
        prefix="transformer.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt2": GPT2}
