"""OLMo (Groeneveld et al. 2024) and its successors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily, Only
from tracer.checkpoints.hugging_face_rotary import rotary_of_windows
from tracer.checkpoints.hugging_face_windows import windows_but_every
from tracer.checkpoints.layouts import changed, with_experts, with_norms_after, with_query_key_norms

_NOT_CLAMPED: Only = {"clip_qkv": (None, "queries, keys and values are clamped")}
OLMO = replace(
    LLAMA,
    epsilon=(None, 1e-5),
    norm="layer_norm",
    whole_heads=False,
    not_null=HEAD_DIM,
    only={**LLAMA.only, **_NOT_CLAMPED},
    layout=changed(LLAMA.layout, {}, without=(".gain",)),
)
OLMO_2 = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    placement=None,
    norm_after=True,
    query_key_norm="heads",
    whole_heads=False,
    not_null=HEAD_DIM,
    layout=with_query_key_norms(with_norms_after(LLAMA.layout, before=None)),
)
OLMO_3 = replace(
    OLMO_2,
    rotary=rotary_of_windows(5e5, 5e5, ""),
    windows=windows_but_every(4, key=None),
    only=WITHOUT_WINDOW_KEY,
)
OLMOE = replace(
    OLMO_2,
    missing_context=4096,
    placement="pre",
    norm_after=False,
    whole_heads=True,
    experts="num_experts",
    same={"num_local_experts": "num_experts"},
    top=("num_experts_per_tok", 8),
    normalize=("norm_topk_prob", False),
    only={**LLAMA.only, **_NOT_CLAMPED},
    layout=with_experts(
        with_query_key_norms(LLAMA.layout),
        *("mlp.gate", "mlp.experts.{}.", ("gate_proj", "up_proj", "down_proj")),
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "olmo": OLMO,
    "olmo2": OLMO_2,
    "olmo3": OLMO_3,
    "olmoe": OLMOE,
}
