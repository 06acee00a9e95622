"""The result of each operation. `part` rounds the intermediate numbers of its worked line."""

from __future__ import annotations

from decimal import Decimal, Underflow
from typing import assert_never, get_args

import numpy as np

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.axes import Axes
from tracer.decoder.contract import Contract
from tracer.decoder.gather import Gather
from tracer.formula.arithmetic import FLOATS, SHAPES, Arithmetic, Array, RoundPart
from tracer.formula.numbers import SUMS

TOO_UNLIKELY = "the target's probability"
"""What is too small, where a loss would be infinite."""

SMALLEST_EXPONENT = -127
"""That of the smallest scale of MXFP4, which a group of zeros has (E8M0, OCP MX v1.0)."""

_SMALLEST_SCALE = SUMS.power(Decimal(2), SMALLEST_EXPONENT)
DIVIDING_SCALE = SUMS.multiply(Decimal("1.5"), _SMALLEST_SCALE)
"""Between the smallest scale and the next one, also where an author rounds them to one digit."""

LEAST_SCALED = SUMS.power(Decimal(2), SMALLEST_EXPONENT + 2)
"""A group of smaller numbers has the smallest scale."""

NOT_COMPUTED = get_args(op.Moved | op.Chosen)
"""Operations whose results are moved numbers, or words."""


def result(
    arithmetic: Arithmetic, operation: op.Recorded, x: list[Array], axes: Axes, part: RoundPart
) -> Array:
    """Return an operation's result for its operands x; `axes` are those of the result."""
    if arithmetic is SHAPES:
        return np.broadcast_to(np.float64(0), tuple(len(axis.labels) for axis in axes))
    found = _result(arithmetic, operation, x, axes, part)
    if arithmetic is FLOATS or isinstance(operation, NOT_COMPUTED):
        return found
    return arithmetic.stored(found)


def _result(
    arithmetic: Arithmetic, operation: op.Recorded, x: list[Array], axes: Axes, part: RoundPart
) -> Array:
    match operation:  # the most frequent first
        case Contract():
            return operation.result(arithmetic, x, part)
        case el.Exp():
            hidden = arithmetic.array(Decimal("-Infinity"))
            far = (x[0] < -arithmetic.largest_exponent) & (x[0] != -np.inf)
            if not far.any():
                return arithmetic.exp(x[0])
            powers = arithmetic.exp(np.where(far, hidden, x[0]))
            vanishes = far.any(axis=-1) & ~powers.astype(bool).any(axis=-1)
            if vanishes.any() and not isinstance(operation, el.VanishingExp):
                raise Underflow
            return powers
        case el.Mask():
            return np.asarray(x[0] + x[1])
        case el.Elementwise():
            return _entries(arithmetic, operation, x, part)
        case op.Largest():
            largest = x[0].max(axis=1)
            masked = largest == -np.inf
            return np.where(masked, arithmetic.array(0), largest) if masked.any() else largest
        case op.LargestSoFar():
            columns = [x[0], *(before[:, np.newaxis] for before in x[1:])]
            return np.asarray(np.concatenate(columns, axis=1).max(axis=1))
        case op.Rotate():
            return _rotated(arithmetic, operation, x[0], x[1], x[2], part)
        case op.DivTerm(width, base, factors):
            of = x[0].item() if base is None else base
            powers = arithmetic.powers(of, [-2 * k for k in range((width + 1) // 2)], width)
            return powers / arithmetic.array(factors) if factors else powers
        case op.PowerOfTwo(over, under):
            return np.asarray(arithmetic.powers(Decimal(2), [over], under)[0])
        case op.Cumulate():
            return np.asarray(np.cumsum(x[0], axis=1))
        case Gather():
            return operation.result(arithmetic, x, axes)
        case op.GroupExtreme():
            return _extremes(arithmetic, operation, x[0])
        case op.MixExperts(tokens):
            return _mixed(arithmetic, tokens, x[0], x[1:], part)
        case op.ArgMax(words):
            both = zip(x[0], x[1], strict=True)
            return np.array([words[_largest(p, z)] for p, z in both], object)
        case op.Pick(words):
            above = [w for w, top in zip(words, x[0][-1], strict=True) if x[1] < top]
            return np.array([above[0] if above else words[-1]], object)
        case op.AccumulateGradients():
            return arithmetic.sum(np.stack([np.asarray(summand) for summand in x]), axis=0)
        case op.RotateBack(layout):
            return _rotated(arithmetic, op.Rotate(layout), x[0], x[1], -x[2], part)
        case op.ByWord(words, table):
            return _by_word(arithmetic, x[0], words, table)
        case op.ByEntry(rows, column, table, columns):
            sums = _by_word(arithmetic, x[0].reshape(-1, 1), rows, table)
            found = _zeros((table, columns), arithmetic, x[0])
            found[:, [column]] = sums
            return found
        case op.ExpertDots(tokens):
            found = _zeros((len(x[0]), len(tokens)), arithmetic, x[0])
            for expert, (own, y) in enumerate(zip(tokens, x[1:], strict=True)):
                found[list(own), expert] = arithmetic.sum(part(x[0][list(own)] * y), axis=1)
            return found
        case op.SumOfSquares():
            return arithmetic.sum(part(x[0] * x[0]))
        case _:
            assert_never(operation)


def _entries(
    arithmetic: Arithmetic, operation: el.Elementwise, x: list[Array], part: RoundPart
) -> Array:
    compute = operation.formula.compute
    match operation:
        case el.DivideByRowSum():
            return compute([x[0], _divisors(x[0], x[1])], arithmetic, part)
        case el.BelowMaximum() | el.MaximumChange():
            masked = x[1] == -np.inf
            finite = np.where(masked, arithmetic.array(0), x[1])
            return np.asarray(compute([x[0], finite], arithmetic, part))
        case el.DivideByScale() if not x[1].all():
            scales = np.where(x[1].astype(bool), x[1], arithmetic.array(1))
            return np.asarray(compute([x[0], scales, *x[2:]], arithmetic, part))
        case el.SharedExponent():
            least = arithmetic.array(LEAST_SCALED)
            return np.asarray(compute([np.maximum(x[0], least)], arithmetic, part))
        case el.NegativeLog() if not x[0].all():
            raise Underflow(TOO_UNLIKELY)
        case el.NegativeLogLikelihood(columns):
            rows, correct = _with_target(columns)
            right = x[0][rows, correct]
            if not all(right):
                raise Underflow(TOO_UNLIKELY)
            losses = _zeros((len(columns),), arithmetic, x[0])
            losses[rows] = compute([right], arithmetic, part)
            return losses
        case el.SoftmaxCrossEntropyGrad(columns):
            rows, correct = _with_target(columns)
            found, targets = (_zeros(x[0].shape, arithmetic, x[0]) for _ in range(2))
            targets[rows, correct] += 1
            found[rows] = compute([x[0][rows], targets[rows]], arithmetic, part)
            return found
        case el.TimesExpertWeight(rows, expert):
            weights = x[1][list(rows), expert][:, np.newaxis]
            return compute([x[0][list(rows)], weights], arithmetic, part)
        case el.BroadcastDivide(_, columns_of_result):
            return np.repeat(compute(x, arithmetic, part), columns_of_result, axis=1)
        case _:
            return np.asarray(compute(x, arithmetic, part))


def _extremes(arithmetic: Arithmetic, operation: op.GroupExtreme, x: Array) -> Array:
    """The largest |w| of each group; the largest number and 0, or the smallest number and 0."""
    (m, n), (height, width) = x.shape, (operation.height, operation.width)
    groups = x.reshape(m // height, height, n // width, width)
    zero = arithmetic.array(0)
    match operation.of:
        case "magnitude":
            return np.asarray(abs(groups).max(axis=(1, 3)))
        case "largest":
            return np.asarray(np.maximum(zero, groups.max(axis=(1, 3))))
        case "smallest":
            return np.asarray(np.minimum(zero, groups.min(axis=(1, 3))))


def _mixed(
    arithmetic: Arithmetic,
    rows: tuple[tuple[int, ...], ...],
    weights: Array,
    outputs: list[Array],
    part: RoundPart,
) -> Array:
    """The experts' outputs, each row times its token's weight, added up for each token."""
    terms = _zeros((len(rows), len(weights), outputs[0].shape[1]), arithmetic, weights)
    for expert, (own, y) in enumerate(zip(rows, outputs, strict=True)):
        terms[expert, list(own)] = part(weights[list(own), expert][:, np.newaxis] * y)
    return arithmetic.sum(terms, axis=0)


def _zeros(shape: tuple[int, ...], arithmetic: Arithmetic, like: Array) -> Array:
    return np.asarray(np.zeros(shape, like.dtype) + arithmetic.array(0))


def _with_target(columns: tuple[int | None, ...]) -> tuple[list[int], list[int]]:
    """The rows that have a target, and the column of each target."""
    rows = [row for row, column in enumerate(columns) if column is not None]
    return rows, [column for column in columns if column is not None]


def _divisors(a: Array, total: Array) -> Array:
    """The row sums, with 1 for a row of zeros, which is fully masked."""
    if np.count_nonzero(total) == len(total):
        return total
    return np.where(np.logical_or(total, a.any(axis=1)), total, total + 1)


def _rotated(
    arithmetic: Arithmetic, turn: op.Rotate, a: Array, cos: Array, sin: Array, part: RoundPart
) -> Array:
    """(a cos - b sin, a sin + b cos) for each pair (a, b) of columns; the others unchanged."""
    firsts, seconds = turn.columns(2 * cos.shape[1])
    first, second = a[:, firsts], a[:, seconds]
    of_first, of_second = np.array(a), np.zeros_like(a)
    of_first[:, firsts], of_second[:, firsts] = part(first * cos), -part(second * sin)
    of_first[:, seconds], of_second[:, seconds] = part(first * sin), part(second * cos)
    return arithmetic.add(of_first, of_second)


def _by_word(arithmetic: Arithmetic, rows: Array, words: tuple[int, ...], table: int) -> Array:
    found = _zeros((table, rows.shape[1]), arithmetic, rows)
    for word in set(words):
        same = [i for i, other in enumerate(words) if other == word]
        found[word] = arithmetic.sum(rows[same], axis=0)
    return found


def _largest(p: Array, z: Array) -> int:
    """The index of the largest probability; among equal ones, that of the largest logit."""
    first = int(p.argmax())
    equal = p == p[first]
    if np.count_nonzero(equal) == 1:
        return first
    return int(np.flatnonzero(equal)[np.argmax(z[equal])])
