"""What Hugging Face's config.json says of a model → the architecture."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tracer.checkpoints.architecture import Activation, Architecture, Family, Rotary
from tracer.checkpoints.layouts import HUGGING_FACE
from tracer.checkpoints.settings import MOST_LAYERS, Settings

FAMILIES: Mapping[str, Family] = {family: family for family in HUGGING_FACE}
EOS = "eos_token_id"
ACTIVATIONS: Mapping[str, Activation] = {
    **{"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"},
    **{"silu": "silu", "swish": "silu", "relu": "relu"},
}


def architecture_of(config: Mapping[str, Any], file: str) -> Architecture:
    """The architecture that the values of a config.json mean.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    settings = Settings(file, config)
    family = settings.one_of("model_type", FAMILIES)
    settings.check()
    architecture = _gpt2(settings) if family == "gpt2" else _llama(settings, family)
    settings.check()
    return architecture


def ends(config: Mapping[str, Any], file: str) -> tuple[int, ...]:
    """The numbers of the tokens that end a text, of which there may be one, several or none.

    Raises:
        TracerError: it says something else.
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
    )


def _llama(settings: Settings, family: Family) -> Architecture:
    settings.only("use_sliding_window", False)  # Qwen2's, of some layers
    settings.only("mlp_bias", False)
    settings.only("partial_rotary_factor", 1.0)
    width, heads = settings.whole("hidden_size"), settings.whole("num_attention_heads")
    d_k = settings.whole("head_dim", max(1, width // heads))
    return Architecture(
        family=family,
        layers=settings.whole("num_hidden_layers", most=MOST_LAYERS),
        width=width,
        heads=heads,
        key_heads=settings.whole("num_key_value_heads", None if family == "mistral" else heads),
        d_k=d_k,
        hidden=settings.whole("intermediate_size"),
        words=settings.whole("vocab_size"),
        context=settings.whole("max_position_embeddings"),
        norm="rms_norm",
        epsilon=settings.number("rms_norm_eps", 1e-6),
        activation=settings.one_of("hidden_act", ACTIVATIONS, "silu"),
        gated=True,
        rotary=_rotary(settings, d_k),
        window=_window(settings) if family == "mistral" else None,
        tied=settings.flag("tie_word_embeddings", False),
    )


def _window(settings: Settings) -> int | None:
    is_none = settings.says("sliding_window") and settings.get("sliding_window") is None
    return None if is_none else settings.whole("sliding_window", 4096)


def _rotary(settings: Settings, d_k: int) -> Rotary:
    """Newer files say all of it in one place, older ones the base beside it."""
    newer = settings.says("rope_parameters")
    scaling = settings.within("rope_parameters" if newer else "rope_scaling")
    base = (scaling if newer else settings).number("rope_theta", 10000.0)
    scaling.only("partial_rotary_factor", 1.0)
    kind = "type" if scaling.says("type") and not scaling.says("rope_type") else "rope_type"
    factors = scaling.one_of(kind, SCALINGS, "default")
    return Rotary(base, "halves", factors(scaling, base, d_k))


def _llama3(scaling: Settings, base: float, d_k: int) -> tuple[float, ...]:
    """Waves that are long beside the first context are stretched, short ones stay (Llama 3.1)."""
    factor, context = scaling.number("factor"), scaling.number("original_max_position_embeddings")
    low, high = scaling.number("low_freq_factor"), scaling.number("high_freq_factor")
    if low >= high:
        scaling.wrong("low_freq_factor", "expected less than high_freq_factor")
        return ()
    lengths = [2 * math.pi * base ** (2 * i / d_k) for i in range(d_k // 2)]
    kept = [min(1.0, max(0.0, (context / length - low) / (high - low))) for length in lengths]
    return tuple(1 / ((1 - share) / factor + share) for share in kept)


SCALINGS: Mapping[str, Callable[[Settings, float, int], tuple[float, ...] | None]] = {
    "default": lambda scaling, base, d_k: None,
    "linear": lambda scaling, base, d_k: (scaling.number("factor"),) * (d_k // 2),
    "llama3": _llama3,
}
"""The factors of the rotary angles, from what the file says, the base and d_k."""
