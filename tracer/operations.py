"""The primitive operations of a decoder: what each computes, and how its axes are labelled.

Arrays hold Decimals, on which NumPy works as on floats: what is typed and what is printed is
decimal, so 0.1 + 0.2 is 0.3 and a tie is a tie. `part` rounds the numbers that a worked line shows
on the way to its result, and is the identity unless every printed number is the one used next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, Overflow
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Part: TypeAlias = Callable[[Array], Array]

NOISE = Decimal("1e-40")
"""Numbers are computed to 50 digits: a sum that is this much smaller than its terms is 0."""

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Axis:
    """A named axis with a label for each of its entries."""

    name: str
    labels: tuple[str, ...]


Axes: TypeAlias = tuple[Axis, ...]


def numbered(letter: str, start: int, number: int) -> tuple[str, ...]:
    """`d₀ d₁ d₂`, `h₁ h₂ h₃`: the labels of dimensions that the scenario does not name."""
    return tuple(letter + str(start + i).translate(SUBSCRIPTS) for i in range(number))


def settled(total: Array, size: Array) -> Array:
    """Sums, 0 where what is left is only the error in the last digits of terms of this size."""
    return np.where(abs(total) < size * NOISE, np.array(Decimal(0), object), total)


def decimals(floats: Array) -> Array:
    """Floats as the shortest decimals that they stand for."""
    return np.array([Decimal(repr(x)) for x in floats.ravel().tolist()], object).reshape(
        floats.shape
    )


class _SameAxes:
    """The result has the axes of the first input."""

    def axes(self, first: Axes, *others: Axes) -> Axes:
        return first


class _RowAxes:
    """The result has one entry for each row of its input."""

    def axes(self, a: Axes) -> Axes:
        return a[:1]


@dataclass(frozen=True)
class Given:
    """Numbers that are not computed: embeddings, weights, the mask."""

    name: ClassVar[str] = "given"


@dataclass(frozen=True)
class DivTerm:
    """10000^(-2k/d) for each pair of columns k (Vaswani et al. 2017, section 3.5): shape (d/2,)."""

    name: ClassVar[str] = "div_term"
    width: int

    def result(self, *, part: Part) -> Array:
        """One power for each pair."""
        pairs = range((self.width + 1) // 2)
        return np.array([Decimal(10000) ** (Decimal(-2 * k) / self.width) for k in pairs], object)

    def axes(self) -> Axes:
        """One entry for each sine and the cosine beside it."""
        return (Axis("pair", numbered("ω", 0, (self.width + 1) // 2)),)


@dataclass(frozen=True)
class Outer:
    """Each of a (n,) times each of b (m,): shape (n, m)."""

    name: ClassVar[str] = "outer"

    def result(self, a: Array, b: Array, *, part: Part) -> Array:
        """a bᵀ."""
        return np.multiply.outer(a, b)

    def axes(self, a: Axes, b: Axes) -> Axes:
        """Those of both."""
        return (*a, *b)


@dataclass(frozen=True)
class Wave(_SameAxes):
    """sin or cos of each angle. Decimals have neither: computed in float64."""

    name: ClassVar[Literal["sin", "cos"]]

    def result(self, angle: Array, *, part: Part) -> Array:
        """Shape of the angles."""
        wave = {"sin": np.sin, "cos": np.cos}[self.name]
        return decimals(wave(angle.astype(np.float64)))


@dataclass(frozen=True)
class Sin(Wave):
    """sin of each angle."""

    name = "sin"


@dataclass(frozen=True)
class Cos(Wave):
    """cos of each angle."""

    name = "cos"


@dataclass(frozen=True)
class Interleave:
    """Sines in the even columns, cosines in the odd ones: twice (n, d/2) → (n, d)."""

    name: ClassVar[str] = "interleave"
    features: tuple[str, ...]

    def result(self, sin: Array, cos: Array, *, part: Part) -> Array:
        """An odd width leaves the last cosine out."""
        both = np.stack([sin, cos], axis=2).reshape(len(sin), -1)
        return both[:, : len(self.features)]

    def axes(self, sin: Axes, cos: Axes) -> Axes:
        """The features in place of the pairs."""
        return (sin[0], Axis("feature", self.features))


@dataclass(frozen=True)
class Add(_SameAxes):
    """a + b, of the same shape."""

    name: ClassVar[str] = "add"

    def result(self, a: Array, b: Array, *, part: Part) -> Array:
        """Shape of a."""
        return settled(a + b, abs(a) + abs(b))


@dataclass(frozen=True)
class Subtract(_SameAxes):
    """a (n, d) minus b (n,), one number for each row."""

    name: ClassVar[str] = "subtract"

    def result(self, a: Array, b: Array, *, part: Part) -> Array:
        """Shape of a."""
        column = b[:, np.newaxis]
        return settled(a - column, abs(a) + abs(column))


@dataclass(frozen=True)
class MatMul:
    """x W + b: (n, d) (d, m) → (n, m); without a bias, x W."""

    name: ClassVar[str] = "matmul"

    def result(self, x: Array, w: Array, *bias: Array, part: Part) -> Array:
        """The products one by one, since a pencil rounds each of them."""
        products = part(x[:, :, np.newaxis] * w[np.newaxis, :, :])
        size = sum(map(abs, bias), abs(products).sum(axis=1))
        return settled(sum(bias, products.sum(axis=1)), size)

    def axes(self, x: Axes, w: Axes, *bias: Axes) -> Axes:
        """Rows of x, columns of W."""
        return (x[0], w[1])


@dataclass(frozen=True)
class Dot:
    """Q Kᵀ: each query (n, d_k) with each key (m, d_k) → (n, m)."""

    name: ClassVar[str] = "dot"

    def result(self, q: Array, k: Array, *, part: Part) -> Array:
        """As a product of matrices."""
        return MatMul().result(q, k.T, part=part)

    def axes(self, q: Axes, k: Axes) -> Axes:
        """A row for each query, a column for each key."""
        return (q[0], Axis("key", k[0].labels))


@dataclass(frozen=True)
class SquareRoot(_SameAxes):
    """√(a + ε)."""

    name: ClassVar[str] = "sqrt"
    epsilon: Decimal = Decimal(0)

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a."""
        return np.asarray(np.sqrt(a + self.epsilon))


@dataclass(frozen=True)
class Divide(_SameAxes):
    """Each entry of a divided by one number b."""

    name: ClassVar[str] = "divide"

    def result(self, a: Array, b: Array, *, part: Part) -> Array:
        """Shape of a."""
        return np.asarray(a / b)


@dataclass(frozen=True)
class Share(_SameAxes):
    """Each entry of a (n, m) divided by its row's sum (n,): a softmax's last step.

    A row that is masked as a whole has only zeros and the sum 0; it stays a row of zeros.
    """

    name: ClassVar[str] = "share"

    def result(self, a: Array, total: Array, *, part: Part) -> Array:
        """Shape of a."""
        divisors = [s if s or any(row) else Decimal(1) for s, row in zip(total, a, strict=True)]
        return np.asarray(a / np.array(divisors, object)[:, np.newaxis])


@dataclass(frozen=True)
class Exp(_SameAxes):
    """e to the power of each entry; e^-∞ is 0."""

    name: ClassVar[str] = "exp"

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a.

        Raises:
            decimal.Overflow: beyond all bounds, or so small that a Decimal would say 0.
        """
        powers = np.asarray(np.exp(a))
        if any(not power and x.is_finite() for power, x in zip(powers.flat, a.flat, strict=True)):
            raise Overflow
        return powers


@dataclass(frozen=True)
class Square(_SameAxes):
    """Each entry times itself."""

    name: ClassVar[str] = "square"

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a."""
        return a * a


@dataclass(frozen=True)
class Relu(_SameAxes):
    """max(0, a)."""

    name: ClassVar[str] = "relu"

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a."""
        return np.asarray(np.maximum(a, a - a))


@dataclass(frozen=True)
class Total(_RowAxes):
    """The sum of each row: (n, m) → (n,)."""

    name: ClassVar[str] = "sum"

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a."""
        return settled(a.sum(axis=1), abs(a).sum(axis=1))


@dataclass(frozen=True)
class Mean(_RowAxes):
    """The mean of each row: (n, m) → (n,)."""

    name: ClassVar[str] = "mean"

    def result(self, a: Array, *, part: Part) -> Array:
        """The sum of the row, divided by its length."""
        return np.asarray(Total().result(a, part=part) / Decimal(a.shape[1]))


@dataclass(frozen=True)
class MeanOf:
    """The mean of the entries that count: (n,) → one number."""

    name: ClassVar[str] = "mean_of"
    counted: tuple[int, ...]

    def result(self, a: Array, *, part: Part) -> Array:
        """The sum of those entries, divided by how many they are."""
        return np.asarray(sum(a[list(self.counted)]) / Decimal(len(self.counted)), dtype=object)

    def axes(self, a: Axes) -> Axes:
        """None: it is one number."""
        return ()


@dataclass(frozen=True)
class Surprise:
    """-ln of one column of each row, the right word's probability: (n, words) → (n,).

    A row without a right word, such as a padded position, gets 0 and does not count.
    """

    name: ClassVar[str] = "neg_log"
    columns: tuple[int | None, ...]
    targets: tuple[str, ...]

    def axes(self, p: Axes) -> Axes:
        """The right words."""
        return (Axis("target", self.targets),)

    def result(self, p: Array, *, part: Part) -> Array:
        """Natural logarithms.

        Raises:
            decimal.Overflow: a right word has the probability 0, whose logarithm has no bound.
        """
        pairs = list(zip(p, self.columns, strict=True))
        if any(j is not None and not row[j] for row, j in pairs):
            raise Overflow
        return np.array([Decimal(0) if j is None else -row[j].ln() for row, j in pairs], object)


@dataclass(frozen=True)
class Append:
    """The rows of b below those of a, which were computed before: (m, d), (n, d) → (m + n, d)."""

    name: ClassVar[str] = "append"

    def result(self, a: Array, b: Array, *, part: Part) -> Array:
        """All rows."""
        return np.concatenate([a, b], axis=0)

    def axes(self, a: Axes, b: Axes) -> Axes:
        """The tokens of both."""
        return (Axis(a[0].name, a[0].labels + b[0].labels), a[1])


@dataclass(frozen=True)
class Select:
    """Some columns of a row, in a new order: (n, m) → (1, k), of the last row."""

    name: ClassVar[str] = "select"
    columns: tuple[int, ...]

    def result(self, a: Array, *, part: Part) -> Array:
        """The last row's entries."""
        return a[-1:, list(self.columns)]

    def axes(self, a: Axes) -> Axes:
        """The last row, and the labels of the columns that are kept."""
        rows, columns = a
        labels = tuple(columns.labels[j] for j in self.columns)
        return (Axis(rows.name, rows.labels[-1:]), Axis(columns.name, labels))


@dataclass(frozen=True)
class Cumulate(_SameAxes):
    """Running sums along each row."""

    name: ClassVar[str] = "cumulate"

    def result(self, a: Array, *, part: Part) -> Array:
        """Shape of a."""
        return np.asarray(np.cumsum(a, axis=1))


@dataclass(frozen=True)
class Pick:
    """The word whose interval of the running sums (1, k) holds the draw: (1,).

    Where rounding leaves the last sum below the draw, the last word.
    """

    name: ClassVar[str] = "pick"
    words: tuple[str, ...]

    def result(self, cumulative: Array, draw: Array, *, part: Part) -> Array:
        """A word."""
        above = [word for word, top in zip(self.words, cumulative[-1], strict=True) if draw < top]
        return np.array([above[0] if above else self.words[-1]], object)

    def axes(self, cumulative: Axes, draw: Axes) -> Axes:
        """The row of the sums."""
        return cumulative[:1]


@dataclass(frozen=True)
class Normalize(_SameAxes):
    """d / σ · γ + β: deviations (n, d) and σ (n,); γ and β (d,) or neither (Ba et al. 2016)."""

    name: ClassVar[str] = "normalize"
    gain: bool = False
    shift: bool = False

    def result(self, deviation: Array, std: Array, *parameters: Array, part: Part) -> Array:
        """Quotient, product, sum."""
        total = deviation / std[:, np.newaxis]
        rest = list(parameters)
        if self.gain:
            total = part(total) * rest.pop(0)
        if self.shift:
            shift = rest.pop(0)
            total = part(total)
            total = total + shift
        return total


@dataclass(frozen=True)
class Concat:
    """The columns of all heads side by side."""

    name: ClassVar[str] = "concat"

    def result(self, *heads: Array, part: Part) -> Array:
        """(n, d_1), (n, d_2), … → (n, d_1 + d_2 + …)."""
        return np.concatenate(heads, axis=1)

    def axes(self, *heads: Axes) -> Axes:
        """The labels of all heads, in their order."""
        labels = tuple(label for head in heads for label in head[1].labels)
        return (heads[0][0], Axis("concat", labels))


@dataclass(frozen=True)
class Copy(_SameAxes):
    """The same numbers under another name."""

    name: ClassVar[str] = "copy"

    def result(self, a: Array, *, part: Part) -> Array:
        """A itself."""
        return a


@dataclass(frozen=True)
class ArgMax(_RowAxes):
    """The word of each row's largest entry; of several, the first: (n, words) → (n,)."""

    name: ClassVar[str] = "argmax"
    words: tuple[str, ...]

    def result(self, a: Array, *, part: Part) -> Array:
        """Words."""
        return np.array(
            [self.words[max(range(len(row)), key=row.__getitem__)] for row in a], object
        )


Operation: TypeAlias = (
    Given
    | DivTerm
    | Outer
    | Sin
    | Cos
    | Interleave
    | Add
    | Subtract
    | MatMul
    | Dot
    | SquareRoot
    | Divide
    | Share
    | Exp
    | Square
    | Relu
    | Total
    | Mean
    | MeanOf
    | Surprise
    | Append
    | Normalize
    | Concat
    | Copy
    | ArgMax
    | Select
    | Cumulate
    | Pick
)
