"""Hugging Face's config.json → the architecture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tracer.checkpoints.architecture import (
    Activation,
    Architecture,
    ClampedGate,
)
from tracer.checkpoints.families import MEANINGS, ONES, family_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.hugging_face_family import (
    HEAD_DIM,
    KEY_HEADS,
    EncoderKeys,
    HuggingFaceFamily,
    Only,
)
from tracer.checkpoints.hugging_face_harmless import HARMLESS
from tracer.checkpoints.image_wrappers import text_config
from tracer.checkpoints.parameters import TRANSFORM
from tracer.checkpoints.settings import MOST_LAYERS, CheckpointSettings

CODES = "quantization_config"
EOS, START, BAD_WORDS = "eos_token_id", "decoder_start_token_id", "bad_words_ids"
ONLY: Only = {
    "is_causal": (True, "without a causal mask, tokens attend to later tokens"),
    "is_encoder_decoder": (False, "the model has an encoder and cross-attention"),
    "tie_encoder_decoder": (False, "the model has an encoder and cross-attention"),
    "add_cross_attention": (False, "the model has cross-attention"),
    "cross_attention_hidden_size": (None, "the model has cross-attention"),
    "pruned_heads": ({}, "heads are removed from the weights"),
    "return_dict": (True, "with false, transformers raises an error"),
}
"""Keys that affect the computation: the value without effect, and what other values mean."""
_NAMES: Mapping[Activation, str] = {
    "gelu": "gelu gelu_python",
    "gelu_tanh": "gelu_new gelu_pytorch_tanh gelu_python_tanh gelu_accurate gelu_fast",
    "silu": "silu swish",
    "relu": "relu",
    "relu_squared": "relu2",
}
ACTIVATIONS = {name: function for function, names in _NAMES.items() for name in names.split()}
"""The activation functions by transformers' names, some of which differ by rounding alone."""
ACTIVATION_KEYS = ("activation", "activation_function", "hidden_act", "hidden_activation")


def architecture_of(config: Mapping[str, Any], file: str) -> Architecture:
    """Return the architecture that the values of a config.json describe.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    text = text_config(config)
    settings = CheckpointSettings(file, text)
    name = family_of(settings, "model_type", FAMILIES)
    family = FAMILIES[name]
    key, newer = family.variant or ("", family)
    if settings.get(key) is not None and settings.flag(key, False):
        family = newer
    for other, key in family.same.items():
        settings.also_called(key, other)
    if missing := _missing_context(family):
        settings.assume(family.context, missing)
    architecture = _architecture(settings, name, family)
    family.check(settings)
    for key, (value, otherwise) in {**ONLY, **family.only}.items():
        settings.only(key, value, otherwise)
    _check_codes(settings, family)
    for key, other in family.equal.items():
        if settings.get(key) is not None:
            settings.only(key, settings.get(other), f"it must be {other}")
    _check_activation(settings, family, architecture)
    settings.repeats(KEY_HEADS, architecture.key_heads)
    settings.repeats("rotary_dim", architecture.rotated)
    settings.nothing_else((*HARMLESS, *family.harmless.split()), MEANINGS, ONES)
    settings.check()
    if family.whole_heads and architecture.width % architecture.heads:
        settings.wrong(family.width, f"expected a multiple of the {architecture.heads} heads")
    if family.rotates_pairs and architecture.rotated % 2:
        settings.refuse("partial_rotary_factor", f"{architecture.rotated} numbers, expected pairs")
    settings.check()
    return replace(architecture, has_images=text is not config)


def end_token_ids(config: Mapping[str, Any], file: str) -> tuple[int, ...]:
    """Return the ids of the end tokens: one, several or none.

    Raises:
        TracerError: the value is not an id or a list of ids.
    """
    settings = CheckpointSettings(file, text_config(config))
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
    by_width = (family.hidden_per_width or 0) * width
    for key in family.not_null.split():
        if settings.says(key) and settings.get(key) is None:
            settings.wrong(key, "expected a whole number: transformers raises an error for null")
    (epsilon_key, epsilon), (activation_key, activation) = family.epsilon, family.activation
    activations = ACTIVATIONS | {name: ACTIVATIONS[other] for name, other in family.meant.items()}
    words = settings.whole("vocab_size")
    windows = tuple(family.windows(settings, layers))
    rotary, own_rotary = family.rotary(settings, windows) if family.rotary else (None, {})
    delta = family.delta(settings, layers)
    own_rotary = {**own_rotary, **dict.fromkeys(delta.layers if delta else ())}
    scale, keys, parallel = family.embedding_scale, family.factors, family.parallel
    if not isinstance(parallel, bool):
        parallel = settings.flag(*parallel)
    if rotary:
        rotary = replace(rotary, layout=family.rotary_layout)
    rows = settings.whole(family.context, _missing_context(family))
    padding = settings.whole(*family.padding, least=0, most=rows - 2) if family.padding else None
    function = (
        settings.one_of(activation_key, activations, activation)
        if activation_key
        else activations[activation]
    )
    share = max(1, width // heads)
    decoder = Architecture(
        family=name,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=_key_heads(settings, family, heads),
        d_k=_head_size(settings, family, share),
        hidden=settings.whole(family.hidden, by_width or None) if family.hidden else by_width,
        words=words,
        context=rows if padding is None else rows - padding - 1,
        norm=family.norm,
        epsilon=settings.number(epsilon_key, epsilon, or_zero=True) if epsilon_key else epsilon,
        activation=function,
        gated=family.gated,
        gate=_gate(settings, family),
        delta=delta,
        output_gate=family.output_gate,
        rotary=rotary,
        own_rotary=own_rotary,
        windows=windows,
        tied=settings.flag("tie_word_embeddings", family.tied),
        biases=family.biases
        + "".join(some for some, key, has in family.maybe_biases if settings.flag(key, has)),
        placement=family.placement,
        sinusoidal=family.sinusoidal,
        query_key_norm=family.query_key_norm,
        normalizes_rotated=family.normalizes_rotated,
        unit_offset=family.unit_offset,
        scales_embeddings=settings.flag(*scale) if scale else family.scales_embeddings,
        embedding_norm="embedding_norm.gain" in family.layout.names,
        norm_after=family.norm_after,
        alibi=family.alibi,
        divisor=_divisor(settings, family),
        divided_by_layer=bool(family.divided_by_layer)
        and settings.flag(family.divided_by_layer, False),
        embedding_factor=settings.number(keys.embeddings, 1.0) if keys else None,
        output_factor=settings.number(keys.outputs, 1.0) if keys else None,
        logit_divisor=_logit_divisor(settings, family),
        score_cap=settings.number_or_none(*family.score_cap) if family.score_cap else None,
        logit_cap=settings.number_or_none(*family.logit_cap) if family.logit_cap else None,
        parallel=parallel,
        shares_norm=parallel and _shares_norm(settings, family),
        first_position=family.first_position if padding is None else padding + 1,
        padding=padding,
        sees_later=family.causal is not None
        and not (family.causal and settings.flag(family.causal, False)),
        types=settings.whole(*family.types) if family.types else None,
        transform=(family.transform or function) if TRANSFORM in family.layout.names else None,
        bounded=family.bounded,
        experts=settings.whole(family.experts) if family.experts else None,
        top=settings.whole(*family.top) if family.experts else 1,
        normalize=settings.flag(*family.normalize) if family.normalize else True,
        shared=settings.whole(*family.shared) if family.shared else None,
    )
    return replace(decoder, encoder=_encoder(settings, family.encoder, decoder))


def _gate(settings: CheckpointSettings, family: HuggingFaceFamily) -> ClampedGate | None:
    if family.gate is None:
        return None
    for key, _ in family.gate:
        if isinstance(settings.get(key), int):
            settings.wrong(key, "expected a number with a point: transformers raises an error")
    scale, limit = (settings.number(*key) for key in family.gate)
    return ClampedGate(scale, limit)


def _check_codes(settings: CheckpointSettings, family: HuggingFaceFamily) -> None:
    """Record a problem if the weights are stored as codes that the family does not have."""
    if family.codes is None:
        settings.only(CODES, None, "the weights are stored as codes")
    elif settings.get(CODES) is not None:
        codes = settings.within(CODES)
        codes.one_of("quant_method", {family.codes[0]: None})
        codes.nothing_else(("modules_to_not_convert", "dequantize"))


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


def _missing_context(family: HuggingFaceFamily) -> int | None:
    """Return the longest text of a config without its key; None if positions are a table."""
    return family.missing_context if family.rotary or family.alibi else None


def _shares_norm(settings: CheckpointSettings, family: HuggingFaceFamily) -> bool:
    if isinstance(family.shares_norm, bool):
        return family.shares_norm
    key, number = family.shares_norm
    return bool(settings.get(key) == number)


def _key_heads(settings: CheckpointSettings, family: HuggingFaceFamily, heads: int) -> int:
    if family.multi_query:
        return 1 if settings.flag(*family.multi_query) else heads
    if not family.shares_keys:
        return heads
    missing = None if settings.says(KEY_HEADS) else family.missing_key_heads
    return settings.whole(KEY_HEADS, missing or heads)


def _head_size(settings: CheckpointSettings, family: HuggingFaceFamily, share: int) -> int:
    if not family.shares_keys:
        return share
    missing = None if settings.says(HEAD_DIM) else family.missing_d_k
    return settings.whole(HEAD_DIM, missing or share)


def _check_activation(
    settings: CheckpointSettings, family: HuggingFaceFamily, architecture: Architecture
) -> None:
    """Record a problem if a key that transformers does not read names another activation."""
    same = [name for name in ACTIVATIONS if ACTIVATIONS[name] == architecture.activation]
    if family.gated and architecture.activation == "silu":
        same.append("swiglu")
    read = family.activation[0]
    for key in ACTIVATION_KEYS:
        if key in (read, *family.harmless.split()) or settings.get(key) in (None, *same):
            continue
        settings.wrong(key, f"supported are {', '.join(same)}, as in {read}")


def _divisor(settings: CheckpointSettings, family: HuggingFaceFamily) -> float | None:
    if family.factors:
        return 1 / settings.number(family.factors.scores, 1.0)
    if factor := family.score_factor(settings):
        return 1 / factor
    if family.divides_scores and not settings.flag(family.divides_scores, True):
        return 1.0
    if family.squared_divisor is None:
        return None
    key, squared = family.squared_divisor
    return math.sqrt(settings.number(key, squared) if key else squared)


def _logit_divisor(settings: CheckpointSettings, family: HuggingFaceFamily) -> float | None:
    if family.logit_factor:
        return 1 / settings.number(*family.logit_factor)
    return settings.number(family.factors.logits, 1.0) if family.factors else None
