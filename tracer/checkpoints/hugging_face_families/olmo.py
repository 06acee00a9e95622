"""OLMo 2 and OLMoE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.layouts import with_experts, with_norms_after, with_query_key_norms

OLMO_2 = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    placement=None,
    norm_after=True,
    query_key_norm="heads",
    whole_heads=False,
    not_null=HEAD_DIM,
    layout=with_query_key_norms(with_norms_after(LLAMA.layout, before=False)),
)
OLMOE = replace(
    OLMO_2,
    placement="pre",
    norm_after=False,
    whole_heads=True,
    experts="num_experts",
    same={"num_local_experts": "num_experts"},
    top=("num_experts_per_tok", 8),
    normalize=("norm_topk_prob", False),
    only={**LLAMA.only, "clip_qkv": (None, "queries, keys and values are clamped")},
    harmless="router_aux_loss_coef output_router_logits",
    layout=with_experts(
        with_query_key_norms(LLAMA.layout),
        *("mlp.gate", "mlp.experts.{}.", ("gate_proj", "up_proj", "down_proj")),
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"olmo2": OLMO_2, "olmoe": OLMOE}
