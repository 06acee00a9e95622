"""Write captured arrays to a file in the number types that they have in the model."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.extras import optional_library
from tracer.errors import Problem, TracerError
from tracer.files.writing import write
from tracer.pytorch.tokens import Array, torch


def save(arrays: Mapping[str, tuple[Array, str]], path: Path) -> None:
    """Write arrays, each with the name of its number type, to a .npz or .safetensors file.

    Raises:
        TracerError: the file has another ending, or cannot be written.
    """
    match path.suffix:
        case ".npz":
            content = in_npz(arrays)
        case ".safetensors":
            content = in_safetensors(arrays)
        case _:
            raise TracerError(Problem("expected a .npz or .safetensors file", str(path)))
    write([(path, content)])


def in_npz(arrays: Mapping[str, tuple[Array, str]]) -> bytes:
    """Return a .npz file; a bfloat16 is two bytes, as NumPy stores those of JAX."""
    file = io.BytesIO()
    stored: dict[str, Any] = {name: _stored(*array) for name, array in arrays.items()}
    np.savez(file, **stored)
    return file.getvalue()


def in_safetensors(arrays: Mapping[str, tuple[Array, str]]) -> bytes:
    """Return a .safetensors file."""
    with optional_library("safetensors"):
        from safetensors.torch import save as saved
    tensors = {
        name: torch().from_numpy(array).to(getattr(torch(), kind)).contiguous()
        for name, (array, kind) in arrays.items()
    }
    return bytes(saved(tensors))


def _stored(array: Array, kind: str) -> Array:
    """Return an array in its own type; a bfloat16 is the upper half of a float32."""
    if kind != "bfloat16":
        return array
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return (bits >> 16).astype("<u2").view("V2")
