"""Arcee and Nemotron, whose FFN squares ReLU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, with_ffn_biases
from tracer.checkpoints.hugging_face_family import KEY_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary
from tracer.checkpoints.layouts import changed, with_shifts
from tracer.checkpoints.settings import CheckpointSettings


def _check_key_heads(settings: CheckpointSettings) -> None:
    if settings.get(KEY_HEADS) is None:
        settings.wrong(KEY_HEADS, "expected a whole number: transformers has no default")


ARCEE = with_ffn_biases(
    replace(
        LLAMA,
        missing_context=4096,
        epsilon=("rms_norm_eps", 1e-5),
        activation=("hidden_act", "relu2"),
        gated=False,
        layout=changed(LLAMA.layout, {"ffn.W_1": "mlp.up_proj"}, without=("ffn.W_3", "ffn.b_3")),
    )
)
NEMOTRON = replace(
    ARCEE,
    missing_context=4096,
    epsilon=("norm_eps", 1e-5),
    norm="layer_norm",
    unit_offset=True,
    whole_heads=False,
    rotary=rotary(share=("partial_rotary_factor", 0.5)),
    check=_check_key_heads,
    harmless="kv_channels",
    layout=with_shifts(ARCEE.layout),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"arcee": ARCEE, "nemotron": NEMOTRON}
