"""The operations of a decoder and its training that are not elementwise.

Sums of products declare their axes (`Contract`), moves of entries their maps (`Gather`). The others
are computed in `results.py` and written in `tracer.lesson`. Fields are parameters: with them and
the operands an operation can be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from tracer.decoder.axes import Axes, Axis, RowAxes, SameAxes, numbered
from tracer.decoder.contract import Along, Contract
from tracer.decoder.elementwise import Elementwise, Mask
from tracer.decoder.gather import ALL, Gather, Index, Move, Shape, Where
from tracer.formula.arithmetic import Arithmetic, Array, RoundPart


class Given:
    """Numbers that the scenario gives: embeddings, weights, the mask."""

    name: ClassVar[str] = "given"


@dataclass(frozen=True)
class Pinned:
    """Numbers that replace computed ones; the operands are those of the replaced operation.

    Only `given_rows` are given, counted from 0, and the others are `computed`; None for all. With
    `is_mean`, each row is the mean of the rows in a pass without given values.
    """

    name: ClassVar[str] = "given"
    given_rows: tuple[int, ...] | None = None
    is_mean: bool = False
    computed: Operation | None = None


class Copy(Gather):
    """The same numbers under another name."""

    name = "copy"

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return Copy()


class Reused(Gather):
    """A value of an earlier pass: (m, d) → (m, d)."""

    name = "copy"


class Adjacent(Gather):
    """Operands one after the other along an axis."""

    axis: ClassVar[int] = 0

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        start = 0
        for operand, shape in enumerate(shapes):
            stop = start + shape[self.axis]
            yield Move(operand, to=(*[ALL] * self.axis, slice(start, stop)))
            start = stop

    def axes(self, first: Axes, *others: Axes) -> Axes:
        labels = [label for each in (first, *others) for label in each[self.axis].labels]
        joined = Axis(first[self.axis].name, tuple(labels))
        return (*first[: self.axis], joined, *first[self.axis + 1 :])


class Append(Adjacent):
    """The rows of an earlier pass, then those of b: (m, d), (n, d) → (m + n, d)."""

    name = "append"

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        start = sum(rows for rows, _ in shapes[:operand])
        return Rows(tuple(range(start, start + shapes[operand][0])))


class Join(Adjacent):
    """Rows, one after the other: (n,), (m,), … → (n + m + …,)."""

    name = "join"


class Concat(Adjacent):
    """The columns of all heads side by side: (n, d_1), (n, d_2), … → (n, d_1 + d_2 + …)."""

    name, axis = "concat", 1

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """The labels of all heads; one that several heads have is followed by its head's number."""
        labels = _side_by_side(tuple(head[1].labels for head in (first, *others)))
        return (first[0], Axis("concat", labels))

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        start = sum(width for _, width in shapes[:operand])
        return Columns(start, start + shapes[operand][1])


class AppendColumn(Gather):
    """The columns of a, then one that is the same number: (n, m), (1,) → (n, m + 1)."""

    name = "append_column"

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        width = shapes[0][1]
        yield Move(0, to=(ALL, slice(width)))
        yield Move(1, of=(0,), to=(ALL, width))

    def axes(self, first: Axes, *others: Axes) -> Axes:
        (number,) = others[0]
        return (first[0], Axis(first[1].name, first[1].labels + number.labels))

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return LastColumnTotal() if operand else DropColumn()


class DropColumn(Gather):
    """All columns but the last: (n, m + 1) → (n, m)."""

    name = "drop_column"

    def of(self) -> Where:
        return (ALL, slice(-1))

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return AppendZeros()


@lru_cache
def _side_by_side(heads: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    heads_of = Counter(label for labels in heads for label in set(labels))
    return tuple(
        f"{label} of head {number}" if heads_of[label] > 1 else label
        for number, labels in enumerate(heads, 1)
        for label in labels
    )


@dataclass(frozen=True)
class Interleave(Gather):
    """Sines in even columns, cosines in odd ones, cut to width d: twice (n, ⌈d/2⌉) → (n, d)."""

    name = "interleave"
    features: tuple[str, ...]

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        width = len(self.features)
        yield Move(0, to=(ALL, slice(0, width, 2)))
        yield Move(1, of=(ALL, slice(width // 2)), to=(ALL, slice(1, width, 2)))

    def axes(self, first: Axes, *others: Axes) -> Axes:
        return (first[0], Axis("feature", self.features))


@dataclass(frozen=True)
class Select(Gather):
    """Some columns of the last row, in a new order: (n, m) → (1, k)."""

    name = "select"
    columns: tuple[int, ...]

    def of(self) -> Where:
        return (slice(-1, None), self.columns)


@dataclass(frozen=True)
class Rows(Gather):
    """Some rows, such as those with a target or of an expert's tokens: (n, d) → (k, d).

    A second input, if any, has chosen them: the weights of a token's experts.
    """

    name = "rows"
    rows: tuple[int, ...]

    def of(self) -> Where:
        return (self.rows,)

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """The rows as positions, or as the tokens that were chosen; and the columns."""
        tokens, *columns = first
        labels = tuple(tokens.labels[row] for row in self.rows)
        if not others:
            return (Axis("position", labels), *columns)
        positions = tuple(row - len(tokens.labels) for row in self.rows)
        return (Axis(tokens.name, labels, positions), *columns)

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        is_repeated = len(set(self.rows)) < len(self.rows)
        return (ByWord if is_repeated else PlaceRows)(self.rows, shapes[0][0])


@dataclass(frozen=True)
class BelowZeros(Gather):
    """Rows below so many rows of zeros: (n, d) → (zeros + n, d)."""

    name = "below_zeros"
    zeros: int

    def to(self) -> Where:
        return (slice(self.zeros, None),)

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return Rows(tuple(range(self.zeros, self.zeros + shapes[0][0])))


@dataclass(frozen=True)
class LookUp(Gather):
    """The entry of one column for each query and key, by their offset: (table, k) → (n, m).

    `rows` has the row for each offset from 1 - m to m - 1. The last n of m tokens are queries.
    """

    name = "look_up"
    rows: tuple[int, ...]
    column: int
    queries: int

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for query in range(self.queries):
            yield Move(0, (self.rows_of(query), self.column), (query,))

    def rows_of(self, query: int) -> tuple[int, ...]:
        """The row of the table for each key of a query."""
        first = self.queries - 1 - query
        return self.rows[first : first + (len(self.rows) + 1) // 2]

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        rows = (row for query in range(self.queries) for row in self.rows_of(query))
        return ByEntry(tuple(rows), self.column, *shapes[0])


@dataclass(frozen=True)
class Columns(Gather):
    """Adjacent columns, from `start` to before `stop`, counted from 0."""

    name = "columns"
    start: int
    stop: int

    def of(self) -> Where:
        return (ALL, slice(self.start, self.stop))

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return PlaceColumns(self.start, shapes[0][1])


@dataclass(frozen=True)
class Keep(Gather):
    """The chosen columns of each row; the other entries become -∞ or 0: (n, m) → (n, m)."""

    name = "keep"
    columns: tuple[tuple[int, ...], ...]
    others: Decimal

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for row, columns in enumerate(self.columns):
            yield Move(0, (row, columns), (row, columns))

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return Copy()  # what was not chosen has the weight 0


class Lower(Gather):
    """The entries on the diagonal and below; the others become 0: (n, n) → (n, n)."""

    name = "lower"

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for row in range(shapes[0][0]):
            yield Move(0, (row, slice(row + 1)), (row, slice(row + 1)))


class Collect(Gather):
    """Numbers, one after the other: n numbers → (n,)."""

    name = "collect"

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for operand in range(len(shapes)):
            yield Move(operand, to=(operand,))


@dataclass(frozen=True)
class MixExperts:
    """Σ w_e y_e: weights w (n, experts), each expert's y_e with a row for each of its tokens.

    `rows` are the tokens of each expert: (n, experts), (k_1, d), (k_2, d), … → (n, d).
    """

    name: ClassVar[str] = "mix_experts"
    rows: tuple[tuple[int, ...], ...]

    def axes(self, w: Axes, *experts: Axes) -> Axes:
        return (w[0], experts[0][1])

    def experts_of(self, row: int) -> list[tuple[int, int]]:
        """The experts of a token, counted from 0, and its row in the output of each."""
        return [(e, rows.index(row)) for e, rows in enumerate(self.rows) if row in rows]


@dataclass(frozen=True)
class DivTerm:
    """base^(-2k/d) for each pair k, divided by its factor, if any: (d/2,) (Vaswani et al. 2017).

    Without a base, it is the operand, one number.
    """

    name: ClassVar[str] = "div_term"
    width: int
    base: Decimal | None = Decimal(10000)
    factors: tuple[Decimal, ...] = ()

    def axes(self, *base: Axes) -> Axes:
        return (Axis("pair", numbered("ω", 0, (self.width + 1) // 2)),)


@dataclass(frozen=True)
class PowerOfTwo:
    """2^(over / under), one number: the slope of a head (Press et al. 2022)."""

    name: ClassVar[str] = "power_of_two"
    over: int
    under: int

    def axes(self) -> Axes:
        return ()


@dataclass(frozen=True)
class Rotate(SameAxes):
    """Pairs (a, b) of columns rotated: (a cos - b sin, a sin + b cos): (n, d), twice (n, r/2).

    The k-th pair is columns 2k and 2k + 1 (`pairs`, Su et al. 2021), or k and k + r/2 (`halves`).
    Columns from r on stay unchanged.
    """

    name: ClassVar[str] = "rotate"
    layout: Literal["pairs", "halves"]

    def pair_of(self, column: int, width: int) -> tuple[int, int, int]:
        """The index of the pair that a column below r is in, and the two columns; `width` is r."""
        if self.layout == "pairs":
            pair = column // 2
            return pair, 2 * pair, 2 * pair + 1
        pair = column % (width // 2)
        return pair, pair, pair + width // 2

    def columns(self, width: int) -> tuple[slice, slice]:
        """The first columns of all pairs, and the second ones; `width` is r."""
        if self.layout == "pairs":
            return slice(0, width, 2), slice(1, width, 2)
        return slice(width // 2), slice(width // 2, width)


class MatMul(Contract):
    """x W + b: (n, d) (d, m) (m,) → (n, m); without a bias, x W."""

    name, spec = "matmul", "n d, d m -> n m"


class Dot(Contract):
    """Q Kᵀ: each query (n, d_k) with each key (m, d_k) → (n, m)."""

    name, spec = "dot", "n d, m d -> n m"

    def axes(self, *operands: Axes) -> Axes:
        """A row for each query, a column for each key."""
        query, key = super().axes(*operands)
        return (query, Axis("key", key.labels))


class Total(Contract):
    """The sum of each row: (n, m) → (n,)."""

    name, spec = "sum", "n m -> n"


class Largest(RowAxes):
    """The largest of each row: (n, m) → (n,); 0 of a row that is masked as a whole."""

    name: ClassVar[str] = "max"


class LargestSoFar(RowAxes):
    """The largest of each row (n, m) and of b (n,), if there is one: (n,); -∞ of only -∞."""

    name: ClassVar[str] = "running_max"


@dataclass(frozen=True)
class Mean(Contract):
    """The mean of each row: (n, m) → (n,); of a `sample`, the sum divided by one less."""

    name, spec = "mean", "n m -> n"
    sample: bool = False

    def divisor(self, terms: int) -> int | None:
        return terms - self.sample


@dataclass(frozen=True)
class Counted(Contract):
    """A sum of the entries that count: (n,) → one number."""

    spec = "n ->"
    counted: tuple[int, ...]

    def of(self) -> Where:
        return (self.counted,)


class SumOf(Counted):
    """Their sum."""

    name = "sum_of"


class SumInOrder(SumOf):
    """The sum of entries in the order of their size: of many, a line writes the first."""


class MeanOf(Counted):
    """Their mean."""

    name = "mean_of"

    def divisor(self, terms: int) -> int | None:
        return terms if terms > 1 else None


@dataclass(frozen=True)
class GroupExtreme:
    """The largest |w| of each group of `height` rows and `width` columns: (m, n) → groups.

    The largest and the smallest number are at least, or at most, 0.
    """

    name: ClassVar[str] = "group_extreme"
    of: Literal["magnitude", "largest", "smallest"]
    height: int
    width: int

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the groups along each axis, by their first and last label."""
        steps = zip(first, (self.height, self.width), strict=True)
        return tuple(_in_groups(axis, step) for axis, step in steps)

    def entries(self, group: tuple[int, ...]) -> list[tuple[int, int]]:
        """Return the indices of a group's entries."""
        top, left = group[0] * self.height, group[1] * self.width
        rows, columns = range(top, top + self.height), range(left, left + self.width)
        return [(i, j) for i in rows for j in columns]


@dataclass(frozen=True)
class SpreadGroups(Gather):
    """The number of each group for all of its entries: groups → (m, n)."""

    name = "spread_groups"
    height: int
    width: int

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for i, j in np.ndindex(shapes[0]):
            rows = slice(i * self.height, (i + 1) * self.height)
            columns = slice(j * self.width, (j + 1) * self.width)
            yield Move(0, (i, j), (rows, columns))

    def group_of(self, at: tuple[int, ...]) -> tuple[int, int]:
        """Return the index of the group of an entry."""
        return at[0] // self.height, at[1] // self.width


def _in_groups(axis: Axis, size: int) -> Axis:
    """An axis of groups of so many labels."""
    starts = range(0, len(axis.labels), size)
    groups = [axis.labels[start : start + size] for start in starts]
    labels = [each[0] if len(each) == 1 else f"{each[0]}…{each[-1]}" for each in groups]
    return Axis(f"group of {axis.name}s" if size > 1 else axis.name, tuple(labels))


class Cumulate(SameAxes):
    """Running sums along each row."""

    name: ClassVar[str] = "cumulate"


@dataclass(frozen=True)
class ArgMax:
    """The word of each row's largest probability (n, words): (n,); ties go to the larger logit."""

    name: ClassVar[str] = "argmax"
    words: tuple[str, ...]

    def axes(self, p: Axes, z: Axes) -> Axes:
        return p[:1]


@dataclass(frozen=True)
class Pick:
    """The word whose interval of the running sums (1, k) holds the draw, or the last word: (1,)."""

    name: ClassVar[str] = "pick"
    words: tuple[str, ...]

    def axes(self, cumulative: Axes, draw: Axes) -> Axes:
        return cumulative[:1]


# Training. A result has the axes of the value whose gradient, or whose new numbers, it is.


class TransposedMatMul(Contract):
    """xᵀ g: (n, d), (n, m) → (d, m), summed over the tokens."""

    name, spec = "transposed_matmul", "n d, n m -> d m"


class ColumnTotal(Contract):
    """The sum of each column: (n, m) → (m,)."""

    name, spec = "column_sum", "n m -> m"


class LastColumnTotal(ColumnTotal):
    """The sum of the last column: (n, m + 1) → (1,)."""

    name = "last_column_sum"

    def of(self) -> Where:
        return (ALL, slice(-1, None))


class ColumnDot(Contract):
    """Σ a ⊙ b over the rows: (n, m), (n, m) → (m,)."""

    name, spec = "column_dot", "n m, n m -> m"


@dataclass(frozen=True)
class RowDot(Contract):
    """Σ a ⊙ b over the columns: (n, m), (n, m) → (n,); if `negative`, its negative."""

    name, spec = "row_dot", "n m, n m -> n"
    negative: bool = False


@dataclass(frozen=True)
class Convolve(Contract):
    """Σ_j a_(t+j) ⊙ b_j over the rows of b: (n + k - 1, d), (k, d) → (n, d); k is the `window`."""

    name, spec = "convolve", "n+k d, k d -> n d"
    window: int

    def axes(self, *operands: Axes) -> Axes:
        """Return the axes of a, without the first rows."""
        rows, columns = operands[0]
        return (Axis(rows.name, rows.labels[self.window - 1 :]), columns)

    def result(self, arithmetic: Arithmetic, x: Sequence[Array], part: RoundPart) -> Array:
        """Return the sums of a window of rows for each row from the window's last on."""
        a, b = x
        n = len(a) - self.window + 1
        return arithmetic.sum(part(np.stack([a[j : j + n] * b[j] for j in range(len(b))])), axis=0)

    def along(self, at: Index) -> list[Along]:
        row, column = at
        return [(slice(row, row + self.window), column), (ALL, column)]


@dataclass(frozen=True)
class ConvolveBack(Contract):
    """Σ_j g_(i-j) ⊙ b_j of the rows that there are: (n, d), (k, d) → (n + k - 1, d).

    `rows` is n, and `window` is k.
    """

    name, spec = "convolve_back", "n-k d, k d -> n d"
    rows: int
    window: int

    def result(self, arithmetic: Arithmetic, x: Sequence[Array], part: RoundPart) -> Array:
        """Return, for each row, the sum over the windows that it is in."""
        g, b = x
        n, k = self.rows, self.window
        terms = np.zeros((k, n + k - 1, *g.shape[1:]), g.dtype) + arithmetic.array(0)
        for j in range(k):
            terms[j, j : j + n] = part(g * b[j])
        return arithmetic.sum(terms, axis=0)

    def along(self, at: Index) -> list[Along]:
        row, column = at
        first, last = max(0, row - self.rows + 1), min(self.window - 1, row)
        end = row - last - 1
        own = slice(row - first, None if end < 0 else end, -1)
        return [(own, column), (slice(first, last + 1), column)]


class NegativeTotal(Contract):
    """The negative sum of each row: (n, m) → (n,)."""

    name, spec, negative = "negative_sum", "n m -> n", True


@dataclass(frozen=True)
class RotateBack:
    """Pairs (a, b) of columns rotated back: (a cos + b sin, b cos - a sin)."""

    name: ClassVar[str] = "rotate_back"
    layout: Literal["pairs", "halves"]


@dataclass(frozen=True)
class TakeColumn(Gather):
    """One column as a row: (d, m) → (1, d); of a vector (m,), one entry: (1,)."""

    name = "take_column"
    column: int

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        yield Move(0, (*[ALL] * (len(shapes[0]) - 1), self.column), (0,))


@dataclass(frozen=True)
class TakeEntry(Gather):
    """One entry: (n, m) → one number."""

    name = "take_entry"
    row: int
    column: int

    def of(self) -> Where:
        return (self.row, self.column)


@dataclass(frozen=True)
class TakeNumber(Gather):
    """One number of a vector or a matrix."""

    name = "take_number"
    at: tuple[int, ...]

    def of(self) -> Where:
        return self.at

    def backward(self, operand: int, *shapes: Shape) -> Recorded:
        return PlaceNumber(self.at, shapes[0])


@dataclass(frozen=True)
class PlaceNumber(Gather):
    """One number at its place in an array of a shape, and zeros elsewhere."""

    name = "place_number"
    at: tuple[int, ...]
    shape: Shape

    def to(self) -> Where:
        return self.at


@dataclass(frozen=True)
class TakeEntries(Gather):
    """Some entries, one after the other: (n, m) → (k,)."""

    name = "take_entries"
    entries: tuple[tuple[int, int], ...]

    def of(self) -> Where:
        return tuple(zip(*self.entries, strict=True))


class Stack(Gather):
    """Rows below each other: (m, d), (n, d), … → (m + n + …, d); a vector (d,) is one row."""

    name = "stack"

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        start = 0
        for operand, shape in enumerate(shapes):
            height = shape[0] if len(shape) > 1 else 1
            rows = slice(start, start + height)
            yield Move(operand, to=(rows if len(shape) > 1 else start,))
            start += height


class AccumulateGradients:
    """a + b + …, of the same shape: all paths of a gradient."""

    name: ClassVar[str] = "add_all"


@dataclass(frozen=True)
class ByWord:
    """The sum of the rows of each word, by its index in the table: (n, d) → (table, d)."""

    name: ClassVar[str] = "add_by_word"
    words: tuple[int, ...]
    table: int


@dataclass(frozen=True)
class ByEntry:
    """The sums of the entries of each row of a table, in one column: (n, m) → (table, columns).

    `rows` has the row for each entry of the operand, row by row.
    """

    name: ClassVar[str] = "add_by_entry"
    rows: tuple[int, ...]
    column: int
    table: int
    columns: int

    def entries(self, index: tuple[int, ...], width: int) -> list[tuple[int, int]]:
        """Return the entries of an operand with so many columns that are added up."""
        at = [i for i, row in enumerate(self.rows) if index == (row, self.column)]
        return [divmod(i, width) for i in at]


@dataclass(frozen=True)
class AsRows(Gather):
    """The columns of a (d, words) as rows of the table they come from: (table, d)."""

    name = "as_rows"
    words: tuple[int, ...]
    table: int

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        for column, word in enumerate(self.words):
            yield Move(0, (ALL, column), (word,))


@dataclass(frozen=True)
class PlaceRows(Gather):
    """Rows at their places among n, and zeros elsewhere: (k, d) → (n, d)."""

    name = "place_rows"
    rows: tuple[int, ...]
    n: int

    def to(self) -> Where:
        return (self.rows,)


@dataclass(frozen=True)
class PlaceColumns(Gather):
    """Adjacent columns at their place among n, and zeros elsewhere: (k, d) → (k, n)."""

    name = "place_columns"
    start: int
    n: int

    def moves(self, *shapes: Shape) -> Iterator[Move]:
        yield Move(0, to=(ALL, slice(self.start, self.start + shapes[0][1])))


@dataclass(frozen=True)
class ExpertDots:
    """g · y_e for each token and each of its experts: (n, d), (k_1, d), … → (n, experts)."""

    name: ClassVar[str] = "expert_dots"
    rows: tuple[tuple[int, ...], ...]


class AppendZeros(Gather):
    """A column of zeros behind the others: (n, m) → (n, m + 1)."""

    name = "append_zeros"

    def to(self) -> Where:
        return (ALL, slice(-1))


class SumOfSquares:
    """The sum of all squares, of any shape: one number."""

    name: ClassVar[str] = "sum_of_squares"


Moved: TypeAlias = Gather | Mask | Largest | LargestSoFar
"""Operations that move the numbers of their inputs without changing their digits."""

Chosen: TypeAlias = ArgMax | Pick
"""Operations that choose a word, by the numbers before rounding."""

Computed: TypeAlias = (
    Elementwise | DivTerm | PowerOfTwo | Rotate | Contract | MixExperts | Cumulate | GroupExtreme
)
"""Operations that compute numbers: each has worked lines."""

Forward: TypeAlias = Computed | Moved | Chosen
"""Operations of the forward pass; `gradients.py` has the gradient of each."""

Trained: TypeAlias = RotateBack | AccumulateGradients | ByWord | ByEntry | ExpertDots | SumOfSquares
"""Operations of training that compute numbers: each has worked lines."""

Recorded: TypeAlias = Forward | Trained
"""Operations with a result; `Given` and `Pinned` numbers come from outside."""

Operation: TypeAlias = Given | Pinned | Recorded
