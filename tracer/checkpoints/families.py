"""The supported families of models, and the parts that other families need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tracer.checkpoints.architecture import Family
from tracer.checkpoints.settings import Settings

EXPERTS = "a mixture of experts"
QK_NORM = "a norm of queries and keys"
UNIT_OFFSET = "norms with 1 + γ"
SCALED_EMBEDDINGS = "embeddings times √d"
OUTPUT_NORMS = "norms of outputs"
POST_NORM = "norms after the residual connections"
PLAIN_LAYER_NORM = "LayerNorm without shift"
SCORE_SCALE = "its own score scale"
SOME_WINDOWS = "windows in some layers"
PARALLEL = "attention and FFN in parallel"
PARTIAL_ROTARY = "rotary positions in part of each head"
CHUNKS = "attention within chunks"
MULTI_AXES = "rotary positions on three axes"
SOME_ROTARY = "layers without rotary positions"
ROTARY_LAYER_NORM = "LayerNorm with rotary positions"
OFFSET_POSITIONS = "a position table that starts at row 2"
ALIBI = "ALiBi positions"
RELATIVE = "relative position biases"
LATENT = "multi-head latent attention"
STATE_SPACE = "state-space layers"
MULTIPLIERS = "multipliers of embeddings, residuals, scores and logits"
LOGIT_SCALE = "a scale of the logits"
FUSED = "a fused QKV matrix"
FUSED_FFN = "a fused FFN matrix"
BIASED_LOGITS = "a bias of the logits"
BIDIRECTIONAL = "attention without a causal mask"
TOKEN_TYPES = "token types"
ENCODER = "an encoder with cross-attention"
IMAGES = "an image encoder"

Parts: TypeAlias = tuple[str, ...]

_GEMMA: Parts = (UNIT_OFFSET, SCALED_EMBEDDINGS)
_GEMMA_3: Parts = (*_GEMMA, OUTPUT_NORMS, QK_NORM, SCORE_SCALE, SOME_WINDOWS, "two rotary bases")
_NEOX: Parts = (PARALLEL, PARTIAL_ROTARY, ROTARY_LAYER_NORM)
_BERT: Parts = (BIDIRECTIONAL, TOKEN_TYPES, POST_NORM)
_COHERE: Parts = (PARALLEL, PLAIN_LAYER_NORM, LOGIT_SCALE)

NEEDS: Mapping[str, Parts] = {
    "bart": (ENCODER, POST_NORM, OFFSET_POSITIONS),
    "bert": _BERT,
    "bloom": (ALIBI, "a norm of the embeddings", FUSED),
    "codegen": _NEOX,
    "cohere": _COHERE,
    "cohere2": (*_COHERE, SOME_WINDOWS, SOME_ROTARY),
    "deepseek_v2": (LATENT, EXPERTS),
    "deepseek_v3": (LATENT, EXPERTS),
    "distilbert": (BIDIRECTIONAL, POST_NORM),
    "falcon": (PARALLEL, FUSED, ROTARY_LAYER_NORM),
    "gemma": _GEMMA,
    "gemma2": (*_GEMMA, OUTPUT_NORMS, "soft caps", SCORE_SCALE, SOME_WINDOWS),
    "gemma3": _GEMMA_3,
    "gemma3_text": _GEMMA_3,
    "glm": (PARTIAL_ROTARY, FUSED_FFN),
    "glm4": (PARTIAL_ROTARY, FUSED_FFN, OUTPUT_NORMS),
    "gpt_bigcode": ("multi-query attention",),
    "gpt_neo": (SCORE_SCALE, SOME_WINDOWS),
    "gpt_neox": (*_NEOX, FUSED),
    "gpt_oss": (EXPERTS, "attention sinks", SOME_WINDOWS, "a clamped gate"),
    "gptj": _NEOX,
    "granite": (MULTIPLIERS,),
    "granitemoe": (EXPERTS, MULTIPLIERS),
    "llama4": (IMAGES, EXPERTS, QK_NORM, SOME_ROTARY, CHUNKS),
    "llama4_text": (EXPERTS, QK_NORM, SOME_ROTARY, CHUNKS),
    "llava": (IMAGES,),
    "mamba": (STATE_SPACE,),
    "mamba2": (STATE_SPACE,),
    "marian": (ENCODER, POST_NORM, SCALED_EMBEDDINGS, BIASED_LOGITS),
    "ministral": (SOME_WINDOWS,),
    "mistral3": (IMAGES,),
    "mixtral": (EXPERTS,),
    "mpt": (ALIBI, PLAIN_LAYER_NORM, FUSED),
    "mt5": (ENCODER, RELATIVE, SCORE_SCALE),
    "nemotron": (UNIT_OFFSET, PARTIAL_ROTARY, ROTARY_LAYER_NORM, "the square of ReLU"),
    "olmo": ("LayerNorm without gain and shift",),
    "olmo2": (OUTPUT_NORMS, QK_NORM),
    "olmo3": (OUTPUT_NORMS, QK_NORM, SOME_WINDOWS),
    "olmoe": (EXPERTS, QK_NORM),
    "opt": (OFFSET_POSITIONS,),
    "phi": (*_NEOX, BIASED_LOGITS),
    "phi3": (FUSED, FUSED_FFN),
    "phimoe": (EXPERTS, ROTARY_LAYER_NORM),
    "qwen2_moe": (EXPERTS,),
    "qwen2_vl": (IMAGES, MULTI_AXES),
    "qwen2_5_vl": (IMAGES, MULTI_AXES),
    "qwen3": (QK_NORM,),
    "qwen3_moe": (EXPERTS, QK_NORM),
    "qwen3_next": ("gated and linear attention", EXPERTS, QK_NORM, UNIT_OFFSET, PARTIAL_ROTARY),
    "roberta": (*_BERT, OFFSET_POSITIONS),
    "rwkv": ("recurrent layers",),
    "smollm3": (SOME_ROTARY,),
    "stablelm": (PARTIAL_ROTARY, ROTARY_LAYER_NORM),
    "starcoder2": (ROTARY_LAYER_NORM,),
    "t5": (ENCODER, RELATIVE, SCORE_SCALE),
    "whisper": ("an encoder of sound with cross-attention",),
    "xlm-roberta": (*_BERT, OFFSET_POSITIONS),
}
"""The missing parts by Hugging Face's `model_type`, from each published architecture."""

_SAME_NAME = (
    "bert bloom cohere2 falcon gemma gemma2 glm4 gptj granite granitemoe llama4 mamba mamba2 mpt "
    "nemotron olmo olmo2 olmoe phi3 phimoe qwen3 smollm3 stablelm starcoder2 t5"
)
_GGUF_NAMES: Mapping[str, str] = {
    **{name: name for name in _SAME_NAME.split()},
    **{"command-r": "cohere", "deepseek2": "deepseek_v3", "gemma3": "gemma3_text"},
    **{"gpt-oss": "gpt_oss", "gptneox": "gpt_neox", "phi2": "phi", "qwen2moe": "qwen2_moe"},
    **{"qwen3moe": "qwen3_moe", "qwen3next": "qwen3_next", "starcoder": "gpt_bigcode"},
}
GGUF_NEEDS: Mapping[str, Parts] = {
    gguf: tuple(part for part in NEEDS[name] if part not in (UNIT_OFFSET, IMAGES))
    for gguf, name in _GGUF_NAMES.items()
}
"""By `general.architecture`. These files store 1 + γ, and keep images in a separate file."""


def family_of(
    settings: Settings, key: str, known: Mapping[str, Family], needs: Mapping[str, Parts]
) -> Family:
    """Return the family that a file names.

    Raises:
        TracerError: it is not supported; the message names the parts that it needs.
    """
    name = settings.get(key)
    if isinstance(name, str) and name not in known:
        missing = needs.get(name)
        why = f"which needs {_listed(missing)}, not supported" if missing else "not known here"
        settings.wrong(key, f"{why}; supported are {', '.join(known)}")
        settings.check()
    family = settings.one_of(key, known)
    settings.check()
    return family


def _listed(parts: Parts) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
