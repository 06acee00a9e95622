"""The tensors of a folder: in one safetensors file, or in several files listed in an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.extras import extra
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.tensor import Bytes, Tensor, mapped
from tracer.errors import Problem, TracerError

KINDS = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1"},
}
"""The supported number types, and the NumPy types in which they are stored."""

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = "pytorch_model*.bin"


def read_folder(folder: Path) -> dict[str, Tensor]:
    """Return the tensors by name, not read yet. A complete file takes precedence over an index.

    Raises:
        TracerError: a file is missing or damaged, or the index leads out of the folder.
    """
    whole, index = folder / WHOLE, folder / INDEX
    if not whole.exists():
        if index.exists():
            return _sharded(index)
        for pickle in sorted(folder.glob(PICKLES)):
            message = (
                "not read, because a pickle can run code. Load the model with transformers and "
                f"save it with model.save_pretrained(folder), which writes {WHOLE}"
            )
            raise TracerError(Problem(message, str(pickle)))
    return read_tensors(whole)


def _sharded(index: Path) -> dict[str, Tensor]:
    shard_of = read_json(index).get("weight_map")
    if not isinstance(shard_of, dict) or not all(map(_is_beside, shard_of.values())):
        expected = "expected for each tensor the name of a .safetensors file in this folder"
        raise TracerError(Problem(expected, str(index), address="weight_map"))
    shards = {shard: read_tensors(index.parent / shard) for shard in sorted({*shard_of.values()})}
    missing = [name for name, shard in shard_of.items() if name not in shards[shard]]
    if missing:
        message = "missing, but the index lists it"
        raise TracerError(
            *(Problem(message, str(index.parent / shard_of[n]), address=n) for n in missing)
        )
    return {name: shards[shard][name] for name, shard in shard_of.items()}


def _is_beside(shard: Any) -> bool:
    """Return whether it is a plain file name, which on no system leads out of the folder."""
    return isinstance(shard, str) and shard.endswith(".safetensors") and not {*shard} & {*"/\\:\0"}


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of one file by name, not read yet.

    Raises:
        TracerError: it is missing or damaged, or holds numbers of an unknown type.
    """
    content = mapped(path)
    with extra("safetensors"):
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


def widened(stored: NDArray[Any]) -> NDArray[Any]:
    """Convert BF16, which is the upper half of a float32, to float32."""
    return (stored.astype("<u4") << 16).view("<f4")
