"""Granite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.architecture import FactorKeys
from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily

GRANITE = replace(
    LLAMA,
    whole_heads=False,
    not_null=HEAD_DIM,
    factors=FactorKeys(
        embeddings="embedding_multiplier",
        scores="attention_multiplier",
        outputs="residual_multiplier",
        logits="logits_scaling",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"granite": GRANITE}
