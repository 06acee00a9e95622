"""MPT."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily, Only
from tracer.checkpoints.layouts import layout
from tracer.checkpoints.settings import CheckpointSettings

_OF_ATTENTION: Only = {
    "alibi": (True, "positions are learned"),
    "attn_type": ("multihead_attention", "heads share keys"),
    "attn_uses_sequence_id": (False, "several texts in one"),
    "clip_qkv": (None, "queries, keys and values are clamped"),
    "prefix_lm": (False, "tokens attend to later tokens"),
    "qk_ln": (False, "a norm of queries and keys"),
}


def _check_attention(settings: CheckpointSettings) -> None:
    own = settings.within("attn_config")
    for key, (value, otherwise) in _OF_ATTENTION.items():
        own.only(key, value, otherwise)


def _score_factor(settings: CheckpointSettings) -> float | None:
    return settings.within("attn_config").number_or_none("softmax_scale", None)


MPT = HuggingFaceFamily(
    layers="n_layers",
    width="d_model",
    heads="n_heads",
    hidden="",
    hidden_per_width=4,
    context="max_seq_len",
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=(None, "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="",
    whole_heads=True,
    alibi=True,
    bounded=True,
    check=_check_attention,
    score_factor=_score_factor,
    only={
        "embedding_fraction": (1.0, "a factor of the gradients of the embeddings"),
        "no_bias": (True, "transformers has no biases"),
        "norm_type": ("low_precision_layernorm", "another norm"),
    },
    same={
        "hidden_size": "d_model",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
    },
    # transformers reads none of these, and not attn_config.alibi_bias_max either
    harmless="expansion_ratio learned_pos_emb logit_scale init_config tokenizer_name verbose",
    layout=layout(
        {
            "embeddings": "wte",
            "final_norm.gain": "norm_f",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "norm_1",
            "layer.attention.W_QKV": "attn.Wqkv",
            "layer.attention.W_O": "attn.out_proj",
            "layer.ffn.norm.gain": "norm_2",
            "layer.ffn.W_1": "ffn.up_proj",
            "layer.ffn.W_2": "ffn.down_proj",
        },
        "blocks.{}.",
        (),
        transposed=True,
        prefix="transformer.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"mpt": MPT}
