"""gpt-oss (Agarwal et al. 2025): sinks, windows in every second layer, a clamped gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import BOTH_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import windows_but_every
from tracer.checkpoints.layouts import Layout, changed

YARN = {
    **{"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0},
    **{"truncate": False, "original_max_position_embeddings": 4096},
}
FFN = "model.layers.{}.mlp."


def _with_experts(llama: Layout, matrices: str, every: str) -> Layout:
    """Return Llama's layout with a sink for each head, a router, and experts in stacks.

    `matrices`: the end of the names of their matrices; `every`: the index of all rows of a matrix
    whose columns are hidden units. W_1 and W_3 have alternate units of one matrix.
    """
    apart = tuple(f".ffn.{kind}_{part}" for kind in "Wb" for part in "123")
    own = {
        "layer.attention.sink": "model.layers.{}.self_attn.sinks",
        "layer.ffn.router": f"{FFN}router.weight",
        "layer.ffn.router_bias": f"{FFN}router.bias",
        "layer.ffn.expert.W_1": f"{FFN}experts.gate_up_proj{matrices}[{{}}, {every}::2]",
        "layer.ffn.expert.b_1": f"{FFN}experts.gate_up_proj_bias[{{}}, ::2]",
        "layer.ffn.expert.W_3": f"{FFN}experts.gate_up_proj{matrices}[{{}}, {every}1::2]",
        "layer.ffn.expert.b_3": f"{FFN}experts.gate_up_proj_bias[{{}}, 1::2]",
        "layer.ffn.expert.W_2": f"{FFN}experts.down_proj{matrices}[{{}}]",
        "layer.ffn.expert.b_2": f"{FFN}experts.down_proj_bias[{{}}]",
    }
    without = changed(llama, {}, apart)
    return replace(without, names={**without.names, **own})


GPT_OSS = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    activation=(None, "silu"),
    maybe_biases=(("QKVO", "attention_bias", True),),
    biases="F",
    missing_context=131072,
    missing_key_heads=8,
    missing_d_k=64,
    not_null=BOTH_HEADS,
    whole_heads=False,
    rotary=rotary(150000.0, missing=YARN),
    windows=windows_but_every(2, key=None, missing=128),
    experts="num_local_experts",
    same={"num_experts": "num_local_experts"},
    top=("num_experts_per_tok", 4),
    gate=(("swiglu_alpha", 1.702), ("swiglu_limit", 7.0)),
    only=WITHOUT_WINDOW_KEY,
    harmless="experts_per_token initial_context_length",
    layout=replace(_with_experts(LLAMA.layout, "", ":, "), straight=".expert."),
    codes=("mxfp4", _with_experts(LLAMA.layout, "_blocks", "")),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt_oss": GPT_OSS}
