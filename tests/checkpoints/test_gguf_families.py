"""The same numbers in a GGUF file and in a folder are the same model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers import tiny_checkpoints as tiny
from tests.helpers.tiny_models import naming
from tracer.decoder.forward import trace
from tracer.scenario.loading import load

IDS = [3, 1, 4, 1, 5, 9]
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.qkv_proj": "attn_qkv",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""llama.cpp's names of Hugging Face's tensors."""


def of_qwen3() -> tiny.Tensors:
    norms = {f"model.layers.{{}}.self_attn.{p}_norm.weight": (tiny.D_K,) for p in "qk"}
    return tiny.hugging_face_llama() | tiny.drawn(norms)


def of_gemma() -> tiny.Tensors:
    return {n: each for n, each in tiny.hugging_face_llama().items() if n != "lm_head.weight"}


def of_phi3() -> tiny.Tensors:
    tensors = tiny.hugging_face_llama()
    for layer in range(tiny.LAYERS):
        for fused, parts in (("self_attn.qkv", "qkv"), ("mlp.gate_up", ("gate", "up"))):
            place = f"model.layers.{layer}.{fused.split('.')[0]}."
            matrices = [tensors.pop(f"{place}{part}_proj.weight") for part in parts]
            tensors[f"model.layers.{layer}.{fused}_proj.weight"] = np.concatenate(matrices)
    return tensors


FAMILIES: dict[str, tuple[Callable[[], tiny.Tensors], dict[str, Any]]] = {
    "qwen3": (of_qwen3, {"head_dim": tiny.D_K}),
    "gemma": (of_gemma, {"head_dim": tiny.D_K}),
    "phi3": (of_phi3, {}),
}


def in_gguf(name: str) -> str:
    if not name.startswith("model.layers."):
        return NAMES[name.removesuffix(".weight")] + ".weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


@pytest.mark.parametrize("family", FAMILIES)
def test_both_formats_hold_the_same_model(family: str, tmp_path: Path) -> None:
    make, said = FAMILIES[family]
    # 1 more than each of these numbers is exact in float32, too.
    tensors = {name: np.round(numbers * 256) / 256 for name, numbers in make().items()}
    folder = tiny.write_folder(tmp_path / "folder", family, tensors, said)
    adds_1 = family == "gemma"
    stored = {
        in_gguf(name): numbers + 1 if adds_1 and name.endswith("norm.weight") else numbers
        for name, numbers in tensors.items()
    }
    file = tiny.write_gguf(tmp_path / "tiny.gguf", family, stored)

    def logits(path: Path) -> Any:
        return trace("tiny", load(naming(path, token_ids=IDS)).scenario)["logits"].numbers

    ours = logits(folder)
    assert np.ptp(ours) > 0.1
    assert_allclose(logits(file), ours, rtol=1e-12)
