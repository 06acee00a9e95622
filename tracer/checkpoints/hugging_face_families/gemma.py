"""Gemma, Gemma 2 and the text models of Gemma 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import rotary_of_windows
from tracer.checkpoints.hugging_face_windows import WINDOW, windows_but_every
from tracer.checkpoints.layouts import changed, with_norms_after, with_query_key_norms

GEMMA = replace(
    LLAMA,
    missing_context=8192,
    tied=True,
    unit_offset=True,
    scales_embeddings=True,
    activation=("hidden_act", "gelu_pytorch_tanh"),
    meant={"gelu": "gelu_pytorch_tanh"},
    missing_key_heads=16,
    missing_d_k=256,
    whole_heads=False,
    not_null=HEAD_DIM,
    harmless="hidden_activation",
)
GEMMA_2 = replace(
    GEMMA,
    activation=("hidden_activation", "gelu_pytorch_tanh"),
    meant={},
    missing_key_heads=4,
    whole_heads=True,
    windows=windows_but_every(2, key=None),
    norm_after=True,
    squared_divisor=("query_pre_attn_scalar", 256.0),
    score_cap=("attn_logit_softcapping", 50.0),
    logit_cap=("final_logit_softcapping", 30.0),
    only={key: GEMMA.only[key] for key in GEMMA.only if key != WINDOW},
    harmless="hidden_act",
    equal={"sliding_window_size": WINDOW},
    layout=with_norms_after(LLAMA.layout),
)
GEMMA_3 = replace(
    GEMMA_2,
    missing_context=131072,
    rotary=rotary_of_windows(1e6, 10000.0, "rope_local_base_freq"),
    windows=windows_but_every(6),
    query_key_norm="head",
    score_cap=None,
    logit_cap=("final_logit_softcapping", None),
    harmless="hidden_act attn_logit_softcapping",  # a cap that transformers does not apply
    layout=with_query_key_norms(GEMMA_2.layout),
)
VAULT_GEMMA = replace(
    GEMMA_2,
    norm_after=False,
    layout=changed(LLAMA.layout, {"ffn.norm.gain": "pre_feedforward_layernorm"}),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "gemma": GEMMA,
    "gemma2": GEMMA_2,
    "gemma3_text": GEMMA_3,
    "vaultgemma": VAULT_GEMMA,
}
