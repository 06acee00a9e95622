"""ERNIE 4.5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary

ERNIE_4_5 = replace(
    LLAMA,
    missing_context=131072,
    epsilon=("rms_norm_eps", 1e-5),
    tied=True,
    maybe_biases=(("QKVOF", "use_bias", False),),
    missing_key_heads=2,
    missing_d_k=128,
    whole_heads=False,
    rotary=rotary(500000.0),
    rotary_layout="pairs",
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"ernie4_5": ERNIE_4_5}
