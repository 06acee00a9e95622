"""Write captured arrays to a file in the number types that they have in the model."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.extras import optional_library
from tracer.errors import Problem, TracerError
from tracer.files.writing import write
from tracer.pytorch.tokens import Array, torch
from tracer.scenario.activations import DumpedArray


def save(arrays: Sequence[DumpedArray], path: Path) -> None:
    """Write arrays to a .npz or .safetensors file.

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


def in_npz(arrays: Sequence[DumpedArray]) -> bytes:
    """Return a .npz file; a bfloat16 is two bytes, as NumPy stores those of JAX."""
    file = io.BytesIO()
    stored: dict[str, Any] = {each.name: _stored(each) for each in arrays}
    np.savez(file, **stored)
    return file.getvalue()


def in_safetensors(arrays: Sequence[DumpedArray]) -> bytes:
    """Return a .safetensors file."""
    with optional_library("safetensors"):
        from safetensors.torch import save as saved
    tensors = {
        each.name: torch().from_numpy(each.numbers).to(getattr(torch(), each.kind)).contiguous()
        for each in arrays
    }
    return bytes(saved(tensors))


def _stored(array: DumpedArray) -> Array:
    """Return an array in its own type; a bfloat16 is the upper half of a float32."""
    if array.kind != "bfloat16":
        return array.numbers
    bits = np.ascontiguousarray(array.numbers, np.float32).view(np.uint32)
    return (bits >> 16).astype("<u2").view("V2")
