"""EXAONE 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_families.olmo import OLMO_2
from tracer.checkpoints.hugging_face_family import BOTH_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import Turns, rotary, rotary_within_windows
from tracer.checkpoints.hugging_face_windows import (
    WINDOW,
    Windows,
    full_attention,
    windows_but_every,
)
from tracer.checkpoints.settings import CheckpointSettings


def _windows(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.get(WINDOW, 4096) is not None:
        return windows_but_every(4)(settings, layers)
    settings.get("sliding_window_pattern")
    if settings.get("layer_types") is None:
        settings.wrong("layer_types", "expected a list: without windows, transformers needs it")
    return full_attention(settings, layers)


def _rotary(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
    """Read the positions, which layers without a window lack if any layer may have one."""
    has_windows = settings.get(WINDOW, 4096) is not None
    return (rotary_within_windows(rotary()) if has_windows else rotary())(settings, windows)


EXAONE_4 = replace(
    OLMO_2,
    maybe_biases=(),
    missing_key_heads=32,
    not_null=BOTH_HEADS,
    query_key_norm="head",
    rotary=_rotary,
    windows=_windows,
    only={**WITHOUT_WINDOW_KEY, "attention_bias": (False, "the projections have biases")},
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"exaone4": EXAONE_4}
