"""Seed-OSS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, with_ffn_biases
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily

SEED_OSS = replace(
    LLAMA,
    missing_context=524288,
    maybe_biases=(("QKV", "attention_bias", True), ("O", "attention_out_bias", False)),
    missing_key_heads=8,
    missing_d_k=128,
    whole_heads=False,
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"seed_oss": with_ffn_biases(SEED_OSS)}
