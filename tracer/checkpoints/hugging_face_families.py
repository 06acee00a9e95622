"""The families of models in Hugging Face's format: the config keys, tensors and parts of each.

They follow the configuration and the forward pass of each family in transformers 5.23.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, TypeAlias

from tracer.checkpoints.architecture import NormKind
from tracer.checkpoints.families import BIASED_LOGITS, SOME_WINDOWS
from tracer.checkpoints.layouts import Layout, layout
from tracer.checkpoints.settings import Settings
from tracer.frozen import frozen

Only: TypeAlias = Mapping[str, tuple[Any, str]]
"""Config keys with one supported value, and what other values mean."""

FULL, SLIDING = "full_attention", "sliding_attention"
KEY_HEADS, HEAD_DIM, WINDOW = "num_key_value_heads", "head_dim", "sliding_window"


@frozen
class EncoderKeys:
    """The keys of the encoder's sizes; the other sizes are those of the decoder."""

    layers: str
    heads: str
    hidden: str


@frozen
class HuggingFaceFamily:
    """What a family's config.json and tensors mean; a key that nothing here names is refused."""

    layers: str
    """This and the next keys are those of the sizes."""
    width: str
    heads: str
    hidden: str
    context: str
    epsilon: tuple[str | None, float]
    """This and the next keys come with the value that a missing key has; None for a fixed ε."""
    activation: tuple[str, str]
    tied: bool
    """Whether the embeddings are the unembedding if `tie_word_embeddings` is missing."""
    norm: NormKind
    gated: bool
    layout: Layout
    biases: str
    """The attention projections that have biases, as letters of QKVO."""
    maybe_biases: str = ""
    """Those that have biases if `attention_bias` is true."""
    hidden_per_width: int | None = None
    """The hidden size as a multiple of the width; None if its key must be there."""
    shares_keys: bool = False
    """Whether heads can share keys, and have a size of their own."""
    missing_key_heads: int | None = None
    """The number of heads with keys if its key is missing; None for all heads."""
    rotary: bool = False
    """Whether positions are rotary instead of a table."""
    window: Callable[[Settings, int], int | None] = lambda settings, layers: None
    """Returns the window of all layers, from the number of layers."""
    whole_heads: bool = False
    """Whether the width must be a multiple of the heads even if heads have a size of their own."""
    not_null: str | None = None
    """A key for which null is an error; for other keys, null is the default."""
    placement: Literal["pre", "post"] = "pre"
    """Whether the norms are before the sub-layers or after the residual connections."""
    embedding_scale: str | None = None
    """The key that says whether the embeddings are multiplied by √d_model."""
    sinusoidal: bool = False
    """Whether positions are sines and cosines that training does not change."""
    encoder: EncoderKeys | None = None
    """The encoder that the decoder attends to."""
    only: Only = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Other names of keys."""
    harmless: str = ""
    """Keys that change nothing in this family."""


def _full(settings: Settings, layers: int) -> None:
    """Check that no layer has a window."""
    _check_kinds(settings, [FULL] * layers)


def _window_of_mistral(settings: Settings, layers: int) -> int | None:
    if settings.says("layer_types"):
        for key, default in ((WINDOW, 4096), (HEAD_DIM, None)):
            if settings.get(key, default) is None:
                reason = "with layer_types, transformers loads a Ministral, which needs it"
                settings.wrong(key, f"expected a whole number: {reason}")
    has_window = settings.get(WINDOW, ...) is not None
    _check_kinds(settings, [SLIDING if has_window else FULL] * layers)
    return settings.whole(WINDOW, 4096) if has_window else None


def _window_of_qwen2(settings: Settings, layers: int) -> int | None:
    """Return the window if all layers have one; from `max_window_layers` on, a layer has one."""
    begin = settings.whole("max_window_layers", 28, least=0)
    window = settings.get(WINDOW, 4096)
    is_used = settings.flag("use_sliding_window", False) and window is not None
    full = min(begin, layers) if is_used else layers
    _check_kinds(settings, [FULL] * full + [SLIDING] * (layers - full))
    if full not in (0, layers):
        settings.wrong("max_window_layers", f"expected 0 or {layers}: the model has {SOME_WINDOWS}")
    return None if full else settings.whole(WINDOW, 4096)


def _check_kinds(settings: Settings, kinds: list[str]) -> None:
    if settings.get("layer_types") is not None:
        settings.only("layer_types", kinds)


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
    biases="QKVO",
    whole_heads=True,
    only={
        "scale_attn_weights": (True, "scores are not divided by √d_k"),
        "scale_attn_by_inverse_layer_idx": (False, "scores are also divided by the layer's number"),
    },
    same={
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    harmless="n_ctx n_special predict_special_tokens reorder_and_upcast_attn resid_pdrop "
    "embd_pdrop attn_pdrop summary_type summary_use_proj summary_activation "
    "summary_proj_to_labels summary_first_dropout",
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
LLAMA = HuggingFaceFamily(
    layers="num_hidden_layers",
    width="hidden_size",
    heads="num_attention_heads",
    hidden="intermediate_size",
    context="max_position_embeddings",
    epsilon=("rms_norm_eps", 1e-6),
    activation=("hidden_act", "silu"),
    tied=False,
    norm="rms_norm",
    gated=True,
    biases="",
    maybe_biases="QKVO",
    shares_keys=True,
    rotary=True,
    whole_heads=True,
    window=_full,
    only={
        "mlp_bias": (False, "the FFN has biases"),
        "rope_interleaved": (False, "pairs of the rotary positions are adjacent columns"),
        WINDOW: (None, "tokens attend within a window"),
    },
    harmless="pretraining_tp max_sequence_length is_llama_config",
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
        ("layer.attention.W",),
        transposed=True,
        unused=("*.rotary_emb.inv_freq",),
        prefix="model.",
    ),
)
_WITHOUT_WINDOW_KEY = {key: LLAMA.only[key] for key in LLAMA.only if key != WINDOW}
MISTRAL = replace(
    LLAMA,
    maybe_biases="",
    missing_key_heads=8,
    whole_heads=False,
    not_null=KEY_HEADS,
    window=_window_of_mistral,
    only={**_WITHOUT_WINDOW_KEY, "attention_bias": (False, "the projections have biases")},
)
QWEN2 = replace(
    MISTRAL,
    biases="QKV",
    missing_key_heads=32,
    not_null=HEAD_DIM,
    window=_window_of_qwen2,
)
_IN_BOTH_TOWERS = {
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
_CROSS_ATTENTION = {
    "layer.cross_attention.norm.gain": "encoder_attn_layer_norm",
    "layer.cross_attention.W_Q": "encoder_attn.q_proj",
    "layer.cross_attention.W_K": "encoder_attn.k_proj",
    "layer.cross_attention.W_V": "encoder_attn.v_proj",
    "layer.cross_attention.W_O": "encoder_attn.out_proj",
}


def _names_of_marian() -> Mapping[str, str]:
    decoder = layout(
        {**_IN_BOTH_TOWERS, **_CROSS_ATTENTION},
        "layers.{}.",
        ("layer.",),
        transposed=True,
        prefix="model.decoder.",
    )
    encoder = layout(
        _IN_BOTH_TOWERS, "layers.{}.", ("layer.",), transposed=True, prefix="model.encoder."
    )
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
    context="max_position_embeddings",
    epsilon=(None, 1e-5),
    activation=("activation_function", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVO",
    whole_heads=True,
    placement="post",
    embedding_scale="scale_embedding",
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
    same={
        "decoder_vocab_size": "vocab_size",
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    },
    harmless="dropout activation_dropout classif_dropout classifier_dropout encoder_layerdrop "
    "decoder_layerdrop init_std force_bos_token_to_be_generated extra_pos_embeddings save_step",
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

FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "gpt2": GPT2,
    "llama": LLAMA,
    "marian": MARIAN,
    "mistral": MISTRAL,
    "qwen2": QWEN2,
}
"""By `model_type`."""
