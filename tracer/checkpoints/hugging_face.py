"""Hugging Face's config.json → the architecture."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tracer.checkpoints.architecture import (
    Activation,
    Architecture,
    Family,
    Rotary,
    RotaryFactor,
)
from tracer.checkpoints.families import NEEDS, family_of
from tracer.checkpoints.layouts import HUGGING_FACE
from tracer.checkpoints.settings import MOST_LAYERS, Settings

FAMILIES: Mapping[str, Family] = {family: family for family in HUGGING_FACE}
EOS = "eos_token_id"
_CHANGES_NOTHING = {
    "where it comes from and how it was stored": "_name_or_path name_or_path architectures "
    "transformers_version torch_dtype dtype is_llama_config tokenizer_class model_max_length "
    "unsloth_fixed unsloth_version transformers.js_config _commit_hash",
    "how it was trained": "initializer_range attention_dropout hidden_dropout resid_pdrop "
    "embd_pdrop attn_pdrop gradient_checkpointing neftune_noise_alpha summary_type "
    "summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout "
    "task_specific_params finetuning_task id2label label2id num_labels _num_labels n_special "
    "predict_special_tokens problem_type",
    "how it is run, and what that returns": "use_cache output_attentions output_hidden_states "
    "output_scores return_dict_in_generate torchscript use_bfloat16 "
    "tf_legacy_loss pretraining_tp n_ctx max_sequence_length reorder_and_upcast_attn "
    "attn_implementation _attn_implementation _attn_implementation_autoset "
    "_flash_attn_2_enabled chunk_size_feed_forward is_decoder",
    "which tokens have a use, and how another program goes on with a text": "bos_token_id "
    "pad_token_id sep_token_id cls_token_id unk_token_id decoder_start_token_id prefix do_sample "
    "temperature top_k top_p typical_p min_length max_length num_beams num_beam_groups "
    "diversity_penalty early_stopping length_penalty repetition_penalty no_repeat_ngram_size "
    "encoder_no_repeat_ngram_size bad_words_ids num_return_sequences remove_invalid_values "
    "forced_bos_token_id forced_eos_token_id suppress_tokens begin_suppress_tokens "
    "exponential_decay_length_penalty",
}
HARMLESS = frozenset(key for keys in _CHANGES_NOTHING.values() for key in keys.split())
"""Keys that never affect the computation, in any family."""
ONLY: Mapping[str, tuple[Any, str]] = {
    "is_causal": (True, "without a causal mask, tokens attend to later tokens"),
    "is_encoder_decoder": (False, "the model has an encoder and cross-attention"),
    "tie_encoder_decoder": (False, "the model has an encoder and cross-attention"),
    "add_cross_attention": (False, "the model has cross-attention"),
    "cross_attention_hidden_size": (None, "the model has cross-attention"),
    "quantization_config": (None, "the weights are stored as codes"),
    "auto_map": (None, "the model brings its own code, which is not run"),
    "pruned_heads": ({}, "heads are removed from the weights"),
    "return_dict": (True, "with false, transformers raises an error"),
}
"""Keys that affect the computation: the value without effect, and what other values mean."""
ACTIVATIONS: Mapping[str, Activation] = {
    **{"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"},
    **{"silu": "silu", "swish": "silu", "relu": "relu"},
}


KEY_HEADS = "num_key_value_heads"
UNSAID_KEY_HEADS: Mapping[Family, int] = {"mistral": 8, "qwen2": 32}
"""The number of key heads if the key is missing; in Llama, the number of heads."""
NOT_NULL: Mapping[str, Family] = {KEY_HEADS: "mistral", "head_dim": "qwen2"}
"""Keys for which transformers rejects null in one family; in others, null is the default."""
DIVIDED: Mapping[Family, str] = {"gpt2": "n_embd", "llama": "hidden_size"}
"""Keys of the width, if it must be a multiple of the heads even with a head_dim."""


def architecture_of(config: Mapping[str, Any], file: str) -> Architecture:
    """Return the architecture that the values of a config.json describe.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    settings = Settings(file, config)
    family = family_of(settings, "model_type", FAMILIES, NEEDS)
    architecture = _gpt2(settings) if family == "gpt2" else _llama(settings, family)
    settings.get(EOS)  # which `ends` reads
    for key, (value, otherwise) in ONLY.items():
        settings.only(key, value, otherwise)
    settings.nothing_else(HARMLESS)
    settings.check()
    if family in DIVIDED and architecture.width % architecture.heads:
        settings.wrong(DIVIDED[family], f"expected a multiple of the {architecture.heads} heads")
    settings.check()
    return architecture


def ends(config: Mapping[str, Any], file: str) -> tuple[int, ...]:
    """Return the ids of the end tokens: one, several or none.

    Raises:
        TracerError: the value is not an id or a list of ids.
    """
    settings = Settings(file, config)
    if isinstance(settings.get(EOS), list):
        found = tuple(settings.entries(EOS, int))
    else:
        found = () if settings.get(EOS) is None else (settings.whole(EOS, least=0),)
    settings.check()
    return found


def _gpt2(settings: Settings) -> Architecture:
    settings.only("scale_attn_weights", True)
    settings.only("scale_attn_by_inverse_layer_idx", False)
    width, heads = settings.whole("n_embd"), settings.whole("n_head")
    return Architecture(
        family="gpt2",
        layers=settings.whole("n_layer", most=MOST_LAYERS),
        width=width,
        heads=heads,
        key_heads=heads,
        d_k=width // heads,
        hidden=settings.whole("n_inner", 4 * width),
        words=settings.whole("vocab_size"),
        context=settings.whole("n_positions"),
        norm="layer_norm",
        epsilon=settings.number("layer_norm_epsilon", 1e-5),
        activation=settings.one_of("activation_function", ACTIVATIONS, "gelu_new"),
        gated=False,
        rotary=None,
        window=None,
        tied=settings.flag("tie_word_embeddings", True),
        biases="QKVO",
    )


def _llama(settings: Settings, family: Family) -> Architecture:
    for key in ("mlp_bias", "rope_interleaved", "use_mrope"):
        settings.only(key, False)
    settings.only("partial_rotary_factor", 1.0)
    width, heads = settings.whole("hidden_size"), settings.whole("num_attention_heads")
    layers = settings.whole("num_hidden_layers", most=MOST_LAYERS)
    window = _window(settings, family)
    kind = "full_attention" if window is None else "sliding_attention"
    if settings.get("layer_types") is not None:
        settings.only("layer_types", [kind] * layers)
    key_heads = heads if settings.says(KEY_HEADS) else UNSAID_KEY_HEADS.get(family, heads)
    for key, null_fails in NOT_NULL.items():
        if family == null_fails and settings.says(key) and settings.get(key) is None:
            settings.wrong(key, "expected a whole number: transformers raises an error for null")
    has_biases = settings.flag("attention_bias", False)
    if family != "llama":
        settings.only("attention_bias", False)
    return Architecture(
        family=family,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=settings.whole(KEY_HEADS, key_heads),
        d_k=settings.whole("head_dim", max(1, width // heads)),
        hidden=settings.whole("intermediate_size"),
        words=settings.whole("vocab_size"),
        context=settings.whole("max_position_embeddings"),
        norm="rms_norm",
        epsilon=settings.number("rms_norm_eps", 1e-6),
        activation=settings.one_of("hidden_act", ACTIVATIONS, "silu"),
        gated=True,
        rotary=_rotary(settings),
        window=window,
        tied=settings.flag("tie_word_embeddings", False),
        biases="QKV" if family == "qwen2" else "QKVO" * has_biases,
    )


def _window(settings: Settings, family: Family) -> int | None:
    """Return the window of a Mistral; refuse one in a Llama, or one that a Qwen2 uses."""
    if family == "llama":
        settings.only("sliding_window", None)
    elif family == "qwen2":
        settings.only("use_sliding_window", False)
        for key in ("sliding_window", "max_window_layers"):
            settings.get(key)
    else:
        if settings.says("layer_types"):
            _check_ministral(settings)
        if settings.get("sliding_window", ...) is not None:
            return settings.whole("sliding_window", 4096)
    return None


def _check_ministral(settings: Settings) -> None:
    """Record a problem if a Mistral with `layer_types` lacks what transformers then requires."""
    for key, default in (("sliding_window", 4096), ("head_dim", None)):
        if settings.get(key, default) is None:
            reason = "with layer_types, transformers loads a Ministral, which needs it"
            settings.wrong(key, f"expected a whole number: {reason}")


def _rotary(settings: Settings) -> Rotary:
    """Return the rotary positions; older files keep the base apart from the other values.

    If a file has both, transformers reads the older mapping, and the base inside of it.
    """
    newer, older = settings.within("rope_parameters"), settings.within("rope_scaling")
    scaling = older if settings.get("rope_scaling") else newer
    settings.get("rope_theta")
    base = (scaling if scaling.says("rope_theta") else settings).number("rope_theta", 10000.0)
    scaling.only("partial_rotary_factor", 1.0)
    kind = "rope_type" if scaling.says("rope_type") else "type"
    factor = scaling.one_of(kind, SCALINGS, "default")(scaling, base)
    scaling.nothing_else({"type"})
    return Rotary(base, "halves", factor)


def _linear(scaling: Settings, base: float) -> RotaryFactor:
    factor = scaling.number("factor")
    return lambda pair, d_k: factor


def _llama3(scaling: Settings, base: float) -> RotaryFactor:
    """Divide the angles of wavelengths that are long compared to the first context (Llama 3.1)."""
    factor, context = scaling.number("factor"), scaling.number("original_max_position_embeddings")
    low, high = scaling.number("low_freq_factor"), scaling.number("high_freq_factor")
    if low >= high:
        scaling.wrong("low_freq_factor", "expected less than high_freq_factor")

    def of_pair(pair: int, d_k: int) -> float:
        length = 2 * math.pi * math.pow(base, 2 * pair / d_k)
        kept = min(1.0, max(0.0, (context / length - low) / (high - low)))
        return 1 / ((1 - kept) / factor + kept)

    return of_pair


SCALINGS: Mapping[str, Callable[[Settings, float], RotaryFactor | None]] = {
    "default": lambda scaling, base: None,
    "linear": _linear,
    "llama3": _llama3,
}
"""The factors of the rotary angles, by the kind of scaling in the file."""
