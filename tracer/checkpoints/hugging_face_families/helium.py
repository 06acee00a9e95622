"""Helium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, with_ffn_biases
from tracer.checkpoints.hugging_face_family import BOTH_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary

HELIUM = replace(
    LLAMA,
    missing_context=4096,
    epsilon=("rms_norm_eps", 1e-8),
    maybe_biases=(("QKV", "attention_bias", False),),
    missing_key_heads=20,
    missing_d_k=128,
    not_null=BOTH_HEADS,
    rotary=rotary(100000.0),
    rotary_layout="pairs",
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"helium": with_ffn_biases(HELIUM)}
