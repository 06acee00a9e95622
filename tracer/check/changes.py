"""Ways in which programs compute an operation wrongly: each is one change of the tape.

A change computes an operation's result from the same operands, or from others. Changes that a
scenario can express are in `variants.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import is_
from typing import Any, TypeAlias

import numpy as np

from tracer.check.recomputation import Change, Recomputation, computed, of_records
from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.comparison import Floats
from tracer.decoder.tape import Record
from tracer.decoder.value import Value, has_token_rows
from tracer.names import count

Compute: TypeAlias = Callable[..., Floats | None]
"""Computes a result from operands; None where the change says nothing about them."""


def _of(operation: type[object] | tuple[type[object], ...], compute: Compute) -> Change:
    """Return a change of all operations of some types; `compute` gets the operands."""
    return _with_record(operation, lambda record, *operands: compute(*operands))


def _with_record(operation: type[object] | tuple[type[object], ...], compute: Compute) -> Change:
    """Return a change of all operations of some types; `compute` gets the record and operands."""
    return of_records(
        lambda record: isinstance(record.operation, operation),
        lambda _, record, *operands: compute(record, *operands),
    )


# --- masks and softmax ---------------------------------------------------------------------------


def _masked_by(seen: Callable[[int, int], Floats]) -> Change:
    """Return a change of the mask; `seen` says by the numbers of rows and columns what is shown."""

    def compute(scores: Floats, mask: Floats) -> Floats:
        shown = seen(*scores.shape).astype(bool)
        empty = ~shown.any(axis=1, keepdims=True)  # a program cannot hide all tokens
        return np.where(np.where(empty, np.isfinite(mask), shown), scores, -np.inf)

    return _of(el.Mask, compute)


def _of_softmax(compute: Callable[[Recomputation, Value], Floats | None]) -> Change:
    """Return a change of a softmax; `compute` gets its scores."""

    def change(at: Recomputation, record: Record, *_: Floats) -> Floats | None:
        scores = record.inputs[0]
        while isinstance(at.trace.producers[scores].operation, (el.Exp, el.Subtract)):
            scores = at.trace.producers[scores].inputs[0]
        return compute(at, scores)

    return of_records(lambda record: isinstance(record.operation, el.DivideByRowSum), change)


def _of_shares(compute: Callable[[Floats, Floats], Floats]) -> Change:
    """Return a change of a softmax; `compute` gets its scores, and those without the mask."""

    def change(at: Recomputation, scores: Value) -> Floats:
        masked = at.trace.producers[scores]
        unmasked = masked.inputs[0] if isinstance(masked.operation, el.Mask) else scores
        with np.errstate(all="ignore"):
            return compute(at.number(scores), at.number(unmasked))

    return _of_softmax(change)


def softmax(scores: Floats, axis: int = 1) -> Floats:
    """Return the softmax of each row, or of each column."""
    largest = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def _hidden_after(scores: Floats, unmasked: Floats) -> Floats:
    return np.where(np.isneginf(scores), 0, softmax(unmasked))


def _causal(scores: Floats, _: Floats) -> Floats:
    return softmax(np.where(np.tri(*scores.shape), scores, -np.inf))


def _of_choice(compute: Callable[[Floats, Floats], Floats]) -> Change:
    """Return a change of the weights of chosen networks; `compute` gets logits and choice."""

    def change(at: Recomputation, scores: Value) -> Floats | None:
        kept = at.trace.producers[scores]
        if not isinstance(kept.operation, op.Keep):
            return None
        return compute(at.number(kept.inputs[0]), np.isfinite(at.number(scores)))

    return _of_softmax(change)


# --- positions -----------------------------------------------------------------------------------


def _of_rotation(waves: Callable[[Floats, Floats], tuple[Floats, Floats]]) -> Change:
    """Return a change of cosines and sines by which queries and keys are rotated."""

    def compute(record: Record, x: Floats, cos: Floats, sin: Floats) -> Floats:
        return computed(record.operation, [x, *waves(cos, sin)], record)

    return _with_record(op.Rotate, compute)


def _last_at_first(rows: Floats) -> Floats:
    """Return rows with the first in place of the last, as without the length of a cache."""
    return np.vstack([rows[:-1], rows[:1]])


def _of_role(role: roles.Role, compute: Compute) -> Change:
    """Return a change of the values of a role; `compute` gets the operands."""
    return of_records(
        lambda record: record.output.role is role, lambda _, record, *operands: compute(*operands)
    )


def _of_added_positions(positions: Callable[[Floats], Floats]) -> Change:
    """Return a change of the vectors that are added to the embeddings."""
    sums = (roles.INPUT, roles.SUMMED_EMBEDDING)
    return of_records(
        lambda record: record.output.role in sums,
        lambda _, record, x, *added: x + positions(added[0]) if added else None,
    )


def _frequencies(exponent: Callable[[Floats, int], Floats]) -> Change:
    """Return a change of the exponents of frequencies, by the numbers of the pairs."""

    def compute(record: Record, *_: Floats) -> Floats | None:
        terms: Any = record.operation
        if terms.base is None:
            return None
        pairs = np.arange((terms.width + 1) // 2, dtype=np.float64)
        return np.asarray(float(terms.base) ** -exponent(pairs, terms.width))

    return _with_record(op.DivTerm, compute)


def _halves_of_waves(sin: Floats, cos: Floats) -> Floats:
    return np.hstack([sin, cos])


def _slope(exponent: Callable[[float, float], float]) -> Change:
    """Return a change of ALiBi's slopes 2^(−8h/n), by the head h and the number n."""

    def compute(record: Record, *_: Floats) -> Floats:
        power: Any = record.operation
        return np.asarray(2.0 ** exponent(-power.over / 8, power.under))

    return _with_record(op.PowerOfTwo, compute)


# --- matrices ------------------------------------------------------------------------------------


def _transposed(x: Floats, w: Floats, *bias: Floats) -> Floats | None:
    if w.ndim < 2 or w.shape[0] != w.shape[1]:
        return None
    return np.asarray(sum(bias, x @ w.T))


def _reshaped(x: Floats, w: Floats, *bias: Floats) -> Floats:
    return np.asarray(sum(bias, x @ w.T.reshape(w.shape)))


def _of_weights(compute: Compute) -> Change:
    """Return a change of products with a weight matrix."""

    def of_weights(record: Record, *operands: Floats) -> Floats | None:
        return compute(*operands) if record.inputs[1].role.parameter else None

    return _with_record(op.MatMul, of_weights)


def _interleaved(*heads: Floats) -> Floats:
    return np.stack(heads, axis=2).reshape(len(heads[0]), -1)


def _reversed(*heads: Floats) -> Floats:
    return np.hstack(heads[::-1])


def _of_residuals(compute: Callable[[Recomputation, Value, Floats], Floats]) -> Change:
    """Return a change of residual connections; `compute` returns what is added to the change."""
    return of_records(
        lambda record: record.output.role is roles.RESIDUAL,
        lambda at, record, *x: compute(at, record.output, x[0]) + x[1],
    )


def _normalized(at: Recomputation, residual: Value, x: Floats) -> Floats:
    norm = at.trace.values.get(residual.place.address(roles.NORM))
    if norm is None or at.order[norm] > at.order[residual]:
        return x
    return at.number(norm)


CHANGES: tuple[tuple[str, Change], ...] = (
    (
        "with a mask that hides each token from itself",
        _masked_by(lambda n, m: np.tri(n, m, m - n - 1)),
    ),
    ("with a mask that shows the next token", _masked_by(lambda n, m: np.tri(n, m, m - n + 1))),
    ("with the mask cut from its first rows", _masked_by(lambda n, m: np.tri(n, m))),
    ("with the mask transposed", _masked_by(lambda n, m: np.tri(m, n).T)),
    ("without the mask", _masked_by(lambda n, m: np.ones((n, m)))),
    (
        "with scores that the mask does not change",
        _of_shares(lambda _, unmasked: softmax(unmasked)),
    ),
    ("with a causal mask", _of_shares(_causal)),
    ("with the mask after the softmax", _of_shares(_hidden_after)),
    ("with a softmax of columns", _of_shares(lambda s, _: softmax(s, 0))),
    ("with raw scores as weights", _of_shares(lambda s, _: np.where(np.isneginf(s), 0, s))),
    ("with a softmax of all logits, not normalized", _of_choice(lambda z, c: softmax(z) * c)),
    (
        "with a softmax of the softmax of all logits",
        _of_choice(lambda z, c: softmax(np.where(c, softmax(z), -np.inf))),
    ),
    ("with the opposite direction of rotation", _of_rotation(lambda cos, sin: (cos, -sin))),
    ("without rotation", _of_rotation(lambda cos, sin: (np.ones_like(cos), np.zeros_like(sin)))),
    (
        "with the last token at the first position",
        _of_rotation(lambda cos, sin: (_last_at_first(cos), _last_at_first(sin))),
    ),
    (
        "with all tokens at the first position",
        _of_rotation(lambda cos, sin: (0 * cos + cos[:1], 0 * sin + sin[:1])),
    ),
    ("with the last token at the first position", _of_added_positions(_last_at_first)),
    ("with all tokens at the first position", _of_added_positions(lambda p: 0 * p + p[:1])),
    ("without positions", _of_added_positions(np.zeros_like)),
    ("with frequencies of exponents −k/d", _frequencies(lambda k, d: k / d)),
    ("with frequencies of exponents −4k/d", _frequencies(lambda k, d: 4 * k / d)),
    ("with frequencies counted from the pair 1", _frequencies(lambda k, d: 2 * (k + 1) / d)),
    ("with frequencies in the opposite order", _frequencies(lambda k, d: 2 * k[::-1] / d)),
    ("with frequencies up to exponent −1", _frequencies(lambda k, d: k / max(len(k) - 1, 1))),
    ("without a factor of the embeddings", _of_role(roles.SCALED_EMBEDDING, lambda x, *_: x)),
    ("without the soft cap", _of(el.SoftCap, lambda x: x)),
    ("without ALiBi", _of(el.Penalize, lambda scores, slope, distance: scores)),
    ("with all sines before all cosines", _of(op.Interleave, _halves_of_waves)),
    ("with slopes counted from head 0", _slope(lambda h, n: -8 * (h - 1) / n)),
    ("with slopes in the opposite order of heads", _slope(lambda h, n: -8 * (n + 1 - h) / n)),
    ("with slopes of exponents −8h/(n + 1)", _slope(lambda h, n: -8 * h / (n + 1))),
    ("with slopes of exponents −h", _slope(lambda h, n: -h)),
    ("with slopes of exponents −4h/n", _slope(lambda h, n: -4 * h / n)),
    ("with the opposite sign of slopes", _of(el.Penalize, lambda s, m, d: s + m * d)),
    ("without residual connections", _of_residuals(lambda at, residual, x: 0 * x)),
    ("with normalized vectors added in residual connections", _of_residuals(_normalized)),
    ("with the weight matrix transposed", _of_weights(_transposed)),
    ("with the weight matrix read column by column", _of_weights(_reshaped)),
    ("with the columns of heads interleaved", _of(op.Concat, _interleaved)),
    ("with the heads in the opposite order", _of(op.Concat, _reversed)),
)
"""The name of each change of an operation."""


# --- other operands ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reads:
    """A change that reads another value in place of one, as W_V in place of W_K.

    In another layer or head, the other value is found at the same distance. With a bias, the bias
    is read that belongs to the other matrix.
    """

    instead: str
    of: str
    base: Recomputation
    with_bias: bool = False

    def __call__(
        self, at: Recomputation, record: Record, operands: Sequence[Floats]
    ) -> Floats | None:
        """Return the result with the other operand; None if the operation does not read it."""
        changed, values = list(operands), self.base.trace.values
        for place, value in enumerate(record.inputs):
            other = values.get(_shifted(self.instead, self.of, value.address))
            if kind_of(value.address) == kind_of(self.of) and other and other.shape == value.shape:
                changed[place] = at.moved(other, self.base.number(other))
                if self.with_bias:
                    readers = (r.inputs for r in self.base.trace.records if other in r.inputs[1:2])
                    changed[2:] = map(self.base.number, next(readers, record.inputs)[2:])
        if all(map(is_, changed, operands)):
            return None
        return computed(record.operation, changed, record)


NUMBERED = re.compile(r"(layer|head|expert)([0-9]+)")


@cache
def kind_of(address: str) -> str:
    """Return an address without the numbers of layers, heads and experts."""
    return NUMBERED.sub(r"\1", address)


@cache
def _shifted(instead: str, of: str, address: str) -> str:
    """Return the address that is as far from another one as `instead` is from `of`."""
    own, here = (dict(NUMBERED.findall(each)) for each in (of, address))

    def number(match: re.Match[str]) -> str:
        noun, digits = match.groups()
        if noun not in own or noun not in here:
            return match[0]
        return f"{noun}{int(digits) - int(own[noun]) + int(here[noun])}"

    return NUMBERED.sub(number, instead)


def other_operands(at: Recomputation, address: str) -> Iterator[tuple[str, Change]]:
    """Yield the changes that read another value of the same shape for a value, with their names."""
    value = at.trace.values[address]
    later = {value}
    for record in at.trace.records:
        if not later.isdisjoint(record.inputs):
            later.add(record.output)
    reads = {read: each for each in at.needed(value) for read in at.trace.producers[each].inputs}
    for read, reader in reads.items():
        for other in at.trace.values.values():
            if other in later or other is read or not _may_be_confused(at, other, read, reader):
                continue
            name = f"with {other.address} in place of {read.address}"
            yield name, Reads(other.address, read.address, at)
            if read.role.parameter and len(at.trace.producers[reader].inputs) > 2:
                yield f"{name}, and its bias", Reads(other.address, read.address, at, True)


def _may_be_confused(at: Recomputation, other: Value, read: Value, result: Value) -> bool:
    """Return whether a program may read another value for one: near, and of the same shape."""
    if other.shape != read.shape or not read.shape or other.role.words:
        return False
    if read.role.parameter or other.role.parameter:
        is_pair = read.role.parameter and other.role.parameter
        near = (other.place.layer, other.place.encoder) == (read.place.layer, read.place.encoder)
        return is_pair and len(read.shape) > 1 and (near or other.role is read.role)
    is_result = other.role.rounding_rule is roles.RoundingRule.RESULT
    known = at.order[other] < at.order[result] or other.place == read.place
    return is_result and known and has_token_rows(other) == has_token_rows(read)


# --- what the numbers say ------------------------------------------------------------------------


NO_FACTOR = 5e-4
"""A factor that is so near to 1 is that of rounding."""


def relations(value: Value, own: Floats, theirs: Floats) -> Iterator[tuple[str, Floats]]:
    """Yield simple relations of their numbers to the computed ones.

    Each has a name, and the numbers that it predicts, from far fewer numbers.
    """
    with np.errstate(all="ignore"):
        yield from _of_all(own, theirs)
        if own.ndim == 2 and min(own.shape) > 1:
            yield from _of_rows(value, own, theirs)


def _of_all(own: Floats, theirs: Floats) -> Iterator[tuple[str, Floats]]:
    ratio = theirs / own
    known = np.isfinite(ratio) & (own != 0)
    if known.sum() > 2:
        factor = float(np.median(ratio[known]))
        if abs(factor - 1) > NO_FACTOR:
            yield f"multiplied by {factor:.4g}", own * factor
        kept = known & (theirs != 0)
        if kept.any() and not kept.all():
            factor = float(np.median(ratio[kept]))
            share = (theirs[known] == 0).mean()
            dropped = np.where(theirs == 0, 0, own * factor)
            if 0 < share < 0.9 and abs(factor * (1 - share) - 1) < 0.25:
                name = f"with dropout: some numbers are 0, the others {factor:.4g} times as large"
                yield name, dropped


def _of_rows(value: Value, own: Floats, theirs: Floats) -> Iterator[tuple[str, Floats]]:
    apart = np.where(np.isfinite(own) & np.isfinite(theirs), theirs - own, np.nan)
    apart[np.isnan(apart).all(axis=1)] = 0
    name = "with another constant added to each row"
    yield name, own + np.nanmedian(apart, 1, keepdims=True)
    if own.shape[0] == own.shape[1]:
        yield "transposed", own.T
    labels = value.axes[0].labels
    wrong = [i for i in range(len(own)) if not np.allclose(own[i], theirs[i], rtol=1e-2, atol=1e-9)]
    if not wrong or len(wrong) == len(own):
        return
    stale = np.array(own)
    stale[wrong] = 0
    yield f"with {count(len(wrong), 'row')} of zeros", stale
    pairs = [(i, int(np.argmin(np.abs(own - theirs[i]).max(axis=1)))) for i in wrong]
    for i, other in pairs:
        stale[i] = own[other]
    said = ", ".join(f"that of “{labels[j]}” for “{labels[i]}”" for i, j in pairs[:3])
    yield f"with another token's row: {said}", stale
