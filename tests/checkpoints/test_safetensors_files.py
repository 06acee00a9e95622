"""Tensors of one file and of shards; what is damaged, or leads out of the folder, is refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.tiny_checkpoints import hugging_face_llama, write_folder, write_shards
from tracer.checkpoints.opening import open_checkpoint
from tracer.checkpoints.safetensors_files import read_folder
from tracer.errors import TracerError

Header = dict[str, dict[str, Any]]


def write(folder: Path, header: Header | bytes, data: bytes, length: int | None = None) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    begin = struct.pack("<Q", len(raw) if length is None else length)
    (folder / "model.safetensors").write_bytes(begin + raw + data)
    return folder


def entry(kind: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def refused(folder: Path) -> str:
    with pytest.raises(TracerError) as caught:
        read_folder(folder)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("kind", "form"), [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("I8", "<i1")]
)
def test_each_type_of_numbers_is_read(kind: str, form: str, tmp_path: Path) -> None:
    numbers = np.array([[0.1, 2, -3], [4, 5, 6]]).astype(form)
    header = {"__metadata__": {"format": "pt"}, "t": entry(kind, [2, 3], 0, numbers.nbytes)}
    tensor = read_folder(write(tmp_path, header, numbers.tobytes()))["t"]
    read = tensor.read(slice(None), slice(None))
    assert read.dtype == np.float64
    assert_array_equal(read, numbers)


def test_bf16_is_the_first_half_of_a_float(tmp_path: Path) -> None:
    """0x3F80 is 1, 0xC049 is -(2 + 73/64), as sign, exponent and seven bits of fraction say."""
    raw = struct.pack("<3H", 0x3F80, 0xC049, 0x0000)
    tensor = read_folder(write(tmp_path, {"t": entry("BF16", [1, 3], 0, 6)}, raw))["t"]
    assert tensor.read(slice(None), slice(None)).tolist() == [[1.0, -(2 + 73 / 64), 0.0]]


T = entry("F32", [2], 0, 8)


@pytest.mark.parametrize("header", [
    {"t": entry("F32", [3], 0, 12)}, {"t": entry("F32", [2, 2**62], 0, 8)}, {"t": T, "u": T},
    {"t": entry("F32", [2], 4, 12)}, {"t": entry("F33", [2], 0, 8)}, b"\xff", b"[" * 5000, b"",
])  # fmt: skip
def test_a_header_that_does_not_fit_is_refused(header: Header | bytes, tmp_path: Path) -> None:
    message = refused(write(tmp_path, header, bytes(8)))
    assert message.startswith("model.safetensors: not a whole safetensors file: ")
    assert "\n" not in message


@pytest.mark.parametrize("length", [2**63, 10**9, 1000, 0])
def test_an_absurd_length_of_the_header_is_refused(length: int, tmp_path: Path) -> None:
    assert "not a whole safetensors file" in refused(write(tmp_path, {"t": T}, bytes(8), length))


def test_of_two_entries_of_one_name_none_is_read_beyond_its_numbers(tmp_path: Path) -> None:
    entries = [json.dumps(entry("F32", [n], 0, 8)) for n in (2, 2**40)]
    for first, last in (entries, entries[::-1]):
        header = f'{{"t": {first}, "t": {last}}}'.encode()
        try:
            tensor = read_folder(write(tmp_path, header, bytes(8)))["t"]
        except TracerError:
            continue
        assert tensor.shape == (2,)


def test_numbers_of_a_type_that_numpy_does_not_have_are_refused(tmp_path: Path) -> None:
    message = refused(write(tmp_path, {"t": entry("F8_E4M3", [8], 0, 8)}, bytes(8)))
    assert message.startswith("model.safetensors: t: numbers of type F8_E4M3, known are F64, F32")


def test_shards_are_read_as_one_file(tmp_path: Path) -> None:
    tensors = hugging_face_llama()
    one = open_checkpoint(write_folder(tmp_path / "one", "llama", tensors))
    folder = write_folder(tmp_path / "two", "llama", {})
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    write_shards(folder, {
        "a.safetensors": {name: tensors[name] for name in names[::2]},
        "b.safetensors": {name: tensors[name] for name in names[1::2]},
    })  # fmt: skip
    two = open_checkpoint(folder)
    assert two.architecture == one.architecture
    assert list(two.parameters) == list(one.parameters)
    for address, parameter in one.parameters.items():
        assert_array_equal(np.asarray(two.parameters[address]), np.asarray(parameter))


def test_a_whole_file_counts_more_than_an_index(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "llama", {"t": np.ones(2)})
    write_shards(folder, {"old.safetensors": {"t": np.zeros(2)}})
    assert read_folder(folder)["t"].read(slice(None)).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["model-00001-of-00002.safetensors", "consolidated.bin"])
def test_a_file_that_no_index_names_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"x")
    expected = f"model.safetensors: missing; {name} is not read without an index that names it"
    assert refused(tmp_path) == expected


@pytest.mark.parametrize("shard", [
    "../x.safetensors", "/x.safetensors", "a/x.safetensors", "..\\x.safetensors",
    "C:x.safetensors", "x.bin", "x\0.safetensors", 7, None,
])  # fmt: skip
def test_a_shard_outside_the_folder_is_refused(shard: Any, tmp_path: Path) -> None:
    index = {"weight_map": {"t": shard}}
    name = "model.safetensors.index.json"
    (tmp_path / name).write_text(json.dumps(index), encoding="utf-8")
    expected = "expected for each tensor the name of a .safetensors file in this folder"
    assert refused(tmp_path) == f"{name}: weight_map: {expected}"


def test_what_an_index_names_must_be_there(tmp_path: Path) -> None:
    index = write_shards(tmp_path, {"a.safetensors": {"t": np.zeros(2), "u": np.zeros(2)}})
    weight_map = dict.fromkeys("tvw", "a.safetensors")
    index.write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")
    assert refused(tmp_path).splitlines() == [
        "a.safetensors: v: missing, but the index lists it",
        "a.safetensors: w: missing, but the index lists it",
    ]
    (tmp_path / "a.safetensors").unlink()
    assert refused(tmp_path).startswith("a.safetensors: cannot be read: No such file")


@pytest.mark.parametrize(("text", "told"), [
    ("{", ":1:2: not JSON: "),
    ("[" * 100_000, ": not JSON that can be read"),
    ("1" * 5000, ": not JSON that can be read"),
    ("[]", ":1:1: expected a mapping"),
    ("{}", ": weight_map: expected for each tensor the name of"),
])  # fmt: skip
def test_an_index_that_is_no_json_is_refused(text: str, told: str, tmp_path: Path) -> None:
    name = "model.safetensors.index.json"
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert refused(tmp_path).startswith(f"{name}{told}")
