"""GLM-4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import BOTH_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import with_fused_ffn, with_norms_after

GLM = replace(
    LLAMA,
    missing_context=131072,
    epsilon=("rms_norm_eps", 1.5625e-7),
    maybe_biases=(("QKV", "attention_bias", True),),
    missing_key_heads=2,
    missing_d_k=128,
    not_null=BOTH_HEADS,
    whole_heads=False,
    rotary=rotary(share=("partial_rotary_factor", 0.5)),
    rotary_layout="pairs",
    layout=with_fused_ffn(LLAMA.layout, "mlp.gate_up_proj"),
)
GLM_4 = replace(
    GLM,
    missing_context=131072,
    norm_after=True,
    layout=with_norms_after(
        GLM.layout,
        "post_self_attn_layernorm",
        "post_mlp_layernorm",
        before="post_attention_layernorm",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"glm": GLM, "glm4": GLM_4}
