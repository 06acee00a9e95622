"""Moves: operations of which each entry is an entry of an operand, or a constant.

An operation declares where entries come from, as NumPy indices. Its result, the labels of its axes
and the origin of each entry follow from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from tracer.decoder.axes import Axes, Axis
from tracer.formula.arithmetic import Arithmetic, Array

Index: TypeAlias = tuple[int, ...]
Shape: TypeAlias = tuple[int, ...]

Places: TypeAlias = int | slice | tuple[int, ...]
"""Positions along an axis, counted from 0; a single position leaves the axis out."""

Where: TypeAlias = tuple[Places, ...]
"""A NumPy index: positions along each axis, and all along an axis that is not mentioned.

Tuples for two axes are read side by side: ((0, 1), (2, 0)) are the entries (0, 2) and (1, 0).
"""

ALL = slice(None)
EVERYWHERE: Where = ()


class Move(NamedTuple):
    """Entries of an operand and their places in the result: result[to] = operand[of]."""

    operand: int
    of: Where = EVERYWHERE
    to: Where = EVERYWHERE

    def origin(self, at: Index, shape: Shape, of_shape: Shape) -> Index | None:
        """Return the index that an entry of the result comes from; None if it is not moved."""
        moved: list[int] = []
        for i, size, places in zip(at, shape, complete(self.to, shape), strict=True):
            reached = positions_of(places, size)
            if i not in reached:
                return None
            if not isinstance(places, int):
                moved.append(reached.index(i))
        if sum(isinstance(places, tuple) for places in self.of) > 1:
            moved *= len(self.of)
        position = iter(moved)
        return tuple(
            places if isinstance(places, int) else positions_of(places, size)[next(position)]
            for size, places in zip(of_shape, complete(self.of, of_shape), strict=True)
        )


class Gather:
    """An operation that moves entries; by default some entries of one operand."""

    name: ClassVar[str]
    others: Decimal = Decimal(0)
    """The entries of the result to which nothing is moved."""

    def of(self) -> Where:
        """Return which entries of the operand are moved."""
        return EVERYWHERE

    def to(self) -> Where:
        """Return their places in the result."""
        return EVERYWHERE

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        """Yield all moves, for operands of these shapes."""
        yield Move(0, self.of(), self.to())

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the axes of the entries that are taken of the first operand."""
        taken = zip(first, complete(self.of(), first), strict=True)
        return tuple(_labeled(axis, places) for axis, places in taken)

    def result(self, arithmetic: Arithmetic, x: Sequence[Array], axes: Axes) -> Array:
        """Return the result, which has these axes, for operands x."""
        moves = list(self.moves(*[operand.shape for operand in x]))
        if moves and moves[0].to == EVERYWHERE:
            operand, of, _ = moves[0]
            return np.asarray(x[operand][of]) if of else x[operand]
        shape = tuple(len(axis.labels) for axis in axes)
        found = np.full(shape, arithmetic.array(self.others), x[0].dtype)
        for operand, of, to in moves:
            found[to] = x[operand][of]
        return found

    def origin(
        self, at: Index, shape: Shape, of_shapes: Sequence[Shape]
    ) -> tuple[int, Index] | None:
        """Return the operand and the index that an entry comes from; None for a constant."""
        for move in self.moves(*of_shapes):
            found = move.origin(at, shape, of_shapes[move.operand])
            if found is not None:
                return move.operand, found
        return None

    def backward(self, operand: int, *shapes: Shape) -> Any:
        """Return the operation that moves the result's gradient back to an operand."""
        raise TypeError(f"{self.name} passes on no gradient")


def complete(where: Where, axes: Sequence[object]) -> Where:
    """The positions along each axis."""
    return (*where, *[ALL] * (len(axes) - len(where)))


def positions_of(places: Places, size: int) -> Sequence[int]:
    """The positions along an axis of a size."""
    if isinstance(places, slice):
        return range(size)[places]
    return (places,) if isinstance(places, int) else places


def _labeled(axis: Axis, places: Places) -> Axis:
    """The axis of some positions of another one."""
    if places == ALL:
        return axis
    positions = positions_of(places, len(axis.labels))
    return Axis(axis.name, tuple(axis.labels[i] for i in positions))
