"""Falcon (Almazrouei et al. 2023), whose newer models have groups of heads that share keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_family import KEY_HEADS, HuggingFaceFamily, check_head_size
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import layout
from tracer.checkpoints.settings import CheckpointSettings

OF_BOTH = HuggingFaceFamily(
    hidden="ffn_hidden_size",
    hidden_per_width=4,
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=("activation", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="",
    maybe_biases=(("QKVOF", "bias", False),),
    rotary=rotary(),
    parallel=("parallel_attn", True),
    shares_norm=True,
    whole_heads=True,
    same={"n_embed": "hidden_size"},
    equal={"n_head": "num_attention_heads", "n_layer": "num_hidden_layers"},
    only={
        "apply_residual_connection_post_layernorm": (False, "norms before residual connections"),
        "alibi": (False, "ALiBi, whose bias is divided by √d_k, too"),
    },
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
        older={".ln_attn.": ".input_layernorm.", ".ln_mlp.": ".post_attention_layernorm."},
        prefix="transformer.",
    ),
)
NORMS = "num_ln_in_parallel_attn"


def _check_newer(settings: CheckpointSettings) -> None:
    check_head_size(settings)
    settings.only("parallel_attn", True, "transformers raises an error")
    if settings.get(NORMS) not in (None, 1, 2):
        settings.wrong(NORMS, "supported are 1 and 2")


NEWER = replace(
    OF_BOTH,
    shares_keys=True,
    shares_norm=(NORMS, 1),
    same={**OF_BOTH.same, "num_kv_heads": KEY_HEADS},
    check=_check_newer,
    harmless="multi_query",
)
FALCON = replace(
    OF_BOTH,
    variant=("new_decoder_architecture", NEWER),
    multi_query=("multi_query", True),
    only={**OF_BOTH.only, NORMS: (None, "two norms for attention and the FFN")},
    harmless="num_kv_heads",
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"falcon": FALCON}
