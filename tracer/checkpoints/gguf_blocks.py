"""One block of a quantized tensor of a GGUF file, taken apart: scales, integers, what they mean.

The layouts are those of ggml (`ggml-common.h`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.four_bits import E2M1
from tracer.checkpoints.tensor import Bytes, Tensor

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Numbers with one scale: d (q - offset), in groups of a larger block d s (q - offset).

    With a smallest number m, d q + m; in groups of a larger block, d s q - m t.
    """

    scale: Decimal
    integers: tuple[Decimal, ...]
    offset: int = 0
    least: Decimal | None = None
    factors: tuple[int, int] | None = None
    """s and t, the whole numbers by which the larger block's d and m are multiplied."""


@dataclass(frozen=True)
class StoredNumber:
    """Where a number is stored: its tensor, its row, and its group in this row, from 0."""

    tensor: str
    kind: str
    row: int
    column: int
    size: int
    """How many numbers a group has."""
    group: Group

    @property
    def place(self) -> int:
        """The number's place in its group, from 0."""
        return self.column % self.size


def stored_number(tensor: Tensor, row: int, column: int) -> StoredNumber | None:
    """Return where a number of a matrix is stored; None if this is not in blocks, or unknown."""
    if tensor.encoded is None or tensor.encoding not in GROUPS:
        return None
    block, size, groups_of = GROUPS[tensor.encoding]
    begin = column // block * _BYTES[tensor.encoding]
    data = tensor.bytes_of(tensor.encoded[row], slice(begin, begin + _BYTES[tensor.encoding]))
    group = groups_of(np.asarray(data, np.uint8), column % block // size)
    return StoredNumber(tensor.name, tensor.encoding, row, column, size, group)


def _half(data: Bytes) -> Decimal:
    """A float16, with all its digits."""
    return Decimal(float(data.view("<f2")[0]))


def _numbers(integers: Integers) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, integers.tolist()))


def _nibbles(data: Bytes) -> Integers:
    """The lower four bits of all bytes, then the upper ones."""
    return np.concatenate([data & 15, data >> 4]).astype(np.int64)


def _fifth_bits(data: Bytes) -> Integers:
    return np.unpackbits(data, bitorder="little").astype(np.int64) << 4


def _q8_0(data: Bytes, _: int) -> Group:
    return Group(_half(data[:2]), _numbers(data[2:].view(np.int8).astype(np.int64)))


def _q4_0(data: Bytes, _: int) -> Group:
    return Group(_half(data[:2]), _numbers(_nibbles(data[2:])), offset=8)


def _q4_1(data: Bytes, _: int) -> Group:
    return Group(_half(data[:2]), _numbers(_nibbles(data[4:])), least=_half(data[2:4]))


def _q5_0(data: Bytes, _: int) -> Group:
    integers = _nibbles(data[6:]) + _fifth_bits(data[2:6])
    return Group(_half(data[:2]), _numbers(integers), offset=16)


def _q5_1(data: Bytes, _: int) -> Group:
    integers = _nibbles(data[8:]) + _fifth_bits(data[4:8])
    return Group(_half(data[:2]), _numbers(integers), least=_half(data[2:4]))


def _mxfp4(data: Bytes, _: int) -> Group:
    codes = _nibbles(data[1:])
    elements = tuple(-E2M1[code - 8] if code > 8 else E2M1[code % 8] for code in codes.tolist())
    return Group(Decimal(2) ** (int(data[0]) - 127), elements)


def _k_factors(scales: Bytes, group: int) -> tuple[int, int]:
    """The factors of a group in a block of Q4_K or Q5_K, of six bits each."""
    packed = [int(each) for each in scales]
    if group < 4:
        return packed[group] & 63, packed[group + 4] & 63
    both = packed[group + 4]
    return (both & 15) | packed[group - 4] >> 6 << 4, both >> 4 | packed[group] >> 6 << 4


def _in_pairs(data: Bytes, group: int) -> Integers:
    """The integers of a group: the lower or upper four bits of 32 bytes."""
    begin = group // 2 * 32
    return (data[begin : begin + 32] >> 4 * (group % 2) & 15).astype(np.int64)


def _q4_k(data: Bytes, group: int) -> Group:
    factors = _k_factors(data[4:16], group)
    integers = _in_pairs(data[16:], group)
    return Group(_half(data[:2]), _numbers(integers), least=_half(data[2:4]), factors=factors)


def _q5_k(data: Bytes, group: int) -> Group:
    factors = _k_factors(data[4:16], group)
    fifth = (data[16:48] >> group & 1).astype(np.int64) << 4
    integers = _in_pairs(data[48:], group) + fifth
    return Group(_half(data[:2]), _numbers(integers), least=_half(data[2:4]), factors=factors)


def _q6_k(data: Bytes, group: int) -> Group:
    half, quarter, part = group // 8, group % 8 // 2, group % 2
    lower = data[half * 64 + quarter % 2 * 32 + part * 16 :][:16] >> 4 * (quarter // 2) & 15
    upper = data[128 + half * 32 + part * 16 :][:16] >> 2 * quarter & 3
    factor = int(data[192:208].view(np.int8)[group])
    integers = lower.astype(np.int64) + (upper.astype(np.int64) << 4)
    return Group(_half(data[208:210]), _numbers(integers), offset=32, factors=(factor, 0))


GROUPS: dict[str, tuple[int, int, Callable[[Bytes, int], Group]]] = {
    "Q8_0": (32, 32, _q8_0),
    "Q4_0": (32, 32, _q4_0),
    "Q4_1": (32, 32, _q4_1),
    "Q5_0": (32, 32, _q5_0),
    "Q5_1": (32, 32, _q5_1),
    "MXFP4": (32, 32, _mxfp4),
    "Q4_K": (256, 32, _q4_k),
    "Q5_K": (256, 32, _q5_k),
    "Q6_K": (256, 16, _q6_k),
}
"""The numbers of a block and of each of its groups, and what takes a group of a block apart."""

_BYTES = {
    **{"Q8_0": 34, "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "MXFP4": 17},
    **{"Q4_K": 144, "Q5_K": 176, "Q6_K": 210},
}
"""The bytes of a block."""
