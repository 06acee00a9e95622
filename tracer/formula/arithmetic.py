"""Kinds of numbers: how arrays store them, and how functions compute them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import (
    ROUND_05UP,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    Overflow,
    localcontext,
)
from math import erfc, inf, nextafter, sqrt
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.formula.normal import normal
from tracer.formula.numbers import SUMS
from tracer.formula.steps import OF_DECIMALS, OF_FLOATS, SETTLED
from tracer.formula.tanh import tanh
from tracer.formula.waves import cosine, sine

Array: TypeAlias = NDArray[Any]
RoundPart: TypeAlias = Callable[[Array], Array]
"""Rounds the intermediate numbers that a worked line shows."""

PRECISION, GUARD = 50, 10
"""Significant digits of a stored Decimal, more than any line prints; more inside operations."""

LONGEST_TIE, LONGEST_FLOAT_TIE = Context(prec=40, traps=[]), Context(prec=14, traps=[])
"""A number with more digits cannot be a tie when it is printed with fewer digits."""

FEWER_DECIMALS = 9
"""Of a quotient of floats: 0.25 / 0.09999999999999999 is 2.5, which is a tie."""

NOISE, ROUNDED_NOISE, FLOAT_NOISE = Decimal("1e-40"), Decimal("1e-14"), 1e-13
"""A sum smaller than its terms times this factor has no reliable digit, and becomes 0."""

FEW_TERMS = 0.01
"""A sum of two floats has no more than the rounding error of one addition."""

FEW_PRODUCTS = 32
"""Sums of more products are not checked for rounding error: they hardly ever cancel."""

NEARLY_NOTHING = 1e-12
"""Float sums above this are not checked for rounding error, which saves time."""

LARGEST_EXPONENT, LARGEST_FLOAT_EXPONENT = Decimal(2_000_000), 700
"""The largest exponents of e for Decimals and for floats."""


def no_rounding(numbers: Array) -> Array:
    """Return the numbers as they are."""
    return numbers


class Arithmetic:
    """Arrays of float64, as a checkpoint's framework computes; other kinds override methods."""

    largest_exponent: float | Decimal = LARGEST_FLOAT_EXPONENT
    """The largest exponent of e."""
    multiplies_first: bool = False
    """Whether a · c / b may take the place of (a / b) · c."""

    def array(self, numbers: object) -> Array:
        """Return a scenario's numbers as an array."""
        if isinstance(numbers, (int, Decimal)):
            return np.float64(numbers)  # type: ignore[return-value]  # as good as an array of one
        return np.asarray(numbers, np.float64)

    def scalar(self, number: Decimal) -> Array:
        """Return a constant of a formula."""
        return float(number)  # type: ignore[return-value]  # as good as an array of one

    def context(self) -> AbstractContextManager[Any]:
        """Enter the context of operations, which raise ArithmeticError without a result."""
        return np.errstate(divide="raise", over="raise", invalid="raise", under="ignore")

    def stored(self, result: Array) -> Array:
        """Return an operation's result with the digits that are kept."""
        return result

    def matmul(self, x: Array, w: Array, bias: list[Array], part: RoundPart) -> Array:
        """x W + b."""
        total = x @ w
        if bias:
            total += bias[0]
        if len(w) > FEW_PRODUCTS:
            return total
        return _without_noise(total, lambda: abs(x) @ abs(np.asarray(w)))

    def sum(self, a: Array, axis: int | None = None) -> Array:
        """The sum along an axis, or of all entries."""
        return np.asarray(a.sum(axis=axis))

    def mean(self, a: Array, over: int, axis: int = 1) -> Array:
        """The sum along an axis, divided by a number; terms may cancel."""
        return _without_noise(a.sum(axis=axis), lambda: abs(a).sum(axis=axis)) / over

    def add(self, a: Array, b: Array) -> Array:
        """a + b."""
        return _without_noise(np.asarray(a + b), lambda: abs(a) * FEW_TERMS)

    def exp(self, a: Array) -> Array:
        """e^a; Overflow if it is too large."""
        try:
            return np.asarray(np.exp(a))
        except FloatingPointError:
            raise Overflow from None

    def unbounded_exp(self, a: Array) -> Array:
        """e^a inside a denominator, where ∞ is allowed."""
        return np.asarray(np.exp(a))

    def saturating(self) -> AbstractContextManager[Any]:
        """Enter a context in which overflow gives ∞."""
        return np.errstate(over="ignore", invalid="ignore")

    def log(self, a: Array) -> Array:
        """The natural logarithm."""
        return np.asarray(np.log(a))

    def sin(self, a: Array) -> Array:
        """The sine of an angle in radians."""
        return np.sin(a)

    def cos(self, a: Array) -> Array:
        """The cosine of an angle in radians."""
        return np.cos(a)

    def tanh(self, a: Array) -> Array:
        """The hyperbolic tangent."""
        return np.tanh(a)

    def powers(self, base: Any, over: list[int], under: int) -> Array:
        """base^(n / under) for each n."""
        return np.asarray(float(base) ** (np.array(over) / under))

    def power_of(self, base: Decimal, exponents: Array) -> Array:
        """base^a for each whole number a."""
        return np.asarray(float(base) ** exponents)

    def step(self, name: str, a: Array) -> Array:
        """A function of `tracer.formula.steps`, of each number."""
        return OF_FLOATS[name](a)

    def settled(self, a: Array) -> Array:
        """The numbers without rounding errors that could move them across a tie."""
        return np.round(a, FEWER_DECIMALS)

    def normal(self, a: Array) -> Array:
        """Φ(a), the standard normal distribution's share below a."""
        return np.array([erfc(-x / sqrt(2)) / 2 for x in a.ravel().tolist()]).reshape(a.shape)

    def has_powers_of(self, a: Array) -> bool:
        """Whether e^a is neither too large nor too small to compute with."""
        too_large = np.count_nonzero(abs(a) >= LARGEST_FLOAT_EXPONENT)
        return not too_large or too_large == np.count_nonzero(np.isinf(a))


def _without_noise(total: Array, size: Callable[[], Array]) -> Array:
    """Return float sums, with 0 for those that are only the rounding error of terms of a size."""
    sizes = abs(total)
    if sizes.size and sizes.min() >= NEARLY_NOTHING:
        return total
    # What is 0 already need not be checked: each row's largest score minus itself.
    if np.count_nonzero(sizes < NEARLY_NOTHING) == total.size - np.count_nonzero(total):
        return total
    return np.where(sizes < size() * FLOAT_NOISE, 0.0, total)


class Decimals(Arithmetic):
    """Pencil arithmetic: 0.1 + 0.2 is 0.3, a tie is a tie, products are rounded one by one."""

    noise = NOISE
    largest_exponent = LARGEST_EXPONENT
    multiplies_first = True

    def array(self, numbers: object) -> Array:
        found = np.array(numbers, dtype=object)
        typed = found.size == 0 or isinstance(found.flat[0], Decimal | tuple | str)
        return found if typed else np.asarray(np.frompyfunc(_decimal, 1, 1)(found), object)

    def scalar(self, number: Decimal) -> Array:
        return number  # type: ignore[return-value]

    def context(self) -> AbstractContextManager[Any]:
        # A digit that is cut off stays visible in the last one: 0.5 - 10⁻³⁰⁰ is below 0.5.
        return localcontext(prec=PRECISION + GUARD, rounding=ROUND_05UP)

    def saturating(self) -> AbstractContextManager[Any]:
        return localcontext(Context(PRECISION + GUARD, ROUND_05UP, traps=[DivisionByZero]))

    def stored(self, result: Array) -> Array:
        return np.asarray(_nearest_decimals(result), object)

    def matmul(self, x: Array, w: Array, bias: list[Array], part: RoundPart) -> Array:
        if not x.size:  # no tokens: the gradient of weights that nothing was multiplied with is 0
            return np.full((len(x), w.shape[1]), Decimal(0), object)
        columns = w.T
        products = part(x[:, np.newaxis, :] * columns[np.newaxis, :, :])
        with localcontext(SUMS):
            total = sum(bias, products.sum(axis=2))
            # No product is larger than twice the largest numbers multiplied, even if it is rounded.
            largest = 2 * len(w) * abs(x).max() * abs(w).max() + sum(abs(b).max() for b in bias)
            if abs(total).min() >= largest * self.noise:
                return total
            return self._settled(total, sum(map(abs, bias), abs(products).sum(axis=2)))

    def sum(self, a: Array, axis: int | None = None) -> Array:
        if not a.size:
            return np.asarray(a.sum(axis=axis) + Decimal(0), object)
        with localcontext(SUMS):
            return self._settled(np.asarray(a.sum(axis=axis)), np.asarray(abs(a).sum(axis=axis)))

    def mean(self, a: Array, over: int, axis: int = 1) -> Array:
        return self.sum(a, axis=axis) / self.array(over)

    def add(self, a: Array, b: Array) -> Array:
        with localcontext(SUMS):
            return self._settled(a + b, abs(a) + abs(b))

    def _settled(self, total: Array, size: Array) -> Array:
        """Return sums, with 0 for those that are only the rounding error of terms of this size."""
        noise = abs(total) < size * self.noise
        return np.where(noise, np.array(Decimal(0), object), total) if np.any(noise) else total

    def log(self, a: Array) -> Array:
        return np.array([x.ln() for x in a.flat], object).reshape(a.shape)

    def sin(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(sine, 1, 1)(a), object)

    def cos(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(cosine, 1, 1)(a), object)

    def tanh(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(tanh, 1, 1)(a), object)

    def powers(self, base: Any, over: list[int], under: int) -> Array:
        return np.array([base ** (Decimal(n) / under) for n in over], object)

    def power_of(self, base: Decimal, exponents: Array) -> Array:
        return np.asarray(np.frompyfunc(lambda n: base**n, 1, 1)(exponents), object)

    def step(self, name: str, a: Array) -> Array:
        return np.asarray(np.frompyfunc(OF_DECIMALS[name], 1, 1)(a), object)

    def settled(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(SETTLED.plus, 1, 1)(a), object)

    def normal(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(normal, 1, 1)(a), object)

    def has_powers_of(self, a: Array) -> bool:
        finite = [abs(x) for x in a.flat if x.is_finite()]
        return max(finite, default=Decimal(0)) < self.largest_exponent


class RoundedDecimals(Decimals):
    """float64 for typed numbers: each operation is exact, its result rounded to a float once.

    So lines can explain the numbers: sums of NumPy have rounding errors of their own.
    """

    noise = ROUNDED_NOISE
    largest_exponent = Decimal(LARGEST_FLOAT_EXPONENT)

    def array(self, numbers: object) -> Array:
        return np.asarray(_nearest_floats(super().array(numbers)), object)

    def stored(self, result: Array) -> Array:
        return np.asarray(_nearest_floats(result), object)

    def settled(self, a: Array) -> Array:
        return np.asarray(np.frompyfunc(LONGEST_FLOAT_TIE.plus, 1, 1)(a), object)


class Shapes(Arithmetic):
    """No numbers: zeros of the right shape, to check whether shapes fit."""

    def array(self, numbers: Any) -> Array:
        # The picture of a model shows what the scores are divided by.
        is_one = isinstance(numbers, Decimal)
        return np.broadcast_to(np.float64(numbers if is_one else 0), np.shape(numbers))


DECIMALS: Final = Decimals()
FLOAT64: Final = RoundedDecimals()
FLOATS: Final = Arithmetic()
ON_DEMAND: Final = Arithmetic()
"""Floats, computed when first used, for a model too large to be read as a whole."""
SHAPES: Final = Shapes()


def _decimal(number: float | Decimal) -> Decimal:
    return number if isinstance(number, Decimal) else Decimal(repr(number))


# A result is rounded to the nearest number that can be stored, but never onto a tie: printed with
# fewer digits, 0.5 and 0.5 - 10⁻³⁰⁰ are rounded to different numbers.

_TO_NEAREST = Context(prec=PRECISION, rounding=ROUND_HALF_EVEN, traps=[])
_TOWARDS = Context(prec=PRECISION, rounding=ROUND_05UP, traps=[])


def _to_nearest_decimal(number: Any) -> Any:
    if not isinstance(number, Decimal):
        return number
    nearest = _TO_NEAREST.plus(number)
    if nearest == number:
        return number
    return _TOWARDS.plus(number) if _may_be_a_tie(nearest, LONGEST_TIE) else nearest


def _to_nearest_float(number: Any) -> Any:
    if not isinstance(number, Decimal) or not number.is_finite():
        return number
    nearest = float(number)
    if abs(nearest) == inf:
        raise Overflow
    shortest = Decimal(repr(nearest))
    if shortest == number:
        return number
    if _may_be_a_tie(shortest, LONGEST_FLOAT_TIE):
        shortest = Decimal(repr(nextafter(nearest, inf if number > shortest else -inf)))
    return shortest


def _may_be_a_tie(number: Decimal, longest: Context) -> bool:
    if longest.plus(number) != number:  # most results have all the digits that are stored
        return False
    digits = "".join(map(str, number.as_tuple().digits))
    return digits.rstrip("0").endswith("5")


_nearest_decimals = np.frompyfunc(_to_nearest_decimal, 1, 1)
_nearest_floats = np.frompyfunc(_to_nearest_float, 1, 1)
