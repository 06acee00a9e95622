"""A Hugging Face folder as a GGUF file, as llama.cpp's convert_hf_to_gguf.py writes it.

The names of tensors and keys come from the gguf package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import MODEL_ARCH, MODEL_ARCH_NAMES, GGUFWriter, RopeScalingType, get_tensor_name_map
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[Any]

ARCHITECTURES = {
    "gemma": MODEL_ARCH.GEMMA,
    "gemma2": MODEL_ARCH.GEMMA2,
    "gemma3_text": MODEL_ARCH.GEMMA3,
    "gpt_neox": MODEL_ARCH.GPTNEOX,
    "gpt_oss": MODEL_ARCH.GPT_OSS,
    "granite": MODEL_ARCH.GRANITE,
    "llama": MODEL_ARCH.LLAMA,
    "mistral": MODEL_ARCH.LLAMA,
    "mixtral": MODEL_ARCH.LLAMA,
    "olmo2": MODEL_ARCH.OLMO2,
    "olmoe": MODEL_ARCH.OLMOE,
    "phi3": MODEL_ARCH.PHI3,
    "qwen2": MODEL_ARCH.QWEN2,
    "qwen3": MODEL_ARCH.QWEN3,
    "qwen3_moe": MODEL_ARCH.QWEN3MOE,
    "smollm3": MODEL_ARCH.SMOLLM3,
}
PERMUTED = ("granite", "llama", "mistral", "mixtral", "smollm3")
"""Families whose queries and keys are permuted, so that pairs are adjacent columns."""
EXPERT = re.compile(r"(.*)\.experts\.(\d+)\.(.*)\.weight")


def convert(folder: Path, path: Path, other: Mapping[str, Any] | None = None) -> Path:
    """Write the model of a folder as a GGUF file of 32-bit floats.

    `other`: keys of the family with other values; None leaves a key out.
    """
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    family = said["model_type"]
    architecture = ARCHITECTURES[family]
    writer = GGUFWriter(path, MODEL_ARCH_NAMES[architecture])
    (_keys_of_neox if family == "gpt_neox" else _keys)(writer, said)
    for key, value in (other or {}).items():
        _change(writer, f"{MODEL_ARCH_NAMES[architecture]}.{key}", value)
    names = get_tensor_name_map(architecture, said["num_hidden_layers"])
    for name, numbers in _tensors(load_file(folder / "model.safetensors"), said):
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored, name
        writer.add_tensor(stored, np.ascontiguousarray(numbers, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _change(writer: GGUFWriter, key: str, value: Any) -> None:
    writer.kv_data[0].pop(key, None)
    match value:
        case None:
            pass
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def _keys(writer: GGUFWriter, said: dict[str, Any]) -> None:
    family, heads = said["model_type"], said["num_attention_heads"]
    rope = said.get("rope_parameters") or {"rope_theta": said.get("rope_theta", 10000.0)}
    rope = rope.get("full_attention", rope)
    writer.add_block_count(said["num_hidden_layers"])
    writer.add_context_length(said["max_position_embeddings"])
    writer.add_embedding_length(said["hidden_size"])
    writer.add_feed_forward_length(said["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(said["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(said["rms_norm_eps"])
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_file_type(0)
    if (d_k := said.get("head_dim")) is not None:
        writer.add_key_length(d_k)
        writer.add_value_length(d_k)
    if rope.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if rope.get("rope_type") == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if family in PERMUTED:
        writer.add_vocab_size(said["vocab_size"])
        writer.add_rope_dimension_count(d_k or said["hidden_size"] // heads)
    if family == "phi3":
        writer.add_rope_dimension_count(said["hidden_size"] // heads)
    if (experts := said.get("num_local_experts", said.get("num_experts"))) is not None:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(said["num_experts_per_tok"])
    if family == "gpt_oss":
        writer.add_sliding_window(said["sliding_window"])
    of_experts = "intermediate_size" if family == "gpt_oss" else "moe_intermediate_size"
    if (units := said.get(of_experts)) is not None:
        writer.add_expert_feed_forward_length(units)
    if family == "granite":
        writer.add_attention_scale(said["attention_multiplier"])
        writer.add_embedding_scale(said["embedding_multiplier"])
        writer.add_residual_scale(said["residual_multiplier"])
        writer.add_logit_scale(said["logits_scaling"])
    if family == "gemma2":
        writer.add_attn_logit_softcapping(said["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(said["final_logit_softcapping"])
    elif family == "gemma3_text" and (cap := said.get("final_logit_softcapping")):
        writer.add_final_logit_softcapping(cap)
    has_windows = "sliding_attention" in said.get("layer_types", ["sliding_attention"])
    if family in ("gemma2", "gemma3_text") and has_windows:
        writer.add_sliding_window(said["sliding_window"])


def _keys_of_neox(writer: GGUFWriter, said: dict[str, Any]) -> None:
    heads = said["num_attention_heads"]
    writer.add_context_length(said["max_position_embeddings"])
    writer.add_embedding_length(said["hidden_size"])
    writer.add_block_count(said["num_hidden_layers"])
    writer.add_feed_forward_length(said["intermediate_size"])
    writer.add_rope_dimension_count(int(said["rotary_pct"] * (said["hidden_size"] // heads)))
    writer.add_head_count(heads)
    writer.add_parallel_residual(said.get("use_parallel_residual", True))
    writer.add_layer_norm_eps(said["layer_norm_eps"])


def _tensors(tensors: dict[str, Array], said: dict[str, Any]) -> Iterator[tuple[str, Array]]:
    """Yield the tensors as they are stored, with Hugging Face's names."""
    family, heads = said["model_type"], said["num_attention_heads"]
    stacks: dict[str, list[Array]] = {}
    for name, numbers in sorted(tensors.items()):
        if family.startswith("gemma") and name == "lm_head.weight":
            continue
        if family.startswith("gemma") and name.endswith("norm.weight"):
            yield name, numbers + 1
        elif expert := EXPERT.fullmatch(name):  # of fewer than 10, so that they are in order
            place = re.sub(r"model\.(layers\.\d+)\.block_sparse_moe", r"\1.feed_forward", expert[1])
            stacks.setdefault(f"{place}.experts.{expert[3]}.weight", []).append(numbers)
        elif family in PERMUTED and re.search(r"\.[qk]_proj\.", name):
            yield name, _permuted(numbers, said["num_key_value_heads"] if ".k_" in name else heads)
        elif ".mlp.experts." in name:
            yield from _of_experts(name, numbers)
        elif name.endswith(".sinks"):
            yield f"{name}.weight", numbers
        elif "query_key_value" in name:
            of_heads = numbers.reshape(heads, 3, -1, *numbers.shape[1:])
            yield name, of_heads.swapaxes(0, 1).reshape(numbers.shape)
        else:
            yield name, numbers
    for name, matrices in stacks.items():
        yield name, np.stack(matrices)


def _of_experts(name: str, numbers: Array) -> Iterator[tuple[str, Array]]:
    """The stacks of gpt-oss: a row for each output, and alternate rows apart."""
    rows, is_bias = numbers, name.endswith("_bias")
    if not is_bias:
        rows = numbers.swapaxes(1, 2)
    end = ".bias" if is_bias else ".weight"
    stack = name.removesuffix("_bias")
    if stack.endswith("gate_up_proj"):
        yield stack.replace("gate_up", "gate") + end, rows[:, ::2]
        yield stack.replace("gate_up", "up") + end, rows[:, 1::2]
    else:
        yield stack + end, rows


def _permuted(numbers: Array, heads: int) -> Array:
    halves = numbers.reshape(heads, 2, len(numbers) // heads // 2, *numbers.shape[1:])
    return halves.swapaxes(1, 2).reshape(numbers.shape)
