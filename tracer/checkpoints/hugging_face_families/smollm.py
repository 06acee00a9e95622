"""SmolLM3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import (
    LLAMA,
    WITHOUT_WINDOW_KEY,
    with_ffn_biases,
)
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary_in_some_layers
from tracer.checkpoints.hugging_face_windows import WINDOW, Windows, full_attention
from tracer.checkpoints.settings import CheckpointSettings


def _windows_of_smollm3(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.flag("use_sliding_window", False):
        settings.wrong("use_sliding_window", "expected false: some layers have a window")
    settings.get(WINDOW)
    return full_attention(settings, layers)


SMOLLM3 = replace(
    LLAMA,
    missing_context=32768,
    tied=True,
    missing_key_heads=4,
    rotary=rotary_in_some_layers(2e6),
    windows=_windows_of_smollm3,
    only=WITHOUT_WINDOW_KEY,
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"smollm3": with_ffn_biases(SMOLLM3)}
