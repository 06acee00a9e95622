"""Hugging Face's config.json → the architecture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tracer.checkpoints.architecture import (
    Activation,
    Architecture,
)
from tracer.checkpoints.families import MEANINGS, family_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.hugging_face_family import (
    HEAD_DIM,
    KEY_HEADS,
    EncoderKeys,
    HuggingFaceFamily,
    Only,
)
from tracer.checkpoints.settings import MOST_LAYERS, CheckpointSettings

EOS, START, BAD_WORDS = "eos_token_id", "decoder_start_token_id", "bad_words_ids"
_CHANGES_NOTHING = {
    "where it comes from and how it was stored": "_name_or_path name_or_path architectures "
    "transformers_version torch_dtype dtype tokenizer_class model_max_length unsloth_fixed "
    "unsloth_version transformers.js_config _commit_hash",
    "how it was trained": "initializer_range attention_dropout hidden_dropout "
    "gradient_checkpointing neftune_noise_alpha task_specific_params finetuning_task id2label "
    "label2id num_labels _num_labels problem_type",
    "how it is run, and what that returns": "use_cache output_attentions output_hidden_states "
    "output_scores return_dict_in_generate torchscript use_bfloat16 tf_legacy_loss "
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
ONLY: Only = {
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
ACTIVATIONS: dict[str, Activation] = {
    **{"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"},
    **{"silu": "silu", "swish": "silu", "relu": "relu"},
}


def architecture_of(config: Mapping[str, Any], file: str) -> Architecture:
    """Return the architecture that the values of a config.json describe.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    settings = CheckpointSettings(file, config)
    name = family_of(settings, "model_type", FAMILIES)
    family = FAMILIES[name]
    architecture = _architecture(settings, name, family)
    settings.get(EOS)  # which `ends` reads
    for key, (value, otherwise) in {**ONLY, **family.only}.items():
        settings.only(key, value, otherwise)
    for key, other in family.same.items():
        if settings.says(key) and settings.says(other):
            settings.only(key, settings.get(other), f"it is another name of {other}")
    settings.nothing_else({*HARMLESS, *family.harmless.split()}, MEANINGS)
    settings.check()
    if family.whole_heads and architecture.width % architecture.heads:
        settings.wrong(family.width, f"expected a multiple of the {architecture.heads} heads")
    settings.check()
    return architecture


def end_token_ids(config: Mapping[str, Any], file: str) -> tuple[int, ...]:
    """Return the ids of the end tokens: one, several or none.

    Raises:
        TracerError: the value is not an id or a list of ids.
    """
    settings = CheckpointSettings(file, config)
    if isinstance(settings.get(EOS), list):
        found = tuple(settings.entries(EOS, int))
    else:
        found = () if settings.get(EOS) is None else (settings.whole(EOS, least=0),)
    settings.check()
    return found


def start_token_id(config: Mapping[str, Any], generating: Mapping[str, Any], file: str) -> int:
    """Return the id of the token that begins each text of a decoder with an encoder.

    `generating`: the values of generation_config.json, or the configuration itself without it.

    Raises:
        TracerError: there is none, or the two name different ones.
    """
    settings = CheckpointSettings(file, config)
    found = settings.whole(START, least=0)
    other = generating.get(START)
    if other not in (None, found):
        settings.wrong(START, f"generation_config.json has {other!r}")
    settings.check()
    return found


def excluded_token_ids(generating: Mapping[str, Any], file: str) -> tuple[int, ...]:
    """Return the ids of the tokens that are never generated.

    Raises:
        TracerError: a sequence of several tokens is never generated, which is not supported.
    """
    settings = CheckpointSettings(file, generating)
    never = settings.get(BAD_WORDS)
    if never is None:
        return ()
    rows = settings.entries(BAD_WORDS, list)
    if not all(len(row) == 1 and type(row[0]) is int for row in rows):
        settings.wrong(BAD_WORDS, "expected lists of one id each: longer ones are not supported")
    settings.check()
    return tuple(row[0] for row in rows)


def _architecture(
    settings: CheckpointSettings, name: str, family: HuggingFaceFamily
) -> Architecture:
    width, heads = settings.whole(family.width), settings.whole(family.heads)
    layers = settings.whole(family.layers, most=MOST_LAYERS)
    of_width = family.hidden_per_width
    key = family.not_null
    if key and settings.says(key) and settings.get(key) is None:
        settings.wrong(key, "expected a whole number: transformers raises an error for null")
    has_biases = family.maybe_biases and settings.flag("attention_bias", False)
    (epsilon_key, epsilon), activation = family.epsilon, family.activation
    activations = ACTIVATIONS | {name: ACTIVATIONS[other] for name, other in family.meant.items()}
    words = settings.whole("vocab_size")
    windows = tuple(family.windows(settings, layers))
    rotary, own_rotary = family.rotary(settings, windows) if family.rotary else (None, {})
    scale, keys = family.embedding_scale, family.factors
    share = family.missing_d_k or max(1, width // heads)
    decoder = Architecture(
        family=name,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=_key_heads(settings, family, heads),
        d_k=settings.whole(HEAD_DIM, share) if family.shares_keys else share,
        hidden=settings.whole(family.hidden, of_width and of_width * width),
        words=words,
        context=settings.whole(family.context),
        norm=family.norm,
        epsilon=settings.number(epsilon_key, epsilon) if epsilon_key else epsilon,
        activation=settings.one_of(activation[0], activations, activation[1]),
        gated=family.gated,
        rotary=rotary,
        own_rotary=own_rotary,
        windows=windows,
        tied=settings.flag("tie_word_embeddings", family.tied),
        biases=family.maybe_biases if has_biases else family.biases,
        placement=family.placement,
        sinusoidal=family.sinusoidal,
        query_key_norm=family.query_key_norm,
        unit_offset=family.unit_offset,
        scales_embeddings=settings.flag(scale, False) if scale else family.scales_embeddings,
        norm_after=family.norm_after,
        divisor=_divisor(settings, family),
        embedding_factor=settings.number(keys.embeddings, 1.0) if keys else None,
        output_factor=settings.number(keys.outputs, 1.0) if keys else None,
        logit_divisor=settings.number(keys.logits, 1.0) if keys else None,
        score_cap=settings.number_or_none(*family.score_cap) if family.score_cap else None,
        logit_cap=settings.number_or_none(*family.logit_cap) if family.logit_cap else None,
        parallel=bool(family.parallel) and settings.flag(family.parallel, True),
        first_position=family.first_position,
        experts=_experts(settings, family) if family.experts else None,
        top=settings.whole(*family.top) if family.experts else 1,
        normalize=settings.flag(*family.normalize) if family.normalize else True,
    )
    return replace(decoder, encoder=_encoder(settings, family.encoder, decoder))


def _encoder(
    settings: CheckpointSettings, keys: EncoderKeys | None, decoder: Architecture
) -> Architecture | None:
    """Return the encoder: the decoder's architecture with other sizes."""
    if keys is None:
        return None
    heads = settings.whole(keys.heads)
    if decoder.width % heads:
        settings.wrong(keys.heads, f"expected a divisor of the width, {decoder.width}")
    layers = settings.whole(keys.layers, most=MOST_LAYERS)
    return replace(
        decoder,
        layers=layers,
        windows=(None,) * layers,
        heads=heads,
        key_heads=heads,
        d_k=max(1, decoder.width // heads),
        hidden=settings.whole(keys.hidden),
    )


def _key_heads(settings: CheckpointSettings, family: HuggingFaceFamily, heads: int) -> int:
    if not family.shares_keys:
        return heads
    missing = None if settings.says(KEY_HEADS) else family.missing_key_heads
    return settings.whole(KEY_HEADS, missing or heads)


def _experts(settings: CheckpointSettings, family: HuggingFaceFamily) -> int:
    other = next((key for key, name in family.same.items() if name == family.experts), None)
    return settings.whole(family.experts, settings.get(other) if other else None)


def _divisor(settings: CheckpointSettings, family: HuggingFaceFamily) -> float | None:
    if family.factors:
        return 1 / settings.number(family.factors.scores, 1.0)
    squared = family.squared_divisor
    return math.sqrt(settings.number(*squared)) if squared else None
