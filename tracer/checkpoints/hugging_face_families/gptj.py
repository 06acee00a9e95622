"""GPT-J (Wang and Komatsuzaki 2021) and CodeGen (Nijkamp et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tracer.checkpoints.architecture import RotaryPositions
from tracer.checkpoints.hugging_face_families.gpt2 import GPT2
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import Turns
from tracer.checkpoints.layouts import layout
from tracer.checkpoints.settings import CheckpointSettings


def _rotary(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
    """Read the number of rotated columns; the base is fixed."""
    head = max(1, settings.whole("n_embd") // settings.whole("n_head"))
    share = settings.whole("rotary_dim", 64, most=head) / head
    return RotaryPositions(10000.0, "pairs", None, share), {}


_TENSORS = {
    "embeddings": "wte",
    "final_norm.gain": "ln_f",
    "unembedding.W_U": "lm_head",
    "layer.attention.norm.gain": "ln_1",
    "layer.attention.W_O": "attn.out_proj",
    "layer.ffn.W_1": "mlp.fc_in",
    "layer.ffn.W_2": "mlp.fc_out",
}
_BIASED = ("layer.attention.norm", "layer.ffn", "final_norm.", "unembedding.")
GPT_J = replace(
    GPT2,
    tied=False,
    biases="F",
    rotary=_rotary,
    rotary_layout="pairs",
    rotates_pairs=True,
    bounded=True,
    parallel=True,
    shares_norm=True,
    divided_by_layer="",
    not_null="rotary_dim",
    harmless=f"{GPT2.harmless} rotary",
    layout=layout(
        {
            **_TENSORS,
            "layer.attention.W_Q": "attn.q_proj",
            "layer.attention.W_K": "attn.k_proj",
            "layer.attention.W_V": "attn.v_proj",
        },
        "h.{}.",
        _BIASED,
        transposed=True,
        unused=("*.attn.bias", "*.attn.masked_bias"),
        prefix="transformer.",
    ),
)
CODEGEN_GROUPS = 4
"""In CodeGen's matrix, four groups of heads are side by side: queries, values and keys of each."""


def _check_groups(settings: CheckpointSettings) -> None:
    if settings.whole("n_head") % CODEGEN_GROUPS:
        settings.wrong("n_head", f"expected a multiple of {CODEGEN_GROUPS}")


CODEGEN = replace(
    GPT_J,
    check=_check_groups,
    layout=layout(
        {**_TENSORS, "layer.attention.W_QVK": "attn.qkv_proj"},
        "h.{}.",
        _BIASED,
        transposed=True,
        unused=("*.attn.causal_mask",),
        groups=CODEGEN_GROUPS,
        prefix="transformer.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"codegen": CODEGEN, "gptj": GPT_J}
