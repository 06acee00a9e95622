"""Checkpoints of each family with a handful of random numbers, in each format.

Sizes: 2 layers, d = 32, 4 heads of 8 numbers (2 with keys of their own, but in GPT-2), 64 hidden
units, 40 words, 16 positions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quantize
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tests.helpers import tiny_marian

Array = NDArray[Any]
Tensors = dict[str, Array]

LAYERS, D, HEADS, KEY_HEADS, D_K, HIDDEN, WORDS, CONTEXT = 2, 32, 4, 2, 8, 64, 40, 16
KEYS = KEY_HEADS * D_K


def drawn(shapes: Mapping[str, tuple[int, ...]], seed: int = 1, layers: int = LAYERS) -> Tensors:
    """Random numbers for each tensor; `{}` in a name stands for each layer, from 0."""
    random = np.random.default_rng(seed)
    names = {
        name.format(layer): shape
        for name, shape in shapes.items()
        for layer in (range(layers) if "{}" in name else [0])
    }
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in names.items()}


def gguf_gpt2() -> Tensors:
    return drawn({
        "token_embd.weight": (WORDS, D),
        "position_embd.weight": (CONTEXT, D),
        "blk.{}.attn_norm.weight": (D,),
        "blk.{}.attn_norm.bias": (D,),
        "blk.{}.attn_qkv.weight": (3 * D, D),
        "blk.{}.attn_qkv.bias": (3 * D,),
        "blk.{}.attn_output.weight": (D, D),
        "blk.{}.attn_output.bias": (D,),
        "blk.{}.ffn_norm.weight": (D,),
        "blk.{}.ffn_norm.bias": (D,),
        "blk.{}.ffn_up.weight": (HIDDEN, D),
        "blk.{}.ffn_up.bias": (HIDDEN,),
        "blk.{}.ffn_down.weight": (D, HIDDEN),
        "blk.{}.ffn_down.bias": (D,),
        "output_norm.weight": (D,),
        "output_norm.bias": (D,),
    })  # fmt: skip


def gguf_llama(*, biases: bool = False) -> Tensors:
    """Llama's tensors; with biases they are Qwen2's."""
    of_biases = {"q": HEADS * D_K, "k": KEYS, "v": KEYS} if biases else {}
    return drawn({
        "token_embd.weight": (WORDS, D),
        "blk.{}.attn_norm.weight": (D,),
        "blk.{}.attn_q.weight": (HEADS * D_K, D),
        "blk.{}.attn_k.weight": (KEYS, D),
        "blk.{}.attn_v.weight": (KEYS, D),
        **{f"blk.{{}}.attn_{part}.bias": (length,) for part, length in of_biases.items()},
        "blk.{}.attn_output.weight": (D, HEADS * D_K),
        "blk.{}.ffn_norm.weight": (D,),
        "blk.{}.ffn_gate.weight": (HIDDEN, D),
        "blk.{}.ffn_up.weight": (HIDDEN, D),
        "blk.{}.ffn_down.weight": (D, HIDDEN),
        "output_norm.weight": (D,),
        "output.weight": (WORDS, D),
    })  # fmt: skip


def gguf_values(family: str) -> dict[str, Any]:
    of_family: dict[str, Any] = {
        "block_count": LAYERS,
        "context_length": CONTEXT,
        "embedding_length": D,
        "feed_forward_length": HIDDEN,
        "attention.head_count": HEADS,
    }
    if family == "gpt2":
        of_family["attention.layer_norm_epsilon"] = 0.5
    else:
        of_family |= {
            "attention.head_count_kv": KEY_HEADS,
            "attention.layer_norm_rms_epsilon": 0.5,
            "rope.freq_base": 500.0,
        }
    return {f"{family}.{key}": value for key, value in of_family.items()}


def write_gguf(
    path: Path,
    family: str,
    tensors: Mapping[str, Array],
    values: Mapping[str, Any] | None = None,
    kinds: Mapping[str, GGMLQuantizationType] | None = None,
) -> Path:
    """A GGUF file; `kinds` says which tensors are quantised, and how."""
    writer = GGUFWriter(path, family)
    for key, value in (gguf_values(family) | dict(values or {})).items():
        match value:
            case list():
                writer.add_array(key, value)
            case str():
                writer.add_string(key, value)
            case bool():
                writer.add_bool(key, value)
            case float():
                writer.add_float32(key, value)
            case _:
                writer.add_uint32(key, value)
    for name, numbers in tensors.items():
        kind = (kinds or {}).get(name, GGMLQuantizationType.F32)
        writer.add_tensor(name, quantize(numbers, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def hugging_face_gpt2() -> Tensors:
    return drawn({
        "wte.weight": (WORDS, D),
        "wpe.weight": (CONTEXT, D),
        "h.{}.ln_1.weight": (D,),
        "h.{}.ln_1.bias": (D,),
        "h.{}.attn.c_attn.weight": (D, 3 * D),
        "h.{}.attn.c_attn.bias": (3 * D,),
        "h.{}.attn.c_proj.weight": (D, D),
        "h.{}.attn.c_proj.bias": (D,),
        "h.{}.ln_2.weight": (D,),
        "h.{}.ln_2.bias": (D,),
        "h.{}.mlp.c_fc.weight": (D, HIDDEN),
        "h.{}.mlp.c_fc.bias": (HIDDEN,),
        "h.{}.mlp.c_proj.weight": (HIDDEN, D),
        "h.{}.mlp.c_proj.bias": (D,),
        "ln_f.weight": (D,),
        "ln_f.bias": (D,),
    })  # fmt: skip


def hugging_face_llama(*, biases: bool = False) -> Tensors:
    """Llama's and Mistral's tensors; with biases they are Qwen2's."""
    return drawn(shapes_of_llama(biases=biases))


def shapes_of_llama(d_k: int = D_K, *, biases: bool = False) -> dict[str, tuple[int, ...]]:
    """The shape of each of Llama's tensors in a folder."""
    queries, keys = HEADS * d_k, KEY_HEADS * d_k
    of_biases = {"q": queries, "k": keys, "v": keys} if biases else {}
    layer = "model.layers.{}"
    return {
        "model.embed_tokens.weight": (WORDS, D),
        f"{layer}.input_layernorm.weight": (D,),
        f"{layer}.self_attn.q_proj.weight": (queries, D),
        f"{layer}.self_attn.k_proj.weight": (keys, D),
        f"{layer}.self_attn.v_proj.weight": (keys, D),
        **{f"{layer}.self_attn.{p}_proj.bias": (length,) for p, length in of_biases.items()},
        f"{layer}.self_attn.o_proj.weight": (D, queries),
        f"{layer}.post_attention_layernorm.weight": (D,),
        f"{layer}.mlp.gate_proj.weight": (HIDDEN, D),
        f"{layer}.mlp.up_proj.weight": (HIDDEN, D),
        f"{layer}.mlp.down_proj.weight": (D, HIDDEN),
        "model.norm.weight": (D,),
        "lm_head.weight": (WORDS, D),
    }


def config(family: str) -> dict[str, Any]:
    """What Hugging Face's config.json says of it."""
    if family == "gpt2":
        sizes = {"n_embd": D, "n_head": HEADS, "n_layer": LAYERS, "n_positions": CONTEXT}
        rest = {"n_inner": HIDDEN, "vocab_size": WORDS, "layer_norm_epsilon": 0.5}
        return {"model_type": "gpt2", **sizes, **rest}
    if family == "marian":
        return dict(tiny_marian.CONFIG)
    of_all = {
        "model_type": family,
        "hidden_size": D,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": HIDDEN,
        "vocab_size": WORDS,
        "max_position_embeddings": CONTEXT,
    }
    of_llama = {"num_key_value_heads": KEY_HEADS, "rms_norm_eps": 0.5, "rope_theta": 500.0}
    return of_all if family == "gpt_neox" else of_all | of_llama


def write_folder(
    folder: Path, family: str, tensors: Tensors, values: Mapping[str, Any] | None = None
) -> Path:
    """A folder as Hugging Face's."""
    folder.mkdir(exist_ok=True)
    said = json.dumps(config(family) | dict(values or {}))
    (folder / "config.json").write_text(said, encoding="utf-8")
    save_file(tensors, folder / "model.safetensors")
    return folder


def write_shards(folder: Path, shards: Mapping[str, Tensors]) -> Path:
    """The tensors in several files and an index, beside config.json."""
    for shard, tensors in shards.items():
        save_file(tensors, folder / shard)
    index = {name: shard for shard, tensors in shards.items() for name in tensors}
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": index}), encoding="utf-8")
    return path
