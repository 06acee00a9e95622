"""Granite 3, and the models of Granite 4 whose layers are all attention and an FFN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.architecture import FactorKeys
from tracer.checkpoints.families import STATE_SPACE
from tracer.checkpoints.hugging_face_families.llama import LLAMA, with_ffn_biases
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary, rotary_if
from tracer.checkpoints.hugging_face_windows import FULL, Windows
from tracer.checkpoints.layouts import changed, with_fused_ffn
from tracer.checkpoints.settings import CheckpointSettings

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


def _windows_of_4(settings: CheckpointSettings, layers: int) -> Windows:
    kinds = settings.entries("layer_types", str)
    if len(kinds) != layers or not {*kinds} <= {"attention", FULL}:
        settings.wrong("layer_types", f"supported is {layers} times 'attention': {STATE_SPACE}")
    return [None] * layers


def _check_4(settings: CheckpointSettings) -> None:
    if settings.get("num_local_experts", 8) != 0:
        settings.wrong("num_local_experts", "supported is 0: shared experts beside others")


GRANITE_4 = replace(
    GRANITE,
    hidden="shared_intermediate_size",
    rotary=rotary_if("position_embedding_type", "rope", rotary()),
    windows=_windows_of_4,
    check=_check_4,
    same={"layers_block_type": "layer_types"},
    harmless="intermediate_size num_experts_per_tok mamba_* time_step_limit "
    "normalization_function position_embedding_type",
    layout=changed(
        with_fused_ffn(LLAMA.layout, "shared_mlp.input_linear"),
        {"ffn.W_2": "shared_mlp.output_linear"},
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "granite": with_ffn_biases(GRANITE),
    "granitemoehybrid": GRANITE_4,
}
