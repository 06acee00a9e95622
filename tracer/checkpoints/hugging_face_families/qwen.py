"""Qwen2 and Qwen3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_families.mistral import MISTRAL
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import (
    FULL,
    SLIDING,
    WINDOW,
    Windows,
    by_kind,
    full_attention,
    one_window,
)
from tracer.checkpoints.layouts import with_experts, with_query_key_norms
from tracer.checkpoints.settings import CheckpointSettings


def _windows_of_qwen(settings: CheckpointSettings, layers: int) -> Windows:
    """From `max_window_layers` on, a layer has a window."""
    begin = settings.whole("max_window_layers", 28, least=0)
    window = settings.get(WINDOW, 4096)
    is_used = settings.flag("use_sliding_window", False) and window is not None
    full = min(begin, layers) if is_used else layers
    window = settings.whole(WINDOW, 4096) if is_used else None
    return by_kind(settings, [FULL] * full + [SLIDING] * (layers - full), window)


def _windows_of_qwen3_moe(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.get("mlp_only_layers"):
        settings.wrong("mlp_only_layers", "expected null or []: some layers have no experts")
    settings.get(WINDOW)
    is_used = settings.flag("use_sliding_window", False)
    return one_window(settings, layers) if is_used else [None] * layers


QWEN2 = replace(
    MISTRAL,
    biases="QKV",
    missing_key_heads=32,
    not_null=HEAD_DIM,
    windows=_windows_of_qwen,
)
QWEN3 = replace(
    QWEN2,
    query_key_norm="head",
    biases="",
    maybe_biases=LLAMA.maybe_biases,
    missing_d_k=128,
    only=WITHOUT_WINDOW_KEY,
    layout=with_query_key_norms(LLAMA.layout),
)
QWEN3_MOE = replace(
    QWEN3,
    hidden="moe_intermediate_size",
    windows=_windows_of_qwen3_moe,
    missing_d_k=None,
    missing_key_heads=4,
    experts="num_experts",
    same={"num_local_experts": "num_experts"},
    top=("num_experts_per_tok", 8),
    normalize=("norm_topk_prob", False),
    only={
        **WITHOUT_WINDOW_KEY,
        "use_qk_norm": (True, "transformers computes the norm of queries and keys"),
        "decoder_sparse_step": (1, "only some layers have experts"),
    },
    harmless="intermediate_size",
    layout=with_experts(
        QWEN3.layout, "mlp.gate", "mlp.experts.{}.", ("gate_proj", "up_proj", "down_proj")
    ),
)
QWEN2_VL_TEXT = replace(
    QWEN2,
    epsilon=("rms_norm_eps", 1e-5),
    missing_key_heads=8,
    not_null="",
    rotary=rotary(1e6),
)
QWEN3_VL_TEXT = replace(
    QWEN3,
    rotary=rotary(500000.0),
    windows=full_attention,
    only=LLAMA.only,
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "qwen2_5_vl_text": QWEN2_VL_TEXT,
    "qwen2_vl_text": QWEN2_VL_TEXT,
    "qwen3_moe": QWEN3_MOE,
    "qwen3_vl_text": QWEN3_VL_TEXT,
}
