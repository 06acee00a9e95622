"""A tensor that is missing, of another shape or too many is told as the file calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tiny_checkpoints
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError


def refused(path: Path) -> list[str]:
    with pytest.raises(TracerError) as caught:
        open_checkpoint(path)
    return str(caught.value).replace(f"{path}", "x").splitlines()


def test_all_that_is_wrong_in_a_gguf_file_is_told_at_once(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.gguf_llama()
    del tensors["blk.1.attn_k.weight"]
    tensors["blk.0.ffn_down.weight"] = np.zeros((64, 32), np.float32)
    tensors["blk.0.attn_q_norm.weight"] = np.zeros(8, np.float32)
    assert refused(tiny_checkpoints.write_gguf(tmp_path / "x.gguf", "llama", tensors)) == [
        "x: blk.1.attn_k.weight: missing, expected 16 × 32: layer2.attention.W_K",
        "x: blk.0.attn_q_norm.weight: 8, but this architecture has no such tensor: it belongs to a "
        "norm of queries and keys",
        "x: blk.0.ffn_down.weight: 64 × 32, expected 32 × 64: layer1.ffn.W_2",
    ]


def test_a_tensor_has_the_name_and_the_file_that_it_is_in(tmp_path: Path) -> None:
    tensors = {
        f"transformer.{name}": each for name, each in tiny_checkpoints.hugging_face_gpt2().items()
    }
    tensors["transformer.h.1.attn.c_attn.weight"] = np.zeros((96, 32))
    name = "x/model.safetensors: transformer.h.1.attn.c_attn.weight"
    message = f"{name}: 96 × 32, expected 32 × 96: layer2.attention.W_QKV"
    assert refused(tiny_checkpoints.write_folder(tmp_path, "gpt2", tensors)) == [message]


def without(name: str, tensors: tiny_checkpoints.Tensors) -> tiny_checkpoints.Tensors:
    return {each: numbers for each, numbers in tensors.items() if name not in each}


@pytest.mark.parametrize(("family", "name", "count"), [
    ("qwen2", "q_proj.bias", 2), ("llama", "lm_head", 1), ("llama", "norm", 5),
    ("mistral", "embed_tokens", 1),
])  # fmt: skip
def test_what_a_family_has_must_be_there(
    family: str, name: str, count: int, tmp_path: Path
) -> None:
    tensors = without(name, tiny_checkpoints.hugging_face_llama(biases=family == "qwen2"))
    told = refused(tiny_checkpoints.write_folder(tmp_path, family, tensors))
    assert len(told) == count
    assert all("missing, expected " in line for line in told)


@pytest.mark.parametrize(("name", "part"), [
    ("model.layers.0.self_attn.k_norm.weight", "a norm of queries and keys"),
    ("model.layers.0.block_sparse_moe.experts.0.w1.weight", "a mixture of experts"),
    ("model.layers.0.mlp.gate.weight", "a mixture of experts"),
    ("model.layers.0.mlp.down_proj.bias", "biases that the family does not have"),
    ("model.layers.0.self_attn.q_proj.lora_A.weight", "an adapter that is not merged into the "),
    ("model.layers.0.self_attn.q_proj.weight_scale", "weights that are stored as codes"),
    ("model.layers.0.self_attn.sinks", "attention sinks"),
    ("score.weight", "a head for another task than the next token"),
    ("lm_head.bias", "a bias of the logits"),
    ("model.layers.2.mlp.up_proj.weight", ""),
])  # fmt: skip
def test_an_unused_tensor_is_told_with_what_it_belongs_to(
    name: str, part: str, tmp_path: Path
) -> None:
    tensors = tiny_checkpoints.hugging_face_llama() | {name: np.ones(3, np.float32)}
    [told] = refused(tiny_checkpoints.write_folder(tmp_path, "llama", tensors))
    expected = f"x/model.safetensors: {name}: 3, but this architecture has no such tensor"
    assert told.startswith(expected + (f": it belongs to {part}" if part else ""))
    assert part or told == expected


@pytest.mark.parametrize(("rename", "told"), [
    (lambda name: name.replace("model.", "module.model."),
     "missing; the file has module.model.embed_tokens.weight: save the model without its wrapper "
     "module."),
    (lambda name: f"_orig_mod.{name}",
     "missing; the file has _orig_mod.model.embed_tokens.weight: save the model without its "
     "wrapper _orig_mod."),
    (lambda name: name.replace(".", "_"),
     "missing, and so are all others; the file has lm_head_weight"),
])  # fmt: skip
def test_other_names_throughout_are_told_in_a_line(
    rename: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    tensors = {rename(name): each for name, each in tiny_checkpoints.hugging_face_llama().items()}
    lines = refused(tiny_checkpoints.write_folder(tmp_path, "llama", tensors))
    assert lines == [f"x: model.embed_tokens.weight: {told}"]


def test_a_single_number_has_a_shape(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama() | {"x": np.array(1, np.float32)}
    [told] = refused(tiny_checkpoints.write_folder(tmp_path, "llama", tensors))
    assert (
        told == "x/model.safetensors: x: a single number, but this architecture has no such tensor"
    )


def test_biases_that_some_have_are_read_where_they_are(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.gguf_llama(biases=True)
    path = tiny_checkpoints.write_gguf(tmp_path / "x.gguf", "llama", tensors)
    bias = open_checkpoint(path).parameters["layer2.attention.head2.b_Q"]
    assert np.asarray(bias).tolist() == tensors["blk.1.attn_q.bias"][8:16].tolist()


@pytest.mark.parametrize("has_biases", [False, True])
def test_biases_are_as_the_config_says(has_biases: bool, tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama(biases=True)
    for layer in range(2):
        tensors[f"model.layers.{layer}.self_attn.o_proj.bias"] = np.ones(32, np.float32)
    said = {"attention_bias": has_biases}
    folder = tiny_checkpoints.write_folder(tmp_path, "llama", tensors, said)
    if has_biases:
        assert "layer1.attention.b_O" in open_checkpoint(folder).parameters
        return
    told = refused(folder)
    assert len(told) == 8
    assert all("but this architecture has no such tensor" in line for line in told)


def test_far_too_many_layers_are_refused(tmp_path: Path) -> None:
    values = {"num_hidden_layers": 10**9}
    folder = tiny_checkpoints.write_folder(
        tmp_path, "llama", tiny_checkpoints.hugging_face_llama(), values
    )
    [told] = refused(folder)
    assert told.endswith("got 1000000000, expected a whole number from 1 to 10000")
