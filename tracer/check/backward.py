"""Ways in which programs compute a backward pass wrongly: each is one change of the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tracer.check.changes import kind_of
from tracer.check.recomputation import Change, Recomputation, computed, of_records
from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.comparison import Floats
from tracer.decoder.part import all_norms, slopes
from tracer.decoder.tape import Record
from tracer.decoder.value import Value

What: TypeAlias = type[object] | roles.Derivation
"""The type of an operation, or what is derived from a value."""

MEANS = tuple(norm.mean for norm in all_norms())
SQUARES = tuple(role for norm in all_norms() for role in (norm.squared, norm.root_squared))


def of_training(what: What, compute: Callable[..., Floats | None]) -> Change:
    """Return a change of some results of training; `compute` gets the record and the operands."""
    return of_records(
        partial(is_of_training, what), lambda _, record, *operands: compute(record, *operands)
    )


def is_of_training(what: What, record: Record) -> bool:
    """Return whether a record is one of training, with such an operation or result."""
    if record.output.place.phase == "forward":
        return False
    if isinstance(what, str):
        return record.output.role.derivation == what
    return isinstance(record.operation, what)


def with_operation(what: What, changed: Callable[[Any], op.Recorded]) -> Change:
    """Return a change of some operations of training to others with the same operands."""
    return of_training(what, lambda record, *x: computed(changed(record.operation), x, record))


def _with_own_targets(record: Record, p: Floats) -> Floats:
    """Return the gradient at the logits if each token were its own target."""
    miss: Any = record.operation
    tokens, words = (axis.labels for axis in record.output.axes)
    both = zip(tokens, miss.columns, strict=True)
    own = (None if c is None or t not in words else words.index(t) for t, c in both)
    return computed(replace(miss, columns=tuple(own)), [p], record)


def _not_transposed(record: Record, one: Floats, other: Floats) -> Floats | None:
    """Return a product of which no factor is transposed, where the shapes allow it."""
    fits = one.shape[1] == len(other) and (len(one), other.shape[1]) == record.output.shape
    return one @ other if fits else None


def _of_parameter(factor: Callable[[int], float]) -> Change:
    """Return a change of the gradients of parameters, by the number of rows that are added up."""

    def multiplied(record: Record, *x: Floats) -> Floats | None:
        if not (record.output.role.of and record.output.role.of.parameter):
            return None
        sums = (op.TransposedMatMul, op.ColumnTotal, op.ColumnDot)
        rows = len(x[0]) if isinstance(record.operation, sums) else 1
        return factor(rows) * computed(record.operation, x, record)

    return of_training("gradient", multiplied)


def _slope_of_output(record: Record, x: Floats) -> Floats:
    """Return the slope of an activation function at its result."""
    slope: Any = record.operation
    return computed(slope, [computed(el.Activate(slope.function), [x], record)], record)


def _without_factor(fits: Callable[[Value], bool]) -> Change:
    """Return a change of products of a gradient and another factor: without some of these."""
    return of_training(el.Multiply, lambda record, g, factor: g if fits(record.inputs[1]) else None)


def _of_heads(record: Record, g: Floats) -> Floats | None:
    """Return the columns of a head, where those of all heads alternate."""
    columns: Any = record.operation
    width = columns.stop - columns.start
    return g[:, columns.start // width :: g.shape[1] // width]


def _of_words(rows: Callable[[Floats], Floats], left_out: int | None = None) -> Change:
    """Return a change of the gradients of embeddings; `rows` reduces those of a word's tokens."""

    def reduced(record: Record, g: Floats) -> Floats:
        by_word: Any = record.operation
        words, found = np.array(by_word.words), np.zeros(record.output.shape)
        for word in {*by_word.words} - {left_out}:
            found[word] = rows(g[words == word])
        return found

    return of_training(op.ByWord, reduced)


def _summed(counts: Callable[[Value], bool]) -> Change:
    """Return a change of sums of gradients, of which only some summands count."""

    def some(record: Record, *summands: Floats) -> Floats | None:
        both = zip(summands, record.inputs, strict=True)
        counted = [x for x, value in both if counts(value)]
        return np.asarray(sum(counted)) if counted else None

    return of_training(op.AccumulateGradients, some)


def _without(*left_out: roles.Role) -> Change:
    """Return a change of sums of gradients, without the paths along some values."""
    return _summed(lambda value: value.role.of not in left_out)


SLOPES = {role for own in slopes().values() for role in (own.smooth, own.of_relu)}

OF_BACKWARD: dict[str, Change] = {
    "averaged over all tokens, also those without a target": with_operation(
        el.SoftmaxCrossEntropyGrad, lambda miss: replace(miss, counted=len(miss.columns))
    ),
    "with each token as its own target": of_training(el.SoftmaxCrossEntropyGrad, _with_own_targets),
    "without the mean that the gradient of a softmax subtracts": of_training(
        "difference", lambda _, g, mean: g
    ),
    "with the mean of each norm as a constant": _without(*MEANS),
    "with the deviation of each norm as a constant": _without(*SQUARES),
    "with mean and deviation of each norm as constants": _without(*MEANS, *SQUARES),
    "without the factor γ of norms": of_training("scaled", lambda _, g, gain: g),
    "without the gradients of residual connections": _without(roles.RESIDUAL),
    "with only the gradients of residual connections": _summed(
        lambda value: value.role.of is roles.RESIDUAL
    ),
    "with weights that are not transposed": of_training(op.Dot, _not_transposed),
    "with a first factor that is not transposed": of_training(op.TransposedMatMul, _not_transposed),
    "with the columns of heads interleaved": of_training(op.Columns, _of_heads),
    "without the slope of the activation function": _without_factor(
        lambda factor: factor.role in SLOPES
    ),
    "without the other factor of the gate": _without_factor(
        lambda factor: factor.place.phase == "forward"
    ),
    "with the slope of the activation function at its output": of_training(
        el.Slope, _slope_of_output
    ),
    "rotated in the direction of the forward pass": with_operation(
        op.RotateBack, lambda back: op.Rotate(back.layout)
    ),
    "without rotating back": of_training(op.RotateBack, lambda _, g, cos, sin: g),
    "averaged over the tokens, not added up": _of_parameter(lambda rows: 1 / rows),
    "added up over two equal backward passes": _of_parameter(lambda rows: 2),
    "with only the last token of each word": _of_words(lambda rows: rows[-1]),
}
"""The changes of operations of the backward pass, by name."""


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
    return kind_of(value.address)


def _head(value: Value) -> object:
    return value.place.head
