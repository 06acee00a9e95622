"""Weights and biases on the tape, and the labels of their columns."""

from __future__ import annotations

from tracer.decoder.axes import Axes, Axis, numbered
from tracer.decoder.part import parts
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import Names, Row, shape_of
from tracer.scenario.networks import Weights


def columns(matrix: Weights) -> int:
    """How many columns a matrix has: typed rows, an array of a file, or a part's keys."""
    return shape_of(matrix)[1]


def weights(
    tape: Tape, role: Role, matrix: Weights, x: Value, columns: Names, axis: str = "feature"
) -> Value:
    """Record a matrix, or what a part computes of its keys: its rows are the columns of x."""
    return matrix_of(tape, role, matrix, (x.axes[1], Axis(axis, columns)))


def matrix_of(tape: Tape, role: Role, matrix: Weights, axes: Axes) -> Value:
    """Record a matrix with these axes, or what a part computes of its keys."""
    for part in parts():
        if part.weights and (found := part.weights(tape, role, matrix, axes)):
            return found
    return tape.given(role, matrix, axes)


def bias(tape: Tape, role: Role, row: Row | None, w: Value) -> tuple[Value, ...]:
    """Record a bias, if there is one: its entries are the columns of W."""
    return () if row is None else (tape.given(role, row, w.axes[1:]),)


def features_of(x: Value, width: int) -> Names:
    """The labels of x for another vector of its width; numbered ones where the width changes."""
    labels = x.axes[1].labels
    return labels if len(labels) == width else numbered("d", 0, width)
