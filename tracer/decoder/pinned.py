"""Given numbers that replace computed ones: a whole value, or some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.lazy import Patch
from tracer.decoder.routing import refusal
from tracer.decoder.value import Form, Value, has_token_rows
from tracer.errors import TracerError
from tracer.formula.arithmetic import Arithmetic, Array
from tracer.names import count, position_of
from tracer.scenario.given import GivenRows, Repeated

_PINNED, _MEAN = op.Pinned(), op.Pinned(is_mean=True)


class MisfitError(Exception):
    """Given numbers do not fit the value; the message says why."""


def filled(pinned: Any, role: roles.Role, shape: tuple[int, ...]) -> Array:
    """Return given numbers as an array of this shape.

    Raises:
        MisfitError: they have another shape, or no number can be there.
    """
    if isinstance(pinned, Repeated):
        if pinned.numbers is None:
            raise MisfitError("it has no row for each token, so it has no mean over the tokens")
        array = pinned.filling(shape)
    else:
        array = pinned if isinstance(pinned, np.ndarray) else np.array(pinned, dtype=object)
    if misfit := _unfit(role, array, shape):
        raise MisfitError(f"given {misfit}")
    return array


def operation_of(pinned: Any) -> op.Pinned:
    """Return the operation of a value that is given as a whole."""
    return _MEAN if _is_mean(pinned) else _PINNED


def operation_of_rows(given: GivenRows, patch: Patch, computed: op.Operation) -> op.Pinned:
    """Return the operation of a record's value of which a patch gives some rows."""
    if isinstance(computed, op.Pinned):
        return _PINNED
    rows = tuple(row for row, _ in patch.rows or ())
    is_mean = all(map(_is_mean, given.rows.values()))
    return op.Pinned(rows, is_mean, computed)


def _is_mean(pinned: Any) -> bool:
    return isinstance(pinned, Repeated) and pinned.is_mean


def form_of(pinned: Any, *, rounds: bool) -> Form:
    """Return how given numbers are printed: typed ones as typed, and means if they are rounded."""
    in_full = isinstance(pinned, np.ndarray) or (_is_mean(pinned) and not rounds)
    return Form.ROUNDED_FOR_PRINT if in_full else Form.AS_THEY_ARE


def given_rows(given: GivenRows, value: Value, arithmetic: Arithmetic, *, rounds: bool) -> Patch:
    """Return the given rows of a value as a patch.

    Raises:
        MisfitError: the value has no such rows, or the numbers do not fit them.
    """
    if value.role.words:
        raise MisfitError("these are words; only numbers can be given")
    if not has_token_rows(value):
        raise MisfitError("it has no row for each token")
    if message := refusal(value, "give"):
        raise MisfitError(message)
    rows: dict[int, Any] = {}
    for token, numbers in given.rows.items():
        try:
            row = position_of(token, value.axes[0].labels)
        except TracerError as error:
            raise MisfitError(error.problems[0].message) from None
        if row in rows:
            raise MisfitError(f"the row of {token!r} is given twice")
        rows[row] = numbers
    arrays = [filled(each, value.role, value.shape[1:]) for each in rows.values()]
    forms = {form_of(each, rounds=rounds) for each in rows.values()}
    form = forms.pop() if len(forms) == 1 else Form.ROUNDED_FOR_PRINT
    numbers = arithmetic.array(np.stack(arrays))
    axes: Axes = (Axis(value.axes[0].name, tuple(given.rows)), *value.axes[1:])
    of = Value(value.role, value.place, value.address, numbers, axes, form, numbers)
    return Patch(of, tuple((row, i) for i, row in enumerate(rows)))


def _unfit(role: roles.Role, array: Array, expected: tuple[int, ...]) -> str | None:
    """What is wrong with pinned numbers, if anything."""
    if array.dtype == object and any(isinstance(entry, tuple) for entry in array.flat):
        return "as rows of different lengths"
    if array.shape != expected:
        return f"as {_shape(array.shape)}, expected {_shape(expected)}"
    floats = array.astype(np.float64)
    if not (floats < np.inf).all():
        return "as NaN or ∞, expected numbers"
    if not role.hides and np.isneginf(floats).any():
        return "as -∞, which only a mask and masked scores can be"
    return None


def _shape(shape: tuple[int, ...]) -> str:
    """`2×3 numbers`, `a row of 3 numbers`, `one number`."""
    match shape:
        case ():
            return "one number"
        case (length,):
            return f"a row of {count(length, 'number')}"
        case _:
            return f"{'×'.join(map(str, shape))} numbers"
