"""A parameter of the decoder: part of a tensor, transposed if needed for x·W."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tracer.checkpoints.tensor import Floats, Rows, Tensor
from tracer.errors import Problem, TracerError

FEW_ROWS = 16
"""For more rows, adding up the products of blocks of a matrix takes longer than reading it."""


@dataclass(frozen=True)
class Parameter:
    """A matrix or vector whose numbers are read from the file, as float64, at each access.

    Access raises a TracerError if a number is NaN or infinite.

    `numpy.asarray(parameter)` reads all of them, `parameter[5:7]` or `parameter[[3, 8]]` some
    rows, `parameter[:, 5:7]` some columns, `parameter[:, 5]` one as a vector. `x @ parameter` is a
    product.
    """

    address: str
    """The address of the decoder's parameter, for messages."""
    tensor: Tensor
    part: tuple[range | tuple[int, ...], ...]
    """The rows and columns of the tensor, in the file's layout."""
    transposed: bool = False
    __array_ufunc__ = None
    """Makes NumPy leave x @ parameter to the parameter."""
    dtype = np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), or (length,) for a vector."""
        return tuple(map(len, self._turned(self.part)))

    @property
    def source(self) -> object:
        """What is equal for two parameters that are the same numbers of a file."""
        return self.tensor.file, self.tensor.name, self.part

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, chosen: Rows | int | tuple[Rows | int, ...]) -> Floats:
        axes = chosen if isinstance(chosen, tuple) else (chosen,)
        axes = (*axes, *[slice(None)] * (len(self.part) - len(axes)))
        several = self._turned(tuple([each] if isinstance(each, int) else each for each in axes))
        with np.errstate(all="ignore"):  # overflow is checked below
            found = self.tensor.read(*map(_within, self.part, several))
        finite = np.isfinite(found)
        if not finite.all():
            message = f"holds {found[~finite][0]}, expected a finite number: {self.address}"
            raise TracerError(Problem(message, self.tensor.file, address=self.tensor.name))
        single = tuple(0 if isinstance(each, int) else slice(None) for each in axes)
        return (found.T if self.transposed else found)[single]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("numbers that are read from a file are always a copy")
        return self[:].astype(dtype or float, copy=False)

    def __matmul__(self, other: Floats) -> Floats:
        return np.asarray(self[:] @ other)

    def __rmatmul__(self, x: Floats) -> Floats:
        """Return x W, without the whole matrix in memory if that takes less time."""
        if not self.transposed and len(x) > FEW_ROWS:
            return np.asarray(x @ self[:])
        found = np.zeros((len(x), self.shape[1]))
        rows, columns = (_within(part, slice(None)) for part in self.part)
        with np.errstate(all="ignore"):
            for block, numbers in self.tensor.blocks(rows):
                if self.transposed:
                    np.matmul(x, numbers[:, columns].T, out=found[:, block])
                else:
                    found += x[:, block] @ numbers[:, columns]
        # A number that is not finite makes the product so.
        return found if np.isfinite(found).all() else np.asarray(x @ self[:])

    @property
    def T(self) -> Parameter:  # noqa: N802  # as NumPy calls it
        """The transposed matrix."""
        return replace(self, transposed=not self.transposed)

    def columns(self, begin: int, end: int, address: str) -> Parameter:
        """Return some columns, or some numbers of a vector, as a separate parameter."""
        *rows, columns = self._turned(self.part)
        part = self._turned((*rows, columns[begin:end]))
        return replace(self, address=address, part=part)

    def some_columns(self, chosen: tuple[int, ...], address: str) -> Parameter:
        """Return columns that need not be side by side as a separate parameter."""
        rows, columns = self._turned(self.part)
        part = self._turned((rows, tuple(columns[i] for i in chosen)))
        return replace(self, address=address, part=part)

    def rows(self, begin: int) -> Parameter:
        """Return the rows from one on."""
        rows, columns = self._turned(self.part)
        return replace(self, part=self._turned((rows[begin:], columns)))

    def _turned(self, axes: tuple[Any, ...]) -> tuple[Any, ...]:
        return axes[::-1] if self.transposed else axes


def _within(part: Sequence[int], chosen: Rows) -> Rows:
    """Convert rows of a part of the tensor to rows of the tensor."""
    if not isinstance(chosen, slice):
        return [part[i] for i in chosen]
    rows = part[chosen]
    if not isinstance(rows, range):
        return list(rows)
    return slice(rows.start, rows.stop, rows.step) if rows.step > 0 else list(rows)
