"""Phi-3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import one_window
from tracer.checkpoints.layouts import with_fused_matrices

PHI3 = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    maybe_biases="",
    whole_heads=False,
    not_null=HEAD_DIM,
    rotary=rotary(
        share=("partial_rotary_factor", 1.0),
        scalings=("default", "longrope"),
        older={"su": "longrope", "yarn": "longrope"},
        original=4096,
    ),
    windows=one_window,
    only=WITHOUT_WINDOW_KEY,
    harmless="resid_pdrop embd_pdrop original_max_position_embeddings",
    layout=with_fused_matrices(LLAMA.layout, "self_attn.qkv_proj", "mlp.gate_up_proj"),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"phi3": PHI3}
