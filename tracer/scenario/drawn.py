"""Weights from a seed, as GPT-2's were before it was trained (Radford et al. 2019)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.frozen import frozen

DEVIATION = 0.02
"""The standard deviation of the weights."""

TOGETHER = 64
"""So many rows are drawn at once: a few rows of a large table do not cost the whole of it."""

Floats = NDArray[np.float64]


@frozen
class Drawn:
    """A matrix whose numbers are drawn each time that they are asked for.

    The same seed at the same address gives the same. `stored` is its shape before it is turned.
    """

    seed: int
    address: str
    stored: tuple[int, int]
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns)."""
        return self.stored[::-1] if self.transposed else self.stored

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | list[int]) -> Floats:
        """Some rows: (those asked for, columns)."""
        chosen = list(range(len(self))[rows]) if isinstance(rows, slice) else rows
        if self.transposed:
            return np.asarray(self)[chosen]
        blocks = {row // TOGETHER: self._block(row // TOGETHER) for row in chosen}
        found = [blocks[row // TOGETHER][row % TOGETHER] for row in chosen]
        return np.array(found).reshape(-1, self.stored[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        blocks = range((self.stored[0] + TOGETHER - 1) // TOGETHER)
        found = np.concatenate([self._block(number) for number in blocks])
        return (found.T if self.transposed else found).astype(dtype or float, copy=False)

    def _block(self, number: int) -> Floats:
        rows = min(TOGETHER, self.stored[0] - number * TOGETHER)
        digest = sha256(f"{self.seed} {self.address} {number}".encode()).digest()
        # Of NumPy's generators this one is promised to give the same numbers in every version.
        drawn = np.random.RandomState(np.frombuffer(digest, "<u4").astype(np.uint32))
        return drawn.normal(0, DEVIATION, (rows, self.stored[1]))
