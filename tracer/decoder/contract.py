"""Sums of products over named axes: "n i, i m -> n m" is Σ a[n, i] b[i, m] over i.

In "n+k m, k m -> n m" an axis is read from n on: it is Σ a[n + k, m] b[k, m] over k.
An operation declares its axes, as in einops. Its result, the terms of an entry and the gradient of
a product follow from that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar, TypeAlias

from tracer.decoder.axes import Axes, Axis
from tracer.decoder.gather import ALL, EVERYWHERE, Index, Shape, Where, complete, positions_of
from tracer.formula.arithmetic import Arithmetic, Array, RoundPart

Letters: TypeAlias = tuple[str, ...]

Along: TypeAlias = tuple[int | slice, ...]
"""The index of a row or a column of a matrix, or of a vector."""


class Contract:
    """An operation that sums along one axis: an operand, or the product of two.

    To a product of matrices, a third operand is added, the bias, if there is one.
    """

    name: ClassVar[str]
    spec: ClassVar[str]
    """The axes of the summed operands, and those of the result."""
    factors: ClassVar[tuple[Letters, ...]]
    """The names of the axes of each summed operand."""
    kept: ClassVar[Letters]
    """The names of the axes of the result."""
    summed: ClassVar[str]
    """The name of the axis along which the terms are."""
    is_matrix_product: ClassVar[bool]
    """Whether a row or a column is multiplied by each one of another matrix."""
    negative: bool = False

    def __init_subclass__(cls) -> None:
        operands, result = cls.spec.split("->")
        cls.factors = tuple(tuple(each.split()) for each in operands.split(","))
        cls.kept = tuple(result.split())
        cls.summed = next(axis for axis in cls.factors[-1] if axis not in cls.kept)
        is_of_windows = any(len(axis) > 1 for axes in cls.factors for axis in axes)
        cls.is_matrix_product = len({*cls.factors}) > 1 and not is_of_windows

    def of(self) -> Where:
        """Return which entries of a single operand are summed."""
        return EVERYWHERE

    def divisor(self, terms: int) -> int | None:
        """Return by what a sum of so many terms is divided, if it is a mean."""
        return None

    def axes(self, *operands: Axes) -> Axes:
        """Return the axes of the result: those of the operands that are not summed."""
        return tuple(self.axis(name, operands) for name in self.kept)

    def axis(self, name: str, operands: Sequence[Axes]) -> Axis:
        """Return the axis of the operands with a name in the spec."""
        operand = 0 if name in self.factors[0] else 1
        return operands[operand][self.factors[operand].index(name)]

    def result(self, arithmetic: Arithmetic, x: Sequence[Array], part: RoundPart) -> Array:
        """Return the result for operands x; `part` rounds each product."""
        a, *others = x
        axis = self.factors[0].index(self.summed)
        if self.is_matrix_product:
            b, *bias = others
            columns = b.T if self.factors[1].index(self.summed) else b
            return arithmetic.matmul(a if axis else a.T, columns, bias, part)
        of = self.of()
        terms = part(a * others[0]) if others else a[of] if of else a
        divisor = self.divisor(terms.shape[axis])
        if divisor:
            return arithmetic.mean(terms, divisor, axis)
        total = arithmetic.sum(terms, axis)
        return -total if self.negative else total

    def along(self, at: Index) -> list[Along]:
        """Return the row or column of each operand whose numbers an entry is made of."""
        of_axis = dict(zip(self.kept, at, strict=True))
        return [tuple(of_axis.get(axis, ALL) for axis in factor) for factor in self.factors]

    def entries(self, at: Index, shape: Shape) -> list[Index]:
        """Return the entries of a single operand, of a shape, that an entry is the sum of."""
        (along,), taken = self.along(at), complete(self.of(), shape)
        positions = map(positions_of, taken, shape)
        each: list[Sequence[int]] = [
            (own[place],) if isinstance(place, int) else own
            for own, place in zip(positions, along, strict=True)
        ]
        return list(product(*each))

    def gradient(self, operand: int) -> tuple[str, bool]:
        """Return the spec of a matrix product's gradient by a factor, and whether g comes first.

        The gradient is the product of g, that of the result, and the other factor.
        """
        own, other = self.factors[operand], self.factors[1 - operand]
        is_g_first = own[0] in self.kept
        factors = (self.kept, other) if is_g_first else (other, self.kept)
        usual = dict(zip(dict.fromkeys((*factors[0], *factors[1])), "ndm", strict=True))
        first, second, result = (" ".join(usual[axis] for axis in each) for each in (*factors, own))
        return f"{first}, {second} -> {result}", is_g_first
