"""The tensors of a GGUF file, many of them quantized: blocks of small numbers with a scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.extras import optional_library
from tracer.checkpoints.tensor import Bytes, Tensor
from tracer.errors import Problem, TracerError

PLAIN = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


@dataclass(frozen=True)
class TensorLocation:
    """The position of a tensor after the header of its file."""

    shape: tuple[int, ...]
    quantisation: int
    """The number of the quantization in the file."""
    offset: int
    """Bytes after the header."""


@dataclass(frozen=True)
class Quantisation:
    """A storage format: `block` numbers in `size` bytes."""

    name: str
    block: int
    size: int
    decoded: Callable[[NDArray[Any]], NDArray[Any]]


def tensors_at(places: Mapping[str, TensorLocation], data: Bytes, file: str) -> dict[str, Tensor]:
    """Return the tensors by name.

    Raises:
        TracerError: a tensor is beyond the end, overlaps another, or cannot be read.
    """
    tensors, problems, end = dict[str, Tensor](), list[Problem](), 0
    for name, place in sorted(places.items(), key=lambda item: item[1].offset):
        try:
            stored, quantisation = _stored(place, data, end)
        except ValueError as error:
            problems.append(Problem(str(error), file, address=name))
        else:
            end = place.offset + stored.nbytes
            kind, decoded = quantisation.name, quantisation.decoded
            tensors[name] = Tensor(file, name, place.shape, stored, decoded, True, kind, stored)
    if problems:
        raise TracerError(*problems)
    return tensors


def _stored(place: TensorLocation, data: Bytes, begin: int) -> tuple[Bytes, Quantisation]:
    """Return the bytes of a tensor, row by row; it must not begin before `begin`."""
    quantisation = _quantisation(place.quantisation)
    *rows, columns = place.shape
    if columns % quantisation.block:
        raise ValueError(f"rows of {columns} numbers, expected blocks of {quantisation.block}")
    shape = (*rows, columns // quantisation.block * quantisation.size)
    end = place.offset + prod(shape)
    if place.offset < begin:
        raise ValueError(f"begins at byte {place.offset}, within another tensor")
    if end > len(data):
        raise ValueError(f"ends at byte {end}, the file's tensors at {len(data)}")
    return data[place.offset : end].reshape(shape), quantisation


@cache
def _quantisation(number: int) -> Quantisation:
    with optional_library("gguf"):
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize, quants
    try:
        kind = GGMLQuantizationType(number)
        block, size = GGML_QUANT_SIZES[kind]
        if kind.name in PLAIN:
            form = PLAIN[kind.name]
            return Quantisation(kind.name, block, size, lambda stored: stored.view(form))
        dequantize(np.zeros((1, size), np.uint8), kind)
    except ValueError:
        raise ValueError(f"quantisation {number}, which the gguf package does not know") from None
    except NotImplementedError:
        raise ValueError(f"{kind.name}, which the gguf package cannot read") from None
    # `dequantize` does the same for 16 rows at a time, which is slower.
    return Quantisation(kind.name, block, size, getattr(quants, kind.name).dequantize_rows)
