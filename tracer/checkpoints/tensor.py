"""A tensor in a file, which is not read until it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from operator import getitem
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.errors import Problem, TracerError
from tracer.files.memory import free_bytes
from tracer.files.reading import open_file, reading_from

Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = slice | list[int] | NDArray[np.integer[Any]]
"""Rows as a slice, or by their indices from 0."""

AT_ONCE = 2**15
"""Numbers decoded and converted to float64 at once: what the processor's cache has room for."""

OF_A_NUMBER = 4
"""Bytes of a number of a quantized tensor that is decoded, which is a float32."""


@dataclass
class Tensor:
    """A vector or a matrix in a file that is mapped into memory.

    A quantized matrix that is read a third time is decoded and kept, if that takes no more than
    half of the free memory: decoding takes longer than multiplying. Two passes keep nothing.
    """

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
    encoding: str = ""
    """The name of the format of quantized numbers."""
    encoded: NDArray[Any] | None = None
    """The same stored rows, which stay when the tensor is decoded and kept."""
    bytes_of: Callable[[Any, slice], Bytes] = getitem
    """Returns some bytes of such a row, in the layout of a GGUF file."""
    rows_read: int = 0
    """How many rows were read, those that were read again included."""

    def read(self, *chosen: Rows) -> Floats:
        """Return some rows of some columns, or some numbers of a vector, as a new array."""
        if len(self.shape) == 1:
            return np.asarray(self.decoded(self.stored)[chosen[0]], np.float64)
        rows, columns = chosen
        found = np.empty((len(self.stored[rows]), len(np.arange(self.shape[1])[columns])))
        for block, numbers in self.blocks(rows):
            found[block] = numbers[:, columns]
        return found

    def blocks(self, rows: Rows) -> Iterator[tuple[slice, Floats]]:
        """Yield some rows of a matrix, a few at a time: their places among these rows, and they.

        The array is used again for the next ones.
        """
        if self.rows_read >= 2 * self.shape[0]:
            self._keep_decoded()
        stored, decoded = self.stored[rows], self.decoded
        self.rows_read += len(stored)
        at_once = self._rows_at_once
        found = np.empty((min(at_once, len(stored)), self.shape[1]))
        for begin in range(0, len(stored), at_once):
            some = stored[begin : begin + at_once]
            numbers = found[: len(some)]
            np.copyto(numbers, decoded(some))
            yield slice(begin, begin + at_once), numbers

    def _keep_decoded(self) -> None:
        """Keep the numbers of a quantized matrix in place of its bytes, if memory is free."""
        self.rows_read = 0
        free = free_bytes() or 0
        row = self.stored[:1]
        is_quantized = row.shape[1:] != self.shape[1:] and not np.may_share_memory(
            row, self.decoded(row)
        )
        if is_quantized and OF_A_NUMBER * prod(self.shape) <= free / 2:
            kept = np.empty(self.shape, np.float32)
            for begin in range(0, len(kept), self._rows_at_once):
                block = slice(begin, begin + self._rows_at_once)
                kept[block] = self.decoded(self.stored[block])
            self.stored, self.decoded = kept, np.asarray

    @property
    def _rows_at_once(self) -> int:
        return max(1, AT_ONCE // self.shape[-1])

    def holds_the_same(self, other: Tensor) -> bool:
        """Return whether both have the same bytes."""
        if (self.shape, self.stored.dtype) != (other.shape, other.stored.dtype):
            return False
        at_once = self._rows_at_once
        return all(
            np.array_equal(self.stored[i : i + at_once], other.stored[i : i + at_once])
            for i in range(0, self.shape[0], at_once)
        )


class AbsentTensor(Tensor):
    """A tensor whose file is not on this machine: all but its numbers can be used."""

    def __init__(self, file: str, name: str, shape: tuple[int, ...] = ()) -> None:
        super().__init__(file, name, shape, np.empty(0), np.asarray)

    def read(self, *chosen: Rows) -> Floats:
        """Raise a TracerError."""
        raise TracerError(Problem("no such file; it has numbers that are needed", self.file))

    def blocks(self, rows: Rows) -> Iterator[tuple[slice, Floats]]:
        """Raise a TracerError."""
        yield slice(0), self.read()

    def holds_the_same(self, other: Tensor) -> bool:
        """Return False: nobody knows."""
        return False


def widened(stored: NDArray[Any]) -> NDArray[Any]:
    """Convert BF16, which is the upper half of a float32, to float32."""
    return (stored.astype("<u4") << 16).view("<f4")


def written_shape(shape: tuple[int, ...]) -> str:
    """Return a shape as `32 × 64`: rows and columns."""
    return " × ".join(map(str, shape)) or "a single number"


POINTER = b"version https://git-lfs"
"""How the text begins that Git leaves in place of a large file."""


def mapped(path: Path) -> Bytes:
    """Return the bytes of a file, mapped into memory.

    Raises:
        TracerError: it cannot be read, is empty, or stands for a file that is elsewhere.
    """
    with open_file(path) as file, reading_from(str(path)):
        if not os.fstat(file.fileno()).st_size:
            raise TracerError(Problem("cannot be read: it is empty", str(path)))
        if file.read(len(POINTER)) == POINTER:
            message = "a pointer of Git LFS; git lfs pull puts the file in its place"
            raise TracerError(Problem(message, str(path)))
        return np.asarray(np.memmap(file, np.uint8, "r"))  # slicing a memmap is slower
