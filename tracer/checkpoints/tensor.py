"""A tensor in a file, which is not read until it is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.errors import Problem, TracerError
from tracer.files.reading import open_file, reading_from

Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = slice | list[int] | NDArray[np.integer[Any]]
"""Rows as a slice, or by their indices from 0."""

AT_ONCE = 2**18
"""Numbers converted to float64 at once, which bounds the temporary memory."""


@dataclass(frozen=True)
class Tensor:
    """A vector or a matrix in a file that is mapped into memory."""

    file: str
    name: str
    """The name in the file."""
    shape: tuple[int, ...]
    stored: NDArray[Any]
    """One stored row per row of the matrix, in any encoding."""
    decoded: Callable[[NDArray[Any]], NDArray[Any]]
    """Decodes stored rows to numbers."""
    is_floats: bool = True
    """Whether the numbers are the weights themselves, not the codes of quantized weights."""

    def read(self, *chosen: Rows) -> Floats:
        """Return some rows of some columns, or some numbers of a vector, as a new array."""
        if len(self.shape) == 1:
            return np.asarray(self.decoded(self.stored)[chosen[0]], np.float64)
        rows, columns = chosen
        stored = self.stored[rows]
        found = np.empty((len(stored), len(np.arange(self.shape[1])[columns])))
        at_once = max(1, AT_ONCE // self.shape[1])
        for begin in range(0, len(stored), at_once):
            block = slice(begin, begin + at_once)
            found[block] = self.decoded(stored[block])[:, columns]
        return found

    def holds_the_same(self, other: Tensor) -> bool:
        """Return whether both have the same bytes."""
        if (self.shape, self.stored.dtype) != (other.shape, other.stored.dtype):
            return False
        at_once = max(1, AT_ONCE // self.shape[-1])
        return all(
            np.array_equal(self.stored[i : i + at_once], other.stored[i : i + at_once])
            for i in range(0, self.shape[0], at_once)
        )


def widened(stored: NDArray[Any]) -> NDArray[Any]:
    """Convert BF16, which is the upper half of a float32, to float32."""
    return (stored.astype("<u4") << 16).view("<f4")


def written_shape(shape: tuple[int, ...]) -> str:
    """Return a shape as `32 × 64`: rows and columns."""
    return " × ".join(map(str, shape)) or "a single number"


def mapped(path: Path) -> Bytes:
    """Return the bytes of a file, mapped into memory.

    Raises:
        TracerError: it cannot be read, or is empty.
    """
    with open_file(path) as file, reading_from(str(path)):
        if not os.fstat(file.fileno()).st_size:
            raise TracerError(Problem("cannot be read: it is empty", str(path)))
        return np.asarray(np.memmap(file, np.uint8, "r"))  # slicing a memmap is slower
