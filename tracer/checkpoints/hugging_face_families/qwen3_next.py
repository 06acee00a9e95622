"""Qwen3-Next (Qwen team 2025): the gated delta rule in most layers, and experts in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.architecture import DeltaLayers
from tracer.checkpoints.hugging_face_families.qwen import QWEN2_MOE
from tracer.checkpoints.hugging_face_family import BOTH_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.hugging_face_windows import FULL, Windows
from tracer.checkpoints.layouts import Layout, changed, with_query_key_norms
from tracer.checkpoints.settings import CheckpointSettings

LINEAR = "linear_attention"
TYPES, INTERVAL = "layer_types", "full_attention_interval"
SIZES = (
    "linear_num_key_heads linear_num_value_heads linear_key_head_dim linear_value_head_dim "
    "linear_conv_kernel_dim"
)


def delta_layers(settings: CheckpointSettings, layers: int) -> DeltaLayers | None:
    """Read which layers have the gated delta rule, and the sizes of its heads."""
    interval = settings.whole(INTERVAL, 4)
    kinds = [LINEAR if layer % interval else FULL for layer in range(1, layers + 1)]
    if settings.get(TYPES) is not None:
        said = settings.entries(TYPES, str, layers)
        if any(kind not in (LINEAR, FULL) for kind in said):
            settings.wrong(TYPES, f"supported are {LINEAR} and {FULL} here")
        kinds = said or kinds
    if FULL not in kinds:
        settings.refuse(TYPES, f"expected a layer of {FULL}: transformers raises an error")
    return DeltaLayers(
        frozenset(layer for layer, kind in enumerate(kinds, 1) if kind == LINEAR),
        key_heads=settings.whole("linear_num_key_heads", 16),
        heads=settings.whole("linear_num_value_heads", 32),
        d_k=settings.whole("linear_key_head_dim", 128),
        d_v=settings.whole("linear_value_head_dim", 128),
        window=settings.whole("linear_conv_kernel_dim", 4),
    )


def _windows(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.get("mlp_only_layers"):
        settings.wrong("mlp_only_layers", "expected null or []: some layers have no experts")
    return [None] * layers


def _layout(of_experts: Layout) -> Layout:
    """Return the layout with a gate beside each query, and with the delta rule's tensors."""
    gated = changed(
        with_query_key_norms(of_experts),
        {"attention.W_QG": "self_attn.q_proj"},
        ("attention.W_Q", "attention.b_Q"),
    )
    own = {
        "W_QKVG": "in_proj_qkvz.weight",
        "W_BA": "in_proj_ba.weight",
        "conv": "conv1d.weight[:, 0]",
        "gate.A_log": "A_log",
        "gate.b_A": "dt_bias",
        "output_norm.gain": "norm.weight",
        "W_O": "out_proj.weight",
    }
    names = {f"layer.delta.{key}": f"model.layers.{{}}.linear_attn.{own[key]}" for key in own}
    return replace(gated, names={**gated.names, **names}, unused=(*gated.unused, "mtp.*"))


QWEN3_NEXT = replace(
    QWEN2_MOE,
    missing_context=32768,
    biases="",
    maybe_biases=(),
    missing_key_heads=2,
    missing_d_k=256,
    not_null=f"{BOTH_HEADS} {SIZES}",
    rotary=rotary(share=("partial_rotary_factor", 0.25)),
    windows=_windows,
    delta=delta_layers,
    output_gate=True,
    query_key_norm="head",
    unit_offset=True,
    top=("num_experts_per_tok", 10),
    normalize=("norm_topk_prob", True),
    shared=("shared_expert_intermediate_size", 512),
    only={
        **{key: QWEN2_MOE.only[key] for key in QWEN2_MOE.only},
        "attention_bias": (False, "queries, keys and values have biases"),
        "hidden_act": ("silu", "it is also the function behind the convolutions"),
    },
    layout=_layout(QWEN2_MOE.layout),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"qwen3_next": QWEN3_NEXT}
