"""Command R and Command R7B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary, rotary_within_windows
from tracer.checkpoints.hugging_face_windows import windows_but_every

COHERE = replace(
    LLAMA,
    missing_context=8192,
    epsilon=("layer_norm_eps", 1e-5),
    tied=True,
    norm="layer_norm",
    rotary=rotary(500000.0),
    rotary_layout="pairs",
    parallel=True,
    shares_norm=True,
    logit_factor=("logit_scale", 0.0625),
    whole_heads=False,
    not_null=HEAD_DIM,
    only={**LLAMA.only, "use_qk_norm": (False, "a norm of queries and keys")},
)
COHERE_2 = replace(
    COHERE,
    rotary=rotary_within_windows(rotary()),
    windows=windows_but_every(4),
    only=WITHOUT_WINDOW_KEY,
    harmless="layer_switch order_of_interleaved_layers "
    "position_embedding_type rotary_pct use_embedding_sharing use_gated_activation "
    "use_parallel_block use_parallel_embedding",
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"cohere": COHERE, "cohere2": COHERE_2}
