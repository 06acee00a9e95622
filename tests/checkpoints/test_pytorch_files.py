"""Weights in PyTorch's own files: the same numbers as in safetensors, and no code is run."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.tiny_checkpoints import hugging_face_llama, write_folder
from tracer.checkpoints import pytorch_files
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError

BIN, INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder without weights."""
    write_folder(tmp_path, "llama", hugging_face_llama())
    (tmp_path / "model.safetensors").unlink()
    return tmp_path


def refused(folder: Path) -> str:
    with pytest.raises(TracerError) as caught:
        open_checkpoint(folder)
    return str(caught.value).replace(f"{folder}/", "")


def test_without_pytorch_it_is_told_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytorch_files, "find_spec", lambda name: None)
    (folder / BIN).write_bytes(b"x")
    assert refused(folder) == (
        f"{BIN}: to read it, install PyTorch: pip install torch. Or load the model with "
        "transformers and save it with model.save_pretrained(folder), which writes "
        "model.safetensors"
    )


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    (folder / BIN).mkdir()
    assert refused(folder).startswith(f"{BIN}: cannot be read: ")


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "float64"])
def test_numbers_are_those_that_were_saved(
    kind: str, newer: bool, torch: Any, folder: Path
) -> None:
    numbers = {
        name: torch.from_numpy(each).to(getattr(torch, kind))
        for name, each in hugging_face_llama().items()
    }
    key = "model.layers.1.mlp.up_proj.weight"
    numbers[key] = numbers[key].T.contiguous().T  # stored by columns
    torch.save(numbers, folder / BIN, _use_new_zipfile_serialization=newer)
    found = open_checkpoint(folder).parameters
    expected = numbers[key].double().numpy()
    assert_array_equal(np.asarray(found["layer2.ffn.W_3"]), expected.T)
    assert_array_equal(found["embeddings"][3:5], numbers["model.embed_tokens.weight"][3:5].double())


def test_shards_are_those_of_the_index(torch: Any, folder: Path) -> None:
    tensors = hugging_face_llama()
    names = [*tensors]
    shards = {"a.bin": names[::2], "b.bin": names[1::2]}
    for shard, held in shards.items():
        torch.save({name: torch.from_numpy(tensors[name]) for name in held}, folder / shard)
    index = {name: shard for shard, held in shards.items() for name in held}
    (folder / INDEX).write_text(json.dumps({"weight_map": index}), encoding="utf-8")
    found = open_checkpoint(folder).parameters["layer2.attention.W_O"]
    expected = tensors["model.layers.1.self_attn.o_proj.weight"].T
    assert_array_equal(np.asarray(found), expected)


def test_safetensors_take_precedence(torch: Any, folder: Path) -> None:
    (folder / BIN).write_bytes(b"x")
    write_folder(folder, "llama", hugging_face_llama())
    assert open_checkpoint(folder).parameters


class Code:
    """A value whose pickle names code to run."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return exec, ("raise SystemExit(7)",)


def test_code_is_not_run(torch: Any, folder: Path) -> None:
    torch.save({"model.norm.weight": Code()}, folder / BIN)
    assert refused(folder).startswith(f"{BIN}: PyTorch's loader for weights refuses it: ")
    (folder / BIN).write_bytes(pickle.dumps(Code()))
    assert refused(folder).startswith(f"{BIN}: PyTorch's loader for weights refuses it: ")


@pytest.mark.parametrize("content", [b"", b"x", b"PK\x03\x04", pickle.dumps(3)])
def test_another_file_is_refused_in_a_line(content: bytes, torch: Any, folder: Path) -> None:
    (folder / BIN).write_bytes(content)
    assert refused(folder).startswith(f"{BIN}: ")
    assert "\n" not in refused(folder)


@pytest.mark.parametrize(("value", "told"), [
    (lambda torch: 3, "got int, expected a tensor"),
    (lambda torch: torch.ones(32).to(torch.int8), "whole numbers, expected floating-point"),
    (lambda torch: torch.ones(32).to(torch.float8_e4m3fn), "numbers of type float8_e4m3fn, which"),
    (lambda torch: torch.ones(32).to_sparse(), "a tensor of type sparse_coo, which is not"),
    (lambda torch: torch.ones(32).to(torch.complex64), "a tensor of type complex64, which is not"),
])  # fmt: skip
def test_a_value_that_is_no_weight_is_named(
    value: Callable[[Any], Any], told: str, torch: Any, folder: Path
) -> None:
    tensors = {name: torch.from_numpy(each) for name, each in hugging_face_llama().items()}
    torch.save(tensors | {"model.norm.weight": value(torch)}, folder / BIN)
    assert refused(folder).startswith(f"{BIN}: model.norm.weight: {told}")
