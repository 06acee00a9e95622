"""Families whose tensors have BART's names: OPT, BioGPT and Marian."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.families import BIASED_LOGITS
from tracer.checkpoints.hugging_face_family import EncoderKeys, HuggingFaceFamily
from tracer.checkpoints.layouts import Layout, layout

_OF_BART = {
    "positions": "embed_positions",
    "layer.attention.norm.gain": "self_attn_layer_norm",
    "layer.attention.W_Q": "self_attn.q_proj",
    "layer.attention.W_K": "self_attn.k_proj",
    "layer.attention.W_V": "self_attn.v_proj",
    "layer.attention.W_O": "self_attn.out_proj",
    "layer.ffn.norm.gain": "final_layer_norm",
    "layer.ffn.W_1": "fc1",
    "layer.ffn.W_2": "fc2",
}
"""The tensors of OPT and of both towers of Marian, which BART has, too."""
OPT = HuggingFaceFamily(
    hidden="ffn_dim",
    epsilon=(None, 1e-5),
    activation=("activation_function", "relu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVOF",
    first_position=2,
    whole_heads=True,
    only={
        "do_layer_norm_before": (True, "norms after the residual connections"),
        "_remove_final_layer_norm": (False, "no norm after the last layer"),
        "enable_bias": (True, "matrices without biases"),
        "layer_norm_elementwise_affine": (True, "LayerNorm without gain and shift"),
    },
    equal={"word_embed_proj_dim": "hidden_size"},
    layout=layout(
        {
            **_OF_BART,
            "embeddings": "embed_tokens",
            "final_norm.gain": "final_layer_norm",
            "unembedding.W_U": "lm_head",
        },
        "layers.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        prefix="model.decoder.",
    ),
)
BIO_GPT = replace(
    OPT,
    hidden="intermediate_size",
    activation=("hidden_act", "gelu"),
    embedding_scale=("scale_embedding", True),
    only={},
    equal={},
    harmless="layer_norm_eps",
    layout=layout(
        {
            **_OF_BART,
            "embeddings": "embed_tokens",
            "final_norm.gain": "layer_norm",
            "unembedding.W_U": "output_projection",
        },
        "layers.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        prefix="biogpt.",
    ),
)
_CROSS_ATTENTION = {
    "layer.cross_attention.norm.gain": "encoder_attn_layer_norm",
    "layer.cross_attention.W_Q": "encoder_attn.q_proj",
    "layer.cross_attention.W_K": "encoder_attn.k_proj",
    "layer.cross_attention.W_V": "encoder_attn.v_proj",
    "layer.cross_attention.W_O": "encoder_attn.out_proj",
}


def _names_of_marian() -> Mapping[str, str]:
    decoder = layout(
        {**_OF_BART, **_CROSS_ATTENTION},
        "layers.{}.",
        ("layer.",),
        transposed=True,
        prefix="model.decoder.",
    )
    encoder = layout(_OF_BART, "layers.{}.", ("layer.",), transposed=True, prefix="model.encoder.")
    return {
        "embeddings": "model.shared.weight",
        "unembedding.W_U": "lm_head.weight",
        "unembedding.b_U": "final_logits_bias",
        **decoder.names,
        **{f"encoder.{key}": name for key, name in encoder.names.items()},
    }


MARIAN = HuggingFaceFamily(
    layers="decoder_layers",
    width="d_model",
    heads="decoder_attention_heads",
    hidden="decoder_ffn_dim",
    epsilon=(None, 1e-5),
    activation=("activation_function", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVOF",
    whole_heads=True,
    placement="post",
    embedding_scale=("scale_embedding", False),
    sinusoidal=True,
    encoder=EncoderKeys("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim"),
    only={
        "is_encoder_decoder": (True, "the model has no encoder"),
        "share_encoder_decoder_embeddings": (True, "the encoder has its own embeddings"),
        "tie_word_embeddings": (True, "the encoder has its own embeddings"),
        "add_bias_logits": (False, BIASED_LOGITS),
        "add_final_layer_norm": (False, "there is a norm after the last layer"),
        "normalize_before": (False, "the norms are before the sub-layers"),
        "normalize_embedding": (False, "there is a norm of the embeddings"),
        "static_position_embeddings": (True, "the positions are learned"),
    },
    equal={"decoder_vocab_size": "vocab_size"},
    same={
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    },
    harmless="extra_pos_embeddings",
    layout=Layout(
        _names_of_marian(),
        transposed=True,
        prefix="model.",
        optional=("positions", "encoder.positions", "unembedding.b_U"),
        copies={
            "model.encoder.embed_tokens.weight": "model.shared.weight",
            "model.decoder.embed_tokens.weight": "model.shared.weight",
        },
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"biogpt": BIO_GPT, "opt": OPT, "marian": MARIAN}
