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
from tracer.checkpoints.layouts import changed, with_experts, with_query_key_norms
from tracer.checkpoints.settings import CheckpointSettings

MATRICES = ("gate_proj", "up_proj", "down_proj")


def _windows_of_qwen(settings: CheckpointSettings, layers: int) -> Windows:
    """From `max_window_layers` on, a layer has a window."""
    begin = settings.whole("max_window_layers", 28, least=0)
    window = settings.get(WINDOW, 4096)
    is_used = settings.flag("use_sliding_window", False) and window is not None
    full = min(begin, layers) if is_used else layers
    window = settings.whole(WINDOW, 4096) if is_used else None
    return by_kind(settings, [FULL] * full + [SLIDING] * (layers - full), window)


def _windows_of_qwen3_moe(settings: CheckpointSettings, layers: int) -> Windows:
    _check_experts_everywhere(settings)
    settings.get(WINDOW)
    is_used = settings.flag("use_sliding_window", False)
    return one_window(settings, layers) if is_used else [None] * layers


def _windows_of_qwen2_moe(settings: CheckpointSettings, layers: int) -> Windows:
    """Every second layer before `max_window_layers` has a window."""
    _check_experts_everywhere(settings)
    begin = settings.whole("max_window_layers", 28, least=0)
    has_size = settings.get(WINDOW, 4096) is not None
    is_used = settings.flag("use_sliding_window", False) and has_size
    window = settings.whole(WINDOW, 4096) if is_used else None
    has_window = (is_used and layer < begin and layer % 2 == 0 for layer in range(layers))
    return by_kind(settings, [SLIDING if has else FULL for has in has_window], window)


def _check_experts_everywhere(settings: CheckpointSettings) -> None:
    if settings.get("mlp_only_layers"):
        settings.wrong("mlp_only_layers", "expected null or []: some layers have no experts")


QWEN2 = replace(
    MISTRAL,
    missing_context=32768,
    biases="QKV",
    missing_key_heads=32,
    not_null=HEAD_DIM,
    windows=_windows_of_qwen,
)
QWEN3 = replace(
    QWEN2,
    missing_context=32768,
    query_key_norm="head",
    biases="",
    maybe_biases=LLAMA.maybe_biases,
    missing_d_k=128,
    only=WITHOUT_WINDOW_KEY,
    layout=with_query_key_norms(LLAMA.layout),
)
QWEN3_MOE = replace(
    QWEN3,
    missing_context=32768,
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
    layout=with_experts(QWEN3.layout, "mlp.gate", "mlp.experts.{}.", MATRICES),
)
QWEN2_MOE = replace(
    QWEN2,
    missing_context=32768,
    epsilon=("rms_norm_eps", 1e-6),
    biases="",
    maybe_biases=(("QKV", "qkv_bias", True),),
    missing_key_heads=16,
    not_null="",
    hidden="moe_intermediate_size",
    windows=_windows_of_qwen2_moe,
    experts="num_experts",
    top=("num_experts_per_tok", 4),
    normalize=("norm_topk_prob", False),
    shared=("shared_expert_intermediate_size", 5632),
    only={**WITHOUT_WINDOW_KEY, "decoder_sparse_step": (1, "only some layers have experts")},
    harmless="intermediate_size",
    layout=changed(
        with_experts(LLAMA.layout, "mlp.gate", "mlp.experts.{}.", MATRICES),
        {
            **{
                f"ffn.shared.{name}": f"mlp.shared_expert.{matrix}"
                for name, matrix in zip(("W_1", "W_3", "W_2"), MATRICES, strict=True)
            },
            "ffn.shared_gate": "mlp.shared_expert_gate",
        },
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
    missing_context=128000,
    rotary=rotary(500000.0),
    windows=full_attention,
    only=LLAMA.only,
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "qwen2_5_vl_text": QWEN2_VL_TEXT,
    "qwen2_moe": QWEN2_MOE,
    "qwen2_vl_text": QWEN2_VL_TEXT,
    "qwen3_moe": QWEN3_MOE,
    "qwen3_vl_text": QWEN3_VL_TEXT,
}
