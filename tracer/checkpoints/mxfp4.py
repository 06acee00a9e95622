"""Weights in MXFP4 as gpt-oss stores them: 32 numbers of four bits with a power of two as scale.

Numbers 2i and 2i + 1 of a block are the lower and the upper four bits of its byte i. Another tensor
has the exponents, 127 too large (OCP MX v1.0; transformers 5.24, `integrations/mxfp4.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.four_bits import E2M1
from tracer.checkpoints.tensor import AbsentTensor, Bytes, Tensor, written_shape
from tracer.errors import Problem, TracerError

BLOCKS, SCALES = "_blocks", "_scales"
BIAS = 127
NUMBERS = np.array([*E2M1, *(-each for each in E2M1)], np.float32)
"""The number of each code; the upper bit is the sign."""


def with_blocks(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors, of which one has the numbers in place of each pair of codes and scales.

    It has the name of the codes, and one row for each output: (experts, rows, columns).

    Raises:
        TracerError: codes have no scales, or both are not whole numbers of shapes that fit.
    """
    found, problems = dict(tensors), list[Problem]()
    for name, blocks in tensors.items():
        if not name.endswith(BLOCKS):
            continue
        scales = found.pop(name.removesuffix(BLOCKS) + SCALES, None)
        if scales is None:
            problems.append(Problem(f"codes without {SCALES}", blocks.file, address=name))
        elif isinstance(blocks, AbsentTensor) or isinstance(scales, AbsentTensor):
            absent = blocks if isinstance(blocks, AbsentTensor) else scales
            found[name] = AbsentTensor(absent.file, name)
        elif not _fit(blocks, scales):
            came = f"{written_shape(blocks.shape)} and {written_shape(scales.shape)}"
            message = f"{came}, expected bytes: 16 codes for each scale"
            problems.append(Problem(message, blocks.file, address=name))
        else:
            found[name] = _joined(blocks, scales)
    if problems:
        raise TracerError(*problems)
    return found


def _fit(blocks: Tensor, scales: Tensor) -> bool:
    are_bytes = blocks.stored.dtype == scales.stored.dtype == np.uint8
    return are_bytes and len(scales.shape) == 3 and blocks.shape == (*scales.shape, 16)


def _joined(blocks: Tensor, scales: Tensor) -> Tensor:
    """Return the numbers of codes and scales; what it stores are the numbers of its rows."""
    experts, rows, groups = scales.shape
    codes = blocks.stored.reshape(-1, groups, 16)
    exponents = scales.stored.reshape(-1, groups)

    def decoded(row: NDArray[Any]) -> NDArray[Any]:
        return _numbers(codes[row], exponents[row])

    def block(row: int, at: slice) -> Bytes:
        """In a GGUF file, the exponent stands before the codes, and byte i has i and i + 16."""
        group = at.start // 17
        lower, upper = np.split(_of_bytes(codes[row, group]), 2)
        return np.append(exponents[row, group], lower | upper << 4)

    stored = np.arange(experts * rows).reshape(experts, rows)
    shape = (experts, rows, 32 * groups)
    file, name = blocks.file, blocks.name
    return Tensor(file, name, shape, stored, decoded, True, "MXFP4", stored, block)


def _numbers(codes: Bytes, exponents: Bytes) -> NDArray[np.float32]:
    """The numbers of rows: codes (rows, groups, 16), exponents (rows, groups) → (rows, columns)."""
    scales = np.ldexp(np.float32(1), exponents.astype(np.int32) - BIAS)
    numbers = NUMBERS[_of_bytes(codes)] * scales[..., np.newaxis]
    return np.asarray(numbers.reshape(len(codes), -1), np.float32)


def _of_bytes(codes: Bytes) -> Bytes:
    """The codes of four bits: bytes (…, 16) → (…, 32)."""
    return np.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], 32)
