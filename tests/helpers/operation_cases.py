"""For each operation that computes numbers: random operands, and the same as a formula of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import elementwise as el, operations as op

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """An operation with operands of two decimals, none of which is 0."""

    operation: Any
    x: list[Numbers]
    formula: Callable[..., Any]

    def result(self, *x: Numbers) -> Numbers:
        """What the formula gives for other operands."""
        with np.errstate(all="ignore"):
            return np.asarray(self.formula(*(x or self.x)), float)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: np.maximum(0, x),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "relu_squared": lambda x: np.maximum(0, x) ** 2,
}


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


def cases(seed: int, n: int, m: int, k: int) -> dict[type, list[Case]]:
    """The cases of each operation."""
    found: dict[type, list[Case]] = {}
    for operation, x, formula in _cases(np.random.default_rng(seed), n, m, k):
        found.setdefault(type(operation), []).append(Case(operation, x, formula))
    return found


def _cases(rng: Any, n: int, m: int, k: int) -> Iterator[tuple[Any, list[Numbers], Any]]:
    def positive(*shape: int) -> Any:
        return np.asarray(rng.integers(1, 900, shape) / 100)

    def some(*shape: int) -> Any:
        return np.asarray(positive(*shape) * rng.choice([1, -1], shape))

    def number() -> Decimal:
        # Equal operations share a formula: here no other test has a number of a formula.
        return Decimal(int(rng.integers(1, 900)) * 10 + 1).scaleb(-3)

    rows = [int(i) for i in rng.permutation(n)[: rng.integers(1, n + 1)]]
    targets = tuple(None if i and not j % 3 else int(j) % m for i, j in enumerate(some(n) * 100))
    words = tuple(int(i) for i in rng.integers(0, k, n))
    routed = rng.choice([True, False], (n, k)) | (np.arange(k) == np.arange(n)[:, None] % k)
    experts = tuple(tuple(map(int, np.flatnonzero(routed[:, e]))) for e in range(k))
    a, b, c, d = (number() for _ in range(4))
    f, g = float(a), float(b)
    wide, wider, by_row = some(n, m), some(n, m), some(n)
    share = positive(n, m) / 10 + 0.05

    # --- sums of products
    yield op.MatMul(), [wide, some(m, k)], lambda x, w: np.einsum("nd,dm->nm", x, w)
    yield op.MatMul(), [wide, some(m, k), some(k)], lambda x, w, bias: x @ w + bias
    yield op.Dot(), [wide, some(k, m)], lambda q, keys: np.einsum("nd,md->nm", q, keys)
    yield op.TransposedMatMul(), [wide, some(n, k)], lambda x, g: np.einsum("nd,nm->dm", x, g)
    yield op.Total(), [wide], lambda x: x.sum(axis=1)
    yield op.NegativeTotal(), [wide], lambda x: -x.sum(axis=1)
    yield op.ColumnTotal(), [wide], lambda x: x.sum(axis=0)
    yield op.LastColumnTotal(), [wide], lambda x: x[:, -1:].sum(axis=0)
    yield op.ColumnDot(), [wide, wider], lambda x, y: (x * y).sum(axis=0)
    yield op.RowDot(), [wide, wider], lambda x, y: (x * y).sum(axis=1)
    yield op.RowDot(negative=True), [wide, wider], lambda x, y: -(x * y).sum(axis=1)
    yield op.Mean(), [wide], lambda x: x.sum(axis=1) / m
    yield op.Mean(sample=True), [some(n, m + 1)], lambda x: x.sum(axis=1) / m
    yield op.SumOf(tuple(rows)), [by_row], lambda x: x[rows].sum()
    yield op.SumInOrder(tuple(rows)), [by_row], lambda x: x[rows].sum()
    yield op.MeanOf(tuple(rows)), [by_row], lambda x: x[rows].mean()
    yield op.AccumulateGradients(), [wide, wider, some(n, m)], lambda *x: sum(x)
    yield op.SumOfSquares(), [wide], lambda x: (x * x).sum()
    yield op.Cumulate(), [wide], lambda x: x.cumsum(axis=1)
    yield (
        op.ByWord(words, k),
        [wide],
        lambda x: [x[[word == i for word in words]].sum(axis=0) for i in range(k)],
    )
    outputs = [some(len(own), m) for own in experts]

    def at(expert: int, row: int) -> int:
        return experts[expert].index(row)

    yield (
        op.MixExperts(experts),
        [some(n, k), *outputs],
        lambda w, *y: [
            sum((w[i, e] * y[e][at(e, i)] for e in range(k) if i in experts[e]), np.zeros(m))
            for i in range(n)
        ],
    )
    yield (
        op.ExpertDots(experts),
        [wide, *outputs],
        lambda g, *y: [
            [g[i] @ y[e][at(e, i)] if i in experts[e] else 0 for e in range(k)] for i in range(n)
        ],
    )

    # --- entry by entry
    yield el.Add(), [wide, wider], lambda x, y: x + y
    yield el.Mask(), [wide, wider], lambda x, y: x + y
    yield el.Difference(), [wide, wider], lambda x, y: x - y
    yield el.MaximumChange(), [by_row, some(n)], lambda x, y: x - y
    yield el.Multiply(), [wide, wider], lambda x, y: x * y
    yield el.TwiceProduct(), [wide, wider], lambda x, y: 2 * x * y
    yield el.Outer(), [by_row, some(m)], np.outer
    yield el.Square(), [wide], lambda x: x * x
    yield el.MultipliedSquare(Decimal("0.5")), [wide], lambda x: x * x / 2
    yield el.Sin(), [wide], np.sin
    yield el.Cos(), [wide], np.cos
    yield el.Exp(), [wide], np.exp
    yield el.VanishingExp(), [wide], np.exp
    yield el.Sigmoid(), [wide], sigmoid
    yield el.NegativeLog(), [share], lambda p: -np.log(p)
    yield el.OfTarget(), [share, wider], lambda p, t: t * p + (1 - t) * (1 - p)
    yield el.Scale(a), [wide], lambda x: f * x
    yield el.DivideBy(a), [wide], lambda x: x / f
    yield el.SoftCap(a), [wide], lambda x: f * np.tanh(x / f)
    yield el.SquareRoot(), [share], np.sqrt
    yield el.SquareRoot(a), [share], lambda x: np.sqrt(x + f)
    yield el.SquareRoot(a, outside=True), [share], lambda x: np.sqrt(x) + f
    yield el.RootSlope(), [wide, share], lambda g, root: g / (2 * root)
    yield el.RootSlope(a), [wide, share + 9], lambda g, root: g / (2 * (root - f))
    yield el.Adapt(a, m), [wide, wider], lambda x, y: x + f * y / m
    yield el.AdaptGrad(a, m), [wide], lambda x: f * x / m
    yield el.SquaredErrorGrad(k), [wide], lambda x: 2 * x / k
    yield el.SquaredErrorGrad(k, Decimal("0.5")), [wide], lambda x: x / k
    yield el.BinaryCrossEntropyGrad(k), [wide, wider], lambda p, t: (p - t) / k
    yield el.Combine(a, -b), [wide, wider], lambda x, y: f * x - g * y
    yield el.Combine(Decimal(1), b), [wide, wider], lambda x, y: x + g * y
    yield el.BiasCorrection(c + 1, k), [wide], lambda x: x / (1 - float(c + 1) ** k)
    yield el.Ratio(d), [wide, share], lambda x, v: x / (np.sqrt(v) + float(d))
    for name, function in ACTIVATIONS.items():
        yield el.Activate(name), [wide], function
        yield el.Slope(name), [wide], slope(function)

    # --- with a number for each row, for each column, or for all
    yield el.Subtract(), [wide, by_row], lambda x, y: x - y[:, None]
    yield el.BelowMaximum(), [wide, by_row], lambda x, y: x - y[:, None]
    yield el.DivideByRowSum(), [wide, positive(n)], lambda x, y: x / y[:, None]
    yield el.Divide(), [wide, some()], lambda x, y: x / y
    yield el.Times(), [wide, some()], lambda x, y: x * y
    yield el.Penalize(), [wide, some(), wider], lambda x, y, far: x - y * far
    yield el.Rescale(), [by_row, some(n), some(n)], lambda x, y, z: x * y + z
    yield el.RescaleRows(), [wide, by_row, wider], lambda x, y, z: x * y[:, None] + z
    yield el.BroadcastDivide(k, m), [by_row], lambda g: np.repeat(g[:, None] / k, m, axis=1)
    yield el.TimesRow(), [wide, some(m)], lambda x, y: x * y
    yield el.TimesRow(unit_offset=True), [wide, positive(m)], lambda x, y: x * (1 + y)
    scaled = [wide, positive(n), positive(m)]
    yield el.Normalize(), scaled[:2], lambda x, s: x / s[:, None]
    yield el.Normalize(gain=True), scaled, lambda x, s, gain: x / s[:, None] * gain
    yield el.Normalize(shift=True), scaled, lambda x, s, shift: x / s[:, None] + shift
    yield (
        el.Normalize(gain=True, shift=True, unit_offset=True),
        [*scaled, some(m)],
        lambda x, s, gain, shift: x / s[:, None] * (1 + gain) + shift,
    )

    # --- with the column or the rows that count
    yield (
        el.NegativeLogLikelihood(targets, tuple(map(str, targets))),
        [share],
        lambda p: [0 if j is None else -np.log(p[i, j]) for i, j in enumerate(targets)],
    )
    yield (
        el.SoftmaxCrossEntropyGrad(targets, k, Decimal("0.1"), m),
        [share],
        lambda p: [
            np.zeros(m) if j is None else (p[i] - 0.9 * (np.arange(m) == j) - 0.1 / m) / k
            for i, j in enumerate(targets)
        ],
    )
    yield (
        el.SoftmaxCrossEntropyGrad(targets, k),
        [share],
        lambda p: [
            np.zeros(m) if j is None else (p[i] - (np.arange(m) == j)) / k
            for i, j in enumerate(targets)
        ],
    )
    yield (
        el.TimesExpertWeight(tuple(rows), k - 1),
        [wide, some(n, k)],
        lambda g, w: g[rows] * w[rows, k - 1, None],
    )

    # --- others
    yield op.Largest(), [wide], lambda x: x.max(axis=1)
    yield op.LargestSoFar(), [wide], lambda x: x.max(axis=1)
    yield op.LargestSoFar(), [wide, by_row], lambda x, y: np.maximum(x.max(axis=1), y)
    yield op.PowerOfTwo(-8, m), [], lambda: 2 ** (-8 / m)
    pairs = -2 * np.arange((m + 1) // 2) / m
    yield op.DivTerm(m), [], lambda: 10000**pairs
    yield op.DivTerm(m, a + 1, (b,) * len(pairs)), [], lambda: float(a + 1) ** pairs / g
    waves = [some(n, 2 * k + m), some(n, k), some(n, k)]
    turned = np.arange(2 * k).reshape(-1, 2)
    for layout in ("pairs", "halves"):
        first, second = turned.T if layout == "pairs" else turned.reshape(2, -1)
        yield op.Rotate(layout), waves, _rotation(first, second, 1)
        yield op.RotateBack(layout), waves, _rotation(first, second, -1)


def _rotation(first: Any, second: Any, sign: int) -> Any:
    def rotated(x: Numbers, cos: Numbers, sin: Numbers) -> Numbers:
        found = x.copy()
        found[:, first] = x[:, first] * cos - sign * x[:, second] * sin
        found[:, second] = sign * x[:, first] * sin + x[:, second] * cos
        return found

    return rotated
