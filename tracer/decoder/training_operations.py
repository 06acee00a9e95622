"""The primitive operations of training: of the way back, and of the update.

What each gives has the axes of the value whose gradient, or whose new numbers, it is. With n
tokens, d features, m columns. What each computes is in `results.py`.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from tracer.frozen import frozen


class TransposedMatMul:
    """xᵀ g: (n, d), (n, m) → (d, m), summed over the tokens."""

    name: ClassVar[str] = "transposed_matmul"


class ColumnTotal:
    """The sum of each column: (n, m) → (m,)."""

    name: ClassVar[str] = "column_sum"


class ColumnDot:
    """Σ a ⊙ b over the rows: (n, m), (n, m) → (m,)."""

    name: ClassVar[str] = "column_dot"


@frozen
class RowDot:
    """Σ a ⊙ b over the columns: (n, m), (n, m) → (n,); its negative, if asked for."""

    name: ClassVar[str] = "row_dot"
    negative: bool = False


class NegativeTotal:
    """The negative sum of each row: (n, m) → (n,)."""

    name: ClassVar[str] = "negative_sum"


@frozen
class RotateBack:
    """Pairs (a, b) of columns turned back: (a cos + b sin, b cos - a sin)."""

    name: ClassVar[str] = "rotate_back"
    layout: Literal["pairs", "halves"]


@frozen
class Columns:
    """Some neighbouring columns, from `start` to before `stop`, counted from 0."""

    name: ClassVar[str] = "columns"
    start: int
    stop: int


class AccumulateGradients:
    """a + b + …, of the same shape: all ways of a gradient."""

    name: ClassVar[str] = "add_all"


@frozen
class ByWord:
    """The rows of the same word added up: (n, d) → (words, d); `words` are those of the rows.

    A word is told by its place in the table, counted from 0; one that no row is of gets 0.
    """

    name: ClassVar[str] = "add_by_word"
    words: tuple[int, ...]
    table: int


@frozen
class AsRows:
    """The columns of a (d, words) as rows of the table that they come from: (table, d)."""

    name: ClassVar[str] = "as_rows"
    words: tuple[int, ...]
    table: int


class SumOfSquares:
    """The sum of all squares, of any shape: one number."""

    name: ClassVar[str] = "sum_of_squares"


Taken: TypeAlias = Columns | AsRows
"""Operations of training whose numbers are those of their inputs."""

Trained: TypeAlias = (
    TransposedMatMul
    | ColumnTotal
    | ColumnDot
    | RowDot
    | NegativeTotal
    | RotateBack
    | AccumulateGradients
    | ByWord
    | SumOfSquares
)
"""Operations of training that compute numbers: each has worked lines."""

OfTraining: TypeAlias = Taken | Trained
