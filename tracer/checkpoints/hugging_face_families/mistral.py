"""Mistral (Jiang et al. 2023) and Mixtral."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import HEAD_DIM, KEY_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import (
    FULL,
    SLIDING,
    WINDOW,
    Windows,
    by_kind,
    one_window,
)
from tracer.checkpoints.layouts import with_experts
from tracer.checkpoints.settings import CheckpointSettings


def _windows_of_mistral(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.says("layer_types"):
        for key, default in ((WINDOW, 4096), ("head_dim", None)):
            if settings.get(key, default) is None:
                reason = "with layer_types, transformers loads a Ministral, which needs it"
                settings.wrong(key, f"expected a whole number: {reason}")
    return _windows_of_ministral(settings, layers)


def _windows_of_ministral(settings: CheckpointSettings, layers: int) -> Windows:
    has_window = settings.get(WINDOW, ...) is not None
    window = settings.whole(WINDOW, 4096) if has_window else None
    return by_kind(settings, [SLIDING if has_window else FULL] * layers, window)


MISTRAL = replace(
    LLAMA,
    missing_context=131072,
    maybe_biases=(),
    missing_key_heads=8,
    whole_heads=False,
    not_null=KEY_HEADS,
    windows=_windows_of_mistral,
    only={**WITHOUT_WINDOW_KEY, "attention_bias": (False, "the projections have biases")},
)
MIXTRAL = replace(
    MISTRAL,
    missing_context=131072,
    epsilon=("rms_norm_eps", 1e-5),
    windows=one_window,
    rotary=rotary(1e6),
    experts="num_local_experts",
    same={"num_experts": "num_local_experts"},
    top=("num_experts_per_tok", 2),
    layout=replace(
        with_experts(
            LLAMA.layout,
            *("block_sparse_moe.gate", "block_sparse_moe.experts.{}.", ("w1", "w3", "w2")),
        ),
        older={".mlp.": ".block_sparse_moe."},  # the names of the modules in transformers 5
    ),
)
MINISTRAL = replace(
    MISTRAL,
    missing_context=131072,
    not_null=f"{HEAD_DIM} {WINDOW}",
    windows=_windows_of_ministral,
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "ministral": MINISTRAL,
    "mistral": MISTRAL,
    "mixtral": MIXTRAL,
}
