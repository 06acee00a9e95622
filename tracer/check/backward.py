"""Ways in which programs compute a backward pass wrongly: each is one change of the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tracer.check.changes import NUMBERED
from tracer.check.recomputation import Change, Recomputation
from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.comparison import Floats
from tracer.decoder.part import all_norms
from tracer.decoder.results import result
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.arithmetic import FLOATS, no_rounding

What: TypeAlias = type[object] | roles.Derivation
"""The type of an operation, or what is derived from a value."""

MEANS = tuple(norm.mean for norm in all_norms())
SQUARES = tuple(role for norm in all_norms() for role in (norm.squared, norm.root_squared))


def of_training(what: What, compute: Callable[..., Floats]) -> Change:
    """Return a change of some results of training; `compute` gets their operands."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        return compute(*operands) if is_of_training(what, record) else None

    return change


def with_operation(what: What, changed: Callable[[Any, Record], op.Recorded]) -> Change:
    """Return a change of some operations of training to others with the same operands."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        if not is_of_training(what, record):
            return None
        return _result(changed(record.operation, record), operands, record)

    return change


def is_of_training(what: What, record: Record) -> bool:
    """Return whether a record is one of training, with such an operation or result."""
    if record.output.place.phase == "forward":
        return False
    if isinstance(what, str):
        return record.output.role.derivation == what
    return isinstance(record.operation, what)


def _result(operation: Any, operands: Sequence[Floats], record: Record) -> Floats:
    """Return an operation's result, with the axes of a record's."""
    found = result(FLOATS, operation, [*operands], record.output.axes, no_rounding)
    return np.asarray(found, np.float64)


def _with_own_targets(miss: el.SoftmaxCrossEntropyGrad, record: Record) -> op.Recorded:
    """Return the gradient at the logits if each token were its own target."""
    tokens, words = (axis.labels for axis in record.output.axes)
    both = zip(tokens, miss.columns, strict=True)
    own = (None if c is None or t not in words else words.index(t) for t, c in both)
    return replace(miss, columns=tuple(own))


def _not_transposed(kind: type[object]) -> Change:
    """Return a change of products: no factor is transposed, where the shapes allow it."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        if not is_of_training(kind, record):
            return None
        one, other = operands
        fits = one.shape[1] == len(other) and (len(one), other.shape[1]) == record.output.shape
        return one @ other if fits else None

    return change


def _of_parameters(compute: Callable[[Floats, int], Floats]) -> Change:
    """Return a change of their gradients; `compute` also gets the number of summed rows."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        of = record.output.role.of
        if not (of and of.parameter and is_of_training("gradient", record)):
            return None
        sums = (op.TransposedMatMul, op.ColumnTotal, op.ColumnDot)
        rows = len(operands[0]) if isinstance(record.operation, sums) else 1
        return compute(_result(record.operation, operands, record), rows)

    return change


def _slope_of_output(
    at: Recomputation, record: Record, operands: Sequence[Floats]
) -> Floats | None:
    """Compute the slope of an activation function at its result."""
    output = replace(record.output.place, phase="forward").address(roles.ACTIVATION)
    if not is_of_training(el.Slope, record) or output not in at.trace.values:
        return None
    return _result(record.operation, [at.number(at.trace.values[output])], record)


def _without_factor(fits: Callable[[Value], bool]) -> Change:
    """Return a change of products of a gradient and another factor: without some of these."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        is_product = is_of_training(el.Multiply, record)
        return operands[0] if is_product and fits(record.inputs[1]) else None

    return change


def _of_words(rows: Callable[[Floats], Floats], left_out: int | None = None) -> Change:
    """Return a change of the gradients of embeddings; `rows` reduces those of a word's tokens."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        if not isinstance(record.operation, op.ByWord):
            return None
        words, found = np.array(record.operation.words), np.zeros(record.output.shape)
        for word in set(record.operation.words) - {left_out}:
            found[word] = rows(operands[0][words == word])
        return found

    return change


def _summed(counts: Callable[[Value], bool]) -> Change:
    """Return a change of sums of gradients, of which only some summands count."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        if not is_of_training(op.AccumulateGradients, record):
            return None
        both = zip(operands, record.inputs, strict=True)
        counted = [x for x, of in both if counts(of)]
        return np.asarray(sum(counted)) if counted else None

    return change


def _without(*left_out: roles.Role) -> Change:
    """Return a change of sums of gradients, without the paths along some values."""
    return _summed(lambda value: value.role.of not in left_out)


def _of_heads(columns: Callable[[Floats, int, int], Floats]) -> Change:
    """Return a change of each head's columns, by its number from 0 and the number of heads."""

    def change(at: Recomputation, record: Record, operands: Sequence[Floats]) -> Floats | None:
        if not isinstance(record.operation, op.Columns) or not is_of_training("gradient", record):
            return None
        (g,), width = operands, record.output.shape[1]
        return columns(g, record.operation.start // width, g.shape[1] // width)

    return change


def _opposite(g: Floats, head: int, heads: int) -> Floats:
    return np.split(g, heads, axis=1)[heads - 1 - head]


OF_BACKWARD: tuple[tuple[str, Change], ...] = (
    (
        "averaged over all tokens, also those without a target",
        with_operation(
            el.SoftmaxCrossEntropyGrad, lambda miss, _: replace(miss, counted=len(miss.columns))
        ),
    ),
    (
        "with each token as its own target",
        with_operation(el.SoftmaxCrossEntropyGrad, _with_own_targets),
    ),
    (
        "without the mean that the gradient of a softmax subtracts",
        of_training("difference", lambda g, mean: g),
    ),
    ("with the mean of each norm as a constant", _without(*MEANS)),
    ("with the deviation of each norm as a constant", _without(*SQUARES)),
    ("with mean and deviation of each norm as constants", _without(*MEANS, *SQUARES)),
    ("without the factor γ of norms", of_training("scaled", lambda g, gain: g)),
    ("without the gradients of residual connections", _without(roles.RESIDUAL)),
    (
        "with only the gradients of residual connections",
        _summed(lambda value: value.role.of is roles.RESIDUAL),
    ),
    ("with weights that are not transposed", _not_transposed(op.Dot)),
    ("with a first factor that is not transposed", _not_transposed(op.TransposedMatMul)),
    ("with the heads in the opposite order", _of_heads(_opposite)),
    ("with the columns of heads interleaved", _of_heads(lambda g, h, n: g[:, h::n])),
    (
        "without the slope of the activation function",
        _without_factor(lambda factor: factor.role in (roles.OPEN, roles.SLOPE)),
    ),
    (
        "without the other factor of the gate",
        _without_factor(lambda factor: factor.place.phase == "forward"),
    ),
    ("with the slope of the activation function at its output", _slope_of_output),
    (
        "rotated in the direction of the forward pass",
        with_operation(op.RotateBack, lambda back, _: op.Rotate(back.layout)),
    ),
    ("without rotating back", of_training(op.RotateBack, lambda g, cos, sin: g)),
    ("averaged over the tokens, not added up", _of_parameters(lambda g, rows: g / rows)),
    ("added up over two equal backward passes", _of_parameters(lambda g, rows: 2 * g)),
    ("with only the last token of each word", _of_words(lambda rows: rows[-1])),
    ("averaged over the tokens of each word", _of_words(lambda rows: rows.mean(axis=0))),
)
"""The name of each change of an operation of the backward pass."""


def of_summands(at: Recomputation, address: str) -> Iterator[tuple[str, Change]]:
    """Yield changes of the sums of gradients that a value needs: of summands, only some count.

    In other layers, those of the same kind or of the same head do.
    """
    for value in at.needed(at.trace.values[address]):
        record = at.trace.producers[value]
        if isinstance(record.operation, op.ByWord):
            for word in dict.fromkeys(record.operation.words):
                label = value.axes[0].labels[word]
                name = f"without the tokens “{label}”, as with PyTorch's padding_idx"
                yield name, _of_words(lambda rows: rows.sum(axis=0), left_out=word)
        if isinstance(record.operation, op.AccumulateGradients):
            for key in (_kind, _head):
                for one in dict.fromkeys(map(key, record.inputs)):
                    name = " and ".join(each.address for each in record.inputs if key(each) == one)
                    yield f"without {name}", _summed(partial(_counts, key, one, False))
                    yield f"with only {name}", _summed(partial(_counts, key, one, True))


def _counts(key: Callable[[Value], object], one: object, counts: bool, value: Value) -> bool:
    return (key(value) == one) is counts


def _kind(value: Value) -> object:
    return NUMBERED.sub(r"\1", value.address)


def _head(value: Value) -> object:
    return value.place.head
