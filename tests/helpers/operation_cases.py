"""For each operation that computes numbers: random operands, and what the formula gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.operation_formulas import computed
from tracer.decoder import elementwise as el, operations as op
from tracer.formula.activations import ACTIVATIONS

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """An operation with operands of two decimals, none of which is 0."""

    operation: Any
    x: list[Numbers]

    def result(self, *x: Numbers) -> Numbers:
        """What the formula gives for other operands."""
        with np.errstate(all="ignore"):
            found = computed(self.operation.name, vars(self.operation), [*(x or self.x)])
            return np.asarray(found, float)


def cases(seed: int, n: int, m: int, k: int) -> dict[type, list[Case]]:
    """The cases of each operation."""
    found: dict[type, list[Case]] = {}
    for operation, x in _cases(np.random.default_rng(seed), n, m, k):
        found.setdefault(type(operation), []).append(Case(operation, x))
    return found


def _cases(rng: Any, n: int, m: int, k: int) -> Iterator[tuple[Any, list[Numbers]]]:
    def positive(*shape: int) -> Any:
        return np.asarray(rng.integers(1, 900, shape) / 100)

    def some(*shape: int) -> Any:
        return np.asarray(positive(*shape) * rng.choice([1, -1], shape))

    def number() -> Decimal:
        # Equal operations share a formula: here no other test has a number of a formula.
        return Decimal(int(rng.integers(1, 900)) * 10 + 1).scaleb(-3)

    rows = tuple(int(i) for i in rng.permutation(n)[: rng.integers(1, n + 1)])
    targets = tuple(None if i and not j % 3 else int(j) % m for i, j in enumerate(some(n) * 100))
    words = tuple(int(i) for i in rng.integers(0, k, n))
    routed = rng.choice([True, False], (n, k)) | (np.arange(k) == np.arange(n)[:, None] % k)
    experts = tuple(tuple(map(int, np.flatnonzero(routed[:, e]))) for e in range(k))
    outputs = [some(len(own), m) for own in experts]
    a, b, c, d = (number() for _ in range(4))
    wide, wider, by_row = some(n, m), some(n, m), some(n)
    share = positive(n, m) / 10 + 0.05

    # --- sums of products
    yield op.MatMul(), [wide, some(m, k)]
    yield op.MatMul(), [wide, some(m, k), some(k)]
    yield op.Dot(), [wide, some(k, m)]
    yield op.TransposedMatMul(), [wide, some(n, k)]
    yield op.Total(), [wide]
    yield op.NegativeTotal(), [wide]
    yield op.ColumnTotal(), [wide]
    yield op.LastColumnTotal(), [wide]
    yield op.ColumnDot(), [wide, wider]
    yield op.Convolve(k), [some(n + k - 1, m), some(k, m)]
    yield op.ConvolveBack(n, k), [wide, some(k, m)]
    yield op.RowDot(), [wide, wider]
    yield op.RowDot(negative=True), [wide, wider]
    yield op.Mean(), [wide]
    yield op.Mean(sample=True), [some(n, m + 1)]
    yield op.SumOf(rows), [by_row]
    yield op.SumInOrder(rows), [by_row]
    yield op.MeanOf(rows), [by_row]
    yield op.AccumulateGradients(), [wide, wider, some(n, m)]
    yield op.SumOfSquares(), [wide]
    yield op.Cumulate(), [wide]
    yield op.ByWord(words, k), [wide]
    of_rows = tuple(int(i) for i in rng.integers(0, k, n * m))
    yield op.ByEntry(of_rows, m - 1, k, m), [wide]
    yield op.MixExperts(experts), [some(n, k), *outputs]
    yield op.ExpertDots(experts), [wide, *outputs]

    # --- entry by entry
    yield el.Add(), [wide, wider]
    yield el.Mask(), [wide, wider]
    yield el.Difference(), [wide, wider]
    yield el.QuantizationError(), [wide, wider]
    yield el.MaximumChange(), [by_row, some(n)]
    yield el.Multiply(), [wide, wider]
    yield el.TwiceProduct(), [wide, wider]
    yield el.Outer(), [by_row, some(m)]
    yield el.Square(), [wide]
    yield el.MultipliedSquare(Decimal("0.5")), [wide]
    yield el.Sin(), [wide]
    yield el.Cos(), [wide]
    yield el.Exp(), [wide]
    yield el.VanishingExp(), [wide]
    yield el.Decay(), [wide]
    yield el.Sigmoid(), [wide]
    yield el.Log(), [share]
    yield el.NegativeLog(), [share]
    yield el.BucketOfDistance(2, 6, 20), [positive(n, m)]
    yield el.BucketOfDistance(1, 2, 5), [positive(n, m)]
    yield el.EluPlusOne(), [wide]
    yield el.AboveZero(), [wide]
    yield el.OfTarget(), [wide, wider]
    yield el.OfGivenTarget(), [share, wider]
    yield el.Scale(a), [wide]
    yield el.DivideBy(a), [wide]
    yield el.SoftCap(a), [wide]
    yield el.ScaledSilu(a), [wide]
    yield el.ScaledSilu(Decimal(1)), [wide]
    yield el.AtMost(a), [wide]
    yield el.Clamp(a), [wide]
    yield el.MultiplyShifted(a), [wide, wider]
    yield el.SquareRoot(), [share]
    yield el.SquareRoot(a), [share]
    yield el.SquareRoot(a, outside=True), [share]
    yield el.RootSlope(), [wide, share]
    yield el.RootSlope(a), [wide, share + 9]
    yield el.Adapt(a, m), [wide, wider]
    yield el.AdaptGrad(a, m), [wide]
    yield el.SquaredErrorGrad(k), [wide]
    yield el.SquaredErrorGrad(k, Decimal("0.5")), [wide]
    yield el.BinaryCrossEntropyGrad(k), [wide, wider]
    yield el.Combine(a, -b), [wide, wider]
    yield el.Combine(Decimal(1), b), [wide, wider]
    yield el.BiasCorrection(c + 1, k), [wide]
    yield el.Ratio(d), [wide, share]
    for name in ACTIVATIONS:
        yield el.Activate(name), [wide]
        yield el.Slope(name), [wide]

    # --- quantized weights
    yield el.Quantize((-7, 7), has_zero_point=False), [wide, share]
    yield el.Quantize(None, has_zero_point=False), [wide, share]
    yield el.Quantize((0, 15), has_zero_point=True), [wide, share, np.round(share * 10)]
    yield el.QuantizeToE2M1(), [wide, share]
    yield el.ZeroPoint(None), [wide, share]
    yield el.ZeroPoint((0, 15)), [-wide, share]
    yield el.Dequantize(has_zero_point=False), [wide, share]
    yield el.Dequantize(has_zero_point=True), [wide, share, wider]
    yield el.RangeScale(15), [wide, wider]
    yield el.SharedExponent(), [share]
    yield el.TwoToThe(), [np.round(wide)]
    for of in ("magnitude", "largest", "smallest"):
        yield op.GroupExtreme(of, n, m), [wide]

    # --- with a number for each row, for each column, or for all
    yield el.Subtract(), [wide, by_row]
    yield el.BelowMaximum(), [wide, by_row]
    yield el.DivideByRowSum(), [wide, positive(n)]
    yield el.Divide(), [wide, some()]
    yield el.AddNumber(), [wide, some()]
    yield el.Times(), [wide, some()]
    yield el.Penalize(), [wide, some(), wider]
    yield el.Rescale(), [by_row, some(n), some(n)]
    yield el.RescaleRows(), [wide, by_row, wider]
    yield el.BroadcastDivide(k, m), [by_row]
    yield el.ScaleRows(), [wide, by_row]
    yield el.DivideRows(), [wide, by_row]
    yield el.DecayRate(), [wide / 3, some(m) / 9]
    yield el.TimesRow(), [wide, some(m)]
    yield el.TimesRow(unit_offset=True), [wide, positive(m)]
    scaled = [wide, positive(n), positive(m)]
    yield el.Normalize(), scaled[:2]
    yield el.Normalize(gain=True), scaled
    yield el.Normalize(shift=True), scaled
    yield el.Normalize(gain=True, shift=True, unit_offset=True), [*scaled, some(m)]

    # --- with the column or the rows that count
    yield el.NegativeLogLikelihood(targets, tuple(map(str, targets))), [share]
    yield el.SoftmaxCrossEntropyGrad(targets, k), [share]
    yield el.SoftmaxCrossEntropyGrad(targets, k, Decimal("0.1"), m), [share]
    yield el.TimesExpertWeight(rows, k - 1), [wide, some(n, k)]

    # --- others
    yield op.Largest(), [wide]
    yield op.LargestSoFar(), [wide]
    yield op.LargestSoFar(), [wide, by_row]
    yield op.PowerOfTwo(-8, m), []
    yield op.DivTerm(m), []
    yield op.DivTerm(m, a + 1, (b,) * ((m + 1) // 2)), []
    yield op.DivTerm(m, None), [np.array(float(b))]
    yield el.Turns(a), [wide]
    yield el.Ramp(a, a + b), [wide]
    yield el.Ramp(a, a - b), [positive(m)]
    yield el.Ramp(None, None), [wide, np.array(float(a)), np.array(float(a + b))]
    yield el.Ramp(a, None), [wide, np.array(float(a + b))]
    yield el.TurningPair(2 * m, b + 1, c, a), []
    yield el.Interpolate(a), [wide, share]
    yield el.LargerBase(a + 1, b, m + 10, c, 2 * m + 2), []
    yield el.YarnFactor(a + 1), []
    yield el.LongRopeFactor(a + 1, b + 1), []
    waves = [some(n, 2 * k + m), some(n, k), some(n, k)]
    for layout in ("pairs", "halves"):
        yield op.Rotate(layout), waves
        yield op.RotateBack(layout), waves
