"""Read a GGUF file: its values and its tensors.

The gguf package takes seconds to read the header of a small model, and may never end on a damaged
file. Here each length is compared with the file's size before anything is allocated.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tracer.checkpoints.gguf_tensors import TensorLocation, tensors_at
from tracer.checkpoints.tensor import Bytes, Tensor, mapped
from tracer.errors import Problem, TracerError

T = TypeVar("T")

MAGIC, VERSIONS = b"GGUF", (2, 3)
NUMBERS = {
    **{0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?"},
    **{10: "<u8", 11: "<i8", 12: "<f8"},
}
"""NumPy types of the values, by their type numbers in the file."""
FLOAT, TEXT, ARRAY = 6, 8, 9
SHORT, LONG = struct.Struct("<I"), struct.Struct("<Q")
"""The integers of the header itself."""
MOST_ENTRIES, MOST_BYTES, MOST_AXES = 2**22, 2**24, 4
"""Limits for the entries of a list, the bytes of a text, the axes of a tensor."""


@dataclass(frozen=True)
class GGUFFile:
    """The values by key, and the tensors by name."""

    file: str
    values: dict[str, Any]
    tensors: dict[str, Tensor]


def read_gguf(path: Path) -> GGUFFile:
    """Read the header; the tensors stay in the file.

    Raises:
        TracerError: not a GGUF file, damaged, or in an unknown form.
    """
    content = mapped(path)
    try:
        return _read(content, str(path))
    except _DamagedError as error:
        raise TracerError(Problem(f"not a whole GGUF file: {error}", str(path))) from None


class _DamagedError(Exception):
    """The parts of the file contradict each other."""


class _Header:
    """Reads numbers and texts in sequence, never beyond the end."""

    def __init__(self, content: Bytes) -> None:
        self._content = content.data
        self.at = 0

    def take(self, size: int) -> memoryview:
        """Return the next bytes."""
        begin, self.at = self.at, self.at + size
        if self.at > len(self._content):
            raise _DamagedError(
                f"it ends after {len(self._content)} bytes, expected {self.at} or more"
            )
        return self._content[begin : self.at]

    def number(self, form: struct.Struct = LONG) -> int:
        number: int = form.unpack(self.take(form.size))[0]
        return number

    def text(self) -> str:
        length = self.number()
        if length > MOST_BYTES:
            raise _DamagedError(f"a text of {length} bytes, expected at most {MOST_BYTES}")
        content = self.take(length)
        try:
            return str(content, "utf-8")
        except UnicodeDecodeError:
            raise _DamagedError(f"{bytes(content[:20])!r} is not UTF-8") from None

    def value(self) -> Any:
        kind = self.number(SHORT)
        if kind != ARRAY:
            return self._entries(kind, 1)[0]
        kind, length = self.number(SHORT), self.number()
        if length > MOST_ENTRIES:
            raise _DamagedError(f"a list of {length} entries, expected at most {MOST_ENTRIES}")
        return self._entries(kind, length)

    def place(self) -> TensorLocation:
        """Read where a tensor is stored; the file lists its columns before its rows."""
        axes = self.number(SHORT)
        if not 1 <= axes <= MOST_AXES:
            raise _DamagedError(f"a tensor of {axes} axes, expected 1 to {MOST_AXES}")
        shape = tuple(self.number() for _ in range(axes))[::-1]
        return TensorLocation(shape, self.number(SHORT), self.number())

    def _entries(self, kind: int, length: int) -> list[Any]:
        if kind == TEXT:
            return [self.text() for _ in range(length)]
        if kind not in NUMBERS:
            raise _DamagedError(f"a value of type {kind}, which is not known")
        form = np.dtype(NUMBERS[kind])
        entries = np.frombuffer(self.take(length * form.itemsize), form)
        if kind == FLOAT:  # as the shortest decimal that rounds to it: 0.00001
            return [float(str(entry)) for entry in entries]
        return list(entries.tolist())


def _read(content: Bytes, file: str) -> GGUFFile:
    header = _Header(content)
    if (begins := bytes(header.take(4))) != MAGIC:
        raise _DamagedError(f"it begins with {begins!r}, expected {MAGIC!r}")
    version = header.number(SHORT)
    if version not in VERSIONS:
        known = " or ".join(map(str, VERSIONS))
        raise _DamagedError(f"version {version}, expected {known}, with its lowest byte first")
    tensors, keys = header.number(), header.number()
    values = dict(_each_once((header.text(), header.value()) for _ in range(keys)))
    places = dict(_each_once((header.text(), header.place()) for _ in range(tensors)))
    alignment = values.get("general.alignment", 32)
    if type(alignment) is not int or alignment < 1:
        raise _DamagedError(f"an alignment of {alignment!r}, expected a whole number")
    data = content[-(-header.at // alignment) * alignment :]
    return GGUFFile(file, values, tensors_at(places, data, file))


def _each_once(pairs: Iterator[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    known = set[str]()
    for name, value in pairs:
        if name in known:
            raise _DamagedError(f"{name!r} occurs twice")
        known.add(name)
        yield name, value
