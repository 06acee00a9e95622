"""StableLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import KEY_HEADS, HuggingFaceFamily, check_head_size
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import with_shifts

STABLELM = replace(
    LLAMA,
    missing_context=4096,
    epsilon=("layer_norm_eps", 1e-5),
    norm="layer_norm",
    maybe_biases=(("QKV", "use_qkv_bias", False),),
    missing_key_heads=32,
    not_null=KEY_HEADS,
    rotary=rotary(share=("partial_rotary_factor", 0.25)),
    rotates_pairs=True,
    parallel=("use_parallel_residual", False),
    shares_norm=True,
    check=check_head_size,
    only={**LLAMA.only, "qk_layernorm": (False, "each head has its own norms")},
    layout=with_shifts(LLAMA.layout),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"stablelm": STABLELM}
