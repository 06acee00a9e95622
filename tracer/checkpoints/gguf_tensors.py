"""The tensors of a GGUF file, many of them quantised: blocks of small numbers with a scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.extras import extra
from tracer.checkpoints.tensor import Bytes, Tensor
from tracer.errors import Problem, TracerError
from tracer.frozen import frozen

PLAIN = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


@frozen
class TensorLocation:
    """Where a tensor lies behind the header of its file."""

    shape: tuple[int, ...]
    quantisation: int
    """Its number in the file."""
    offset: int
    """In bytes."""


@frozen
class Quantisation:
    """How numbers are stored: so many in each block of so many bytes."""

    block: int
    size: int
    decoded: Callable[[NDArray[Any]], NDArray[Any]]


def tensors_at(places: Mapping[str, TensorLocation], data: Bytes, file: str) -> dict[str, Tensor]:
    """The tensors, by the names of their places.

    Raises:
        TracerError: a tensor lies beyond the end or in another, or cannot be read.
    """
    tensors, problems, end = dict[str, Tensor](), list[Problem](), 0
    for name, place in sorted(places.items(), key=lambda item: item[1].offset):
        try:
            stored, quantisation = _stored(place, data, end)
        except ValueError as error:
            problems.append(Problem(str(error), file, address=name))
        else:
            end = place.offset + stored.nbytes
            tensors[name] = Tensor(file, name, place.shape, stored, quantisation.decoded)
    if problems:
        raise TracerError(*problems)
    return tensors


def _stored(place: TensorLocation, data: Bytes, begin: int) -> tuple[Bytes, Quantisation]:
    """The rows of bytes of a tensor that lies behind another's end."""
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
    with extra("gguf"):
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize
    try:
        kind = GGMLQuantizationType(number)
        block, size = GGML_QUANT_SIZES[kind]
        if kind.name in PLAIN:
            form = PLAIN[kind.name]
            return Quantisation(block, size, lambda stored: stored.view(form))
        decoded = partial(dequantize, qtype=kind)
        decoded(np.zeros((1, size), np.uint8))
    except ValueError:
        raise ValueError(f"quantisation {number}, which the gguf package does not know") from None
    except NotImplementedError:
        raise ValueError(f"{kind.name}, which the gguf package cannot read") from None
    return Quantisation(block, size, decoded)
