"""The tensors of a folder: in one file, or in several files that an index lists."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.extras import optional_library
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.pytorch_files import read_pytorch
from tracer.checkpoints.tensor import AbsentTensor, Bytes, Tensor, mapped, widened
from tracer.errors import Problem, TracerError

KINDS = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1"},
}
"""The supported number types, and the NumPy types in which they are stored."""

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
PYTORCH, PYTORCH_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
ENDINGS = (".safetensors", ".bin")


def read_folder(folder: Path) -> dict[str, Tensor]:
    """Return the tensors by name, not read yet.

    As in transformers, a complete file takes precedence over an index, and safetensors over
    PyTorch's files.

    Raises:
        TracerError: a file is missing or damaged, or the index leads out of the folder.
    """
    if (folder / WHOLE).exists():
        return read_tensors(folder / WHOLE)
    if (folder / INDEX).exists():
        return _sharded(folder / INDEX, ENDINGS[0], read_tensors)
    if (folder / PYTORCH).exists():
        return read_pytorch(folder / PYTORCH)
    if (folder / PYTORCH_INDEX).exists():
        return _sharded(folder / PYTORCH_INDEX, ENDINGS[1], read_pytorch)
    others = sorted(each.name for each in folder.iterdir() if each.suffix in ENDINGS)
    if others:
        message = f"missing; {others[0]} is not read without an index that names it"
        raise TracerError(Problem(message, str(folder / WHOLE)))
    return read_tensors(folder / WHOLE)


def _sharded(
    index: Path, ending: str, read: Callable[[Path], dict[str, Tensor]]
) -> dict[str, Tensor]:
    shard_of = read_json(index).get("weight_map")
    if not isinstance(shard_of, dict) or not all(
        _is_beside(shard, ending) for shard in shard_of.values()
    ):
        expected = f"expected for each tensor the name of a {ending} file in this folder"
        raise TracerError(Problem(expected, str(index), address="weight_map"))
    paths = {shard: index.parent / shard for shard in sorted({*shard_of.values()})}
    # Each file is needed only where its numbers are; without any of them, reading one says why.
    there = [shard for shard, path in paths.items() if os.path.lexists(path)] or [*paths]
    shards = {shard: read(paths[shard]) for shard in there}
    for name, shard in shard_of.items():
        if shard not in there:
            shards.setdefault(shard, {})[name] = AbsentTensor(str(paths[shard]), name)
    missing = [name for name, shard in shard_of.items() if name not in shards[shard]]
    if missing:
        message = "missing, but the index lists it"
        raise TracerError(
            *(Problem(message, str(index.parent / shard_of[n]), address=n) for n in missing)
        )
    return {name: shards[shard][name] for name, shard in shard_of.items()}


def _is_beside(shard: Any, ending: str) -> bool:
    """Return whether it is a plain file name, which on no system leads out of the folder."""
    return isinstance(shard, str) and shard.endswith(ending) and not {*shard} & {*"/\\:\0"}


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of one file by name, not read yet.

    Raises:
        TracerError: it is missing or damaged, or holds numbers of an unknown type.
    """
    content = mapped(path)
    with optional_library("safetensors"):
        from safetensors import SafetensorError, safe_open
    try:
        # The library checks every length, shape and offset of the header.
        with safe_open(path, "numpy"):
            pass
    except SafetensorError as error:
        problem = Problem(f"not a whole safetensors file: {error}", str(path))
        raise TracerError(problem) from None
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(bytes(content[8:begin]))
    header.pop("__metadata__", None)
    tensors, problems = dict[str, Tensor](), list[Problem]()
    for name, entry in header.items():
        try:
            tensors[name] = _tensor(entry, content[begin:], str(path), name)
        except ValueError as error:
            problems.append(Problem(str(error), str(path), address=name))
    if problems:
        raise TracerError(*problems)
    return tensors


def _tensor(entry: dict[str, Any], data: Bytes, file: str, name: str) -> Tensor:
    kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    if kind not in KINDS:
        raise ValueError(f"numbers of type {kind}, known are {', '.join(KINDS)}")
    stored = data[begin:end].view(KINDS[kind]).reshape(shape)
    decoded = widened if kind == "BF16" else np.asarray
    return Tensor(file, name, shape, stored, decoded, "F" in kind)
