"""The primitive operations of training: of the way back, and of the update.

What each gives has the axes of the value whose gradient, or whose new numbers, it is. With n
tokens, d features, m columns. What each computes is said in `training_results.py`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal, TypeAlias

from tracer.frozen import frozen
from tracer.scenario.layers import ActivationFunction


@frozen
class Miss:
    """(p - y) / n: probabilities (n, words), less 1 for the right word, over how many count.

    It is the gradient of softmax and cross-entropy together. A row without a right word has 0.
    """

    name: ClassVar[str] = "miss"
    columns: tuple[int | None, ...]
    counted: int


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


class TimesRow:
    """Each row of a (n, m) times b (m,), number by number."""

    name: ClassVar[str] = "times_row"


@frozen
class RootSlope:
    """g / (2 (σ - ε)), entry by entry: the gradient of σ = √a + ε, or of √(a + ε) with ε = 0."""

    name: ClassVar[str] = "root_slope"
    epsilon: Decimal = Decimal(0)


class TwiceProduct:
    """2 g a: the gradient of a², entry by entry."""

    name: ClassVar[str] = "twice_product"


@frozen
class Slope:
    """The slope of an activation function at each entry (`activations.py`)."""

    name: ClassVar[str] = "slope"
    function: ActivationFunction


@frozen
class Spread:
    """Each g (n,) divided by `over`, and put in every column: (n, columns)."""

    name: ClassVar[str] = "spread"
    over: int
    columns: int


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


class Together:
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


@frozen
class Combine:
    """a x + b y, entry by entry, with two factors: momentum, decay, a step against the slope."""

    name: ClassVar[str] = "combine"
    a: Decimal
    b: Decimal


@frozen
class Scale:
    """a x, entry by entry: a running mean or a decay whose other part is 0."""

    name: ClassVar[str] = "scale"
    a: Decimal


@frozen
class Unbias:
    """x / (1 - β^t): a running mean that began with 0, after t steps (Kingma and Ba 2015)."""

    name: ClassVar[str] = "unbias"
    beta: Decimal
    steps: int


@frozen
class Ratio:
    """m / (√v + ε), entry by entry (Kingma and Ba 2015)."""

    name: ClassVar[str] = "ratio"
    epsilon: Decimal


class SumOfSquares:
    """The sum of all squares, of any shape: one number."""

    name: ClassVar[str] = "sum_of_squares"


class Times:
    """Each entry of a times one number b."""

    name: ClassVar[str] = "times"


Taken: TypeAlias = Columns | AsRows
"""Operations of training whose numbers are those of their inputs."""

Trained: TypeAlias = (
    Miss
    | TransposedMatMul
    | ColumnTotal
    | ColumnDot
    | RowDot
    | NegativeTotal
    | TimesRow
    | RootSlope
    | TwiceProduct
    | Slope
    | Spread
    | RotateBack
    | Together
    | ByWord
    | Combine
    | Scale
    | Unbias
    | Ratio
    | SumOfSquares
    | Times
)
"""Operations of training that compute numbers: each has worked lines."""

OfTraining: TypeAlias = Taken | Trained
