"""What each operation computes: on Decimals, as a pencil does; on floats, as NumPy does.

A tape has one arithmetic. NumPy works on arrays of Decimals as on floats; where a pencil goes
about it in another way, the two classes differ. The third has shapes alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import ROUND_05UP, Decimal, Overflow, Underflow, localcontext
from math import erfc, pi, sqrt
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import training_results
from tracer.decoder.activations import activated
from tracer.decoder.axes import Axes
from tracer.decoder.normal import PI, normal
from tracer.decoder.operations import (
    Activate,
    Add,
    Append,
    ArgMax,
    Concat,
    Copy,
    Cos,
    Cumulate,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Interleave,
    Join,
    Largest,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Multiply,
    Normalize,
    Outer,
    Pick,
    Recorded,
    Reused,
    Rotate,
    Select,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)

Array: TypeAlias = NDArray[Any]
Part: TypeAlias = Callable[[Array], Array]
"""Rounds the numbers that a worked line shows on the way to its result."""

PRECISION = 50
"""Significant digits of Decimals in full precision: far more than any line prints."""

NOISE, FLOAT_NOISE = Decimal("1e-40"), 1e-15
"""A sum that is this much smaller than its terms is 0."""

NEARLY_NOTHING = 1e-12
"""No sum of floats that is larger is worth a look whether it is noise."""

LARGEST_EXPONENT, LARGEST_FLOAT_EXPONENT = Decimal(2_000_000), 700
"""e to the power of more would be beyond the bounds of Decimals, or of floats."""


def exactly(numbers: Array) -> Array:
    """No rounding on the way."""
    return numbers


class Arithmetic(ABC):
    """A kind of numbers: how they are stored, and what the operations give."""

    on_demand = False
    """Whether nothing is computed before somebody asks for it."""

    @abstractmethod
    def array(self, numbers: object) -> Array:
        """Numbers of a scenario as an array."""

    @abstractmethod
    def context(self) -> AbstractContextManager[Any]:
        """In which operations are done; what has no result raises an ArithmeticError in it."""

    @abstractmethod
    def matmul(self, x: Array, w: Array, bias: list[Array], part: Part) -> Array:
        """x W + b."""

    @abstractmethod
    def sum(self, a: Array, axis: int | None = None) -> Array:
        """The sum along an axis, or of all."""

    @abstractmethod
    def add(self, a: Array, b: Array) -> Array:
        """a + b."""

    @abstractmethod
    def exp(self, a: Array) -> Array:
        """e^a.

        Raises:
            Overflow, Underflow: beyond all bounds, or so small that the number would be 0.
        """

    @abstractmethod
    def log(self, a: Array) -> Array:
        """The natural logarithm."""

    @abstractmethod
    def waves(self, a: Array) -> tuple[Array, Array]:
        """sin and cos."""

    @abstractmethod
    def powers(self, base: Decimal, over: list[int], under: int) -> Array:
        """base^(n / under) for each n."""

    @abstractmethod
    def gated(self, a: Array, by: Array, part: Part) -> Array:
        """a / (1 + e^-by)."""

    @abstractmethod
    def gate_slope(self, a: Array, by: Array, part: Part) -> Array:
        """1 / (1 + e^-by) + a e^-by / (1 + e^-by)²."""

    @abstractmethod
    def density(self, a: Array) -> Array:
        """e^(-a²/2) / √(2π), the slope of Φ."""

    @abstractmethod
    def normal(self, a: Array) -> Array:
        """Φ(a), the share of a normal distribution that lies below a."""

    @abstractmethod
    def has_powers_of(self, a: Array) -> bool:
        """Whether e^a is neither too large nor too small to be worked with."""

    def result(self, operation: Recorded, inputs: list[Array], axes: Axes, part: Part) -> Array:
        """What an operation gives; `axes` are those of the result."""
        x = inputs
        match operation:  # the most frequent first
            case MatMul():
                return self.matmul(x[0], x[1], x[2:], part)
            case Dot():
                return self.matmul(x[0], x[1].T, [], part)
            case Divide():
                return np.asarray(x[0] / x[1])
            case Mask():
                return x[0] + x[1]
            case Largest():
                largest = x[0].max(axis=1)
                masked = largest == -np.inf
                if not np.count_nonzero(masked):
                    return np.asarray(largest)
                return np.where(masked, self.array(0), largest)
            case Subtract():
                return self.add(x[0], -x[1][:, np.newaxis])
            case Exp():
                return self.exp(x[0])
            case Total():
                return self.sum(x[0], axis=1)
            case Share():
                return x[0] / _divisors(x[0], x[1])[:, np.newaxis]
            case SquareRoot(epsilon, outside):
                if not epsilon:
                    return np.asarray(np.sqrt(x[0]))
                if outside:
                    return np.asarray(part(np.sqrt(x[0])) + self.array(epsilon))
                return np.asarray(np.sqrt(x[0] + self.array(epsilon)))
            case Add():
                return self.add(x[0], x[1])
            case Multiply():
                return x[0] * x[1]
            case Rotate():
                return self._rotated(operation, x[0], x[1], x[2], part)
            case Outer():
                return np.multiply.outer(x[0], x[1])
            case Square():
                return x[0] * x[0]
            case Activate(function):
                return activated(function, x[0], self, part)
            case Mean(sample):
                return self.sum(x[0], axis=1) / self.array(x[0].shape[1] - sample)
            case MeanOf(counted):
                return np.asarray(self.sum(x[0][list(counted)]) / self.array(len(counted)))
            case Normalize(gain, shift):
                return self._normalized(x, gain, shift, part)
            case Sin():
                return self.waves(x[0])[0]
            case Cos():
                return self.waves(x[0])[1]
            case DivTerm(width, base, factors):
                powers = self.powers(base, [-2 * k for k in range((width + 1) // 2)], width)
                return powers / self.array(factors) if factors else powers
            case Surprise(columns, _):
                return self._surprises(columns, x[0])
            case Cumulate():
                return np.asarray(np.cumsum(x[0], axis=1))
            case Copy() | Reused():
                return x[0]
            case Append() | Join():
                return np.concatenate(x, axis=0)
            case Concat():
                return np.concatenate(x, axis=1)
            case Interleave(features):
                return np.stack(x, axis=2).reshape(len(x[0]), -1)[:, : len(features)]
            case Select(columns):
                return x[0][-1:, list(columns)]
            case ArgMax(words):
                rows = zip(x[0], x[1], strict=True)
                return np.array([words[_largest(p, z)] for p, z in rows], object)
            case Pick(words):
                above = [w for w, top in zip(words, x[0][-1], strict=True) if x[1] < top]
                return np.array([above[0] if above else words[-1]], object)
            case _:
                return training_results.result(self, operation, x, part)

    def _rotated(self, turn: Rotate, a: Array, cos: Array, sin: Array, part: Part) -> Array:
        firsts, seconds = turn.columns(a.shape[1])
        first, second = a[:, firsts], a[:, seconds]
        of_first, of_second = np.empty_like(a), np.empty_like(a)
        of_first[:, firsts], of_second[:, firsts] = part(first * cos), -part(second * sin)
        of_first[:, seconds], of_second[:, seconds] = part(first * sin), part(second * cos)
        return self.add(of_first, of_second)

    def _normalized(self, inputs: list[Array], gain: bool, shift: bool, part: Part) -> Array:
        deviation, std, *parameters = inputs
        total = deviation / std[:, np.newaxis]
        if gain:
            total = part(total)
            total *= parameters[0]
        return self.add(part(total), parameters[-1]) if shift else np.asarray(total)

    def _surprises(self, columns: tuple[int | None, ...], p: Array) -> Array:
        found = self.array([0] * len(columns))
        rows = [i for i, column in enumerate(columns) if column is not None]
        right = p[rows, [column for column in columns if column is not None]]
        if not all(right):
            raise Overflow
        found[rows] = -self.log(right)
        return found


def _divisors(a: Array, total: Array) -> Array:
    """The sums of the rows; 1 for a row of zeros, which is masked as a whole."""
    if np.count_nonzero(total) == len(total):
        return total
    return np.where(np.logical_or(total, a.any(axis=1)), total, total + 1)


def _largest(p: Array, z: Array) -> int:
    """The first of the largest probabilities; of alike ones, that of the largest logit."""
    first = int(p.argmax())
    alike = p == p[first]
    if np.count_nonzero(alike) == 1:
        return first
    return int(np.flatnonzero(alike)[np.argmax(z[alike])])


class Decimals(Arithmetic):
    """As a pencil computes: 0.1 + 0.2 is 0.3, a tie is a tie, products are rounded one by one."""

    def array(self, numbers: object) -> Array:
        found = np.array(numbers, dtype=object)
        typed = found.size == 0 or isinstance(found.flat[0], Decimal | tuple | str)
        return found if typed else np.asarray(np.frompyfunc(_decimal, 1, 1)(found), object)

    def context(self) -> AbstractContextManager[Any]:
        # What is cut off stays seen in the last digit: 0.5 - 10⁻³⁰⁰ is rounded down to 0.
        return localcontext(prec=PRECISION, rounding=ROUND_05UP)

    def matmul(self, x: Array, w: Array, bias: list[Array], part: Part) -> Array:
        columns = w.T
        products = part(x[:, np.newaxis, :] * columns[np.newaxis, :, :])
        size = abs(products).sum(axis=2)
        return _settled(sum(bias, products.sum(axis=2)), sum(map(abs, bias), size))

    def sum(self, a: Array, axis: int | None = None) -> Array:
        return _settled(np.asarray(a.sum(axis=axis)), np.asarray(abs(a).sum(axis=axis)))

    def add(self, a: Array, b: Array) -> Array:
        return _settled(a + b, abs(a) + abs(b))

    def exp(self, a: Array) -> Array:
        powers = np.exp(a)
        if any(not power and x.is_finite() for power, x in zip(powers.flat, a.flat, strict=True)):
            raise Underflow
        return powers

    def log(self, a: Array) -> Array:
        return np.array([x.ln() for x in a.flat], object).reshape(a.shape)

    def waves(self, a: Array) -> tuple[Array, Array]:
        # Decimals have no sine: that of the nearest float is right to more digits than are printed.
        angles = a.astype(np.float64)
        return _shortest(np.sin(angles)), _shortest(np.cos(angles))

    def powers(self, base: Decimal, over: list[int], under: int) -> Array:
        return np.array([base ** (Decimal(n) / under) for n in over], object)

    def gated(self, a: Array, by: Array, part: Part) -> Array:
        return np.asarray(a / (1 + part(np.exp(-by))))

    def gate_slope(self, a: Array, by: Array, part: Part) -> Array:
        power = part(np.exp(-by))
        under = 1 + power
        return np.asarray(part(1 / under) + part(a * power / (under * under)))

    def density(self, a: Array) -> Array:
        return np.asarray(np.exp(-a * a / 2) / (2 * PI).sqrt())

    def normal(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(normal, 1, 1)(a), object)

    def has_powers_of(self, a: Array) -> bool:
        finite = [abs(x) for x in a.flat if x.is_finite()]
        return max(finite, default=Decimal(0)) < LARGEST_EXPONENT


def _decimal(number: float | Decimal) -> Decimal:
    """A float as the shortest decimal that it stands for."""
    return number if isinstance(number, Decimal) else Decimal(repr(number))


def _shortest(floats: Array) -> Array:
    return np.array([Decimal(repr(x)) for x in floats.ravel().tolist()], object).reshape(
        floats.shape
    )


def _settled(total: Array, size: Array) -> Array:
    """Sums, 0 where what is left is only the error in the last digits of terms of this size."""
    noise = abs(total) < size * NOISE
    return np.where(noise, np.array(Decimal(0), object), total) if np.any(noise) else total


class Floats(Arithmetic):
    """As a checkpoint's code computes: float64, at NumPy's speed."""

    def array(self, numbers: object) -> Array:
        if isinstance(numbers, (int, Decimal)):
            return np.float64(numbers)  # type: ignore[return-value]  # as good as an array of one
        return np.asarray(numbers, np.float64)

    def context(self) -> AbstractContextManager[Any]:
        return np.errstate(divide="raise", over="raise", invalid="raise", under="ignore")

    def matmul(self, x: Array, w: Array, bias: list[Array], part: Part) -> Array:
        total = x @ w
        if bias:
            total += bias[0]
        return total

    def sum(self, a: Array, axis: int | None = None) -> Array:
        return np.asarray(a.sum(axis=axis))

    def add(self, a: Array, b: Array) -> Array:
        total = np.asarray(a + b)
        # What is 0 already need not be looked at: so is each row's largest score without itself.
        small = np.count_nonzero(abs(total) < NEARLY_NOTHING)
        if not small or small == total.size - np.count_nonzero(total):
            return total
        return np.where(abs(total) < abs(a) * FLOAT_NOISE, 0.0, total)

    def exp(self, a: Array) -> Array:
        try:
            powers = np.exp(a)
        except FloatingPointError:
            raise Overflow from None
        # Only e^-∞ is 0: as many zeros as there are infinities.
        numbers = np.count_nonzero(powers)
        if numbers < powers.size and numbers < np.count_nonzero(np.isfinite(a)):
            raise Underflow
        return powers

    def log(self, a: Array) -> Array:
        return np.asarray(np.log(a))

    def waves(self, a: Array) -> tuple[Array, Array]:
        return np.sin(a), np.cos(a)

    def powers(self, base: Decimal, over: list[int], under: int) -> Array:
        return np.asarray(float(base) ** (np.array(over) / under))

    def gated(self, a: Array, by: Array, part: Part) -> Array:
        return np.asarray(a * np.exp(-np.logaddexp(0, -by)))

    def gate_slope(self, a: Array, by: Array, part: Part) -> Array:
        share = np.exp(-np.logaddexp(0, -by))
        return np.asarray(share + a * share * np.exp(-np.logaddexp(0, by)))

    def density(self, a: Array) -> Array:
        return np.asarray(np.exp(-a * a / 2) / sqrt(2 * pi))

    def normal(self, a: Array) -> Array:
        return np.array([erfc(-x / sqrt(2)) / 2 for x in a.ravel().tolist()]).reshape(a.shape)

    def has_powers_of(self, a: Array) -> bool:
        largest = np.max(np.abs(a), where=np.isfinite(a), initial=0)
        return bool(largest < LARGEST_FLOAT_EXPONENT)


class FloatsOnDemand(Floats):
    """The same for a model that is too large to be read as a whole."""

    on_demand = True


class Shapes(Floats):
    """Nothing is computed: zeros of the right shape, to see whether all fits together."""

    def array(self, numbers: Any) -> Array:
        # What the scores are divided by stands in the picture of a model.
        is_one = isinstance(numbers, Decimal)
        return np.broadcast_to(np.float64(numbers if is_one else 0), np.shape(numbers))

    def has_powers_of(self, a: Array) -> bool:
        return True

    def result(self, operation: Recorded, inputs: list[Array], axes: Axes, part: Part) -> Array:
        return np.broadcast_to(np.float64(0), tuple(len(axis.labels) for axis in axes))


DECIMALS: Final = Decimals()
FLOATS: Final = Floats()
ON_DEMAND: Final = FloatsOnDemand()
SHAPES: Final = Shapes()
