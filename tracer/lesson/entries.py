"""One number of a trace: found by its address, named, printed. All that shows numbers uses this."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace
from tracer.decoder.pencil import Pencil
from tracer.decoder.value import Entry, Form, Index, Value
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Number
from tracer.formula.numbers import guarded, trimmed
from tracer.names import closest, distinct, places

POSITION = re.compile("0*[1-9][0-9]{0,9}")
"""A number from 1; Python does not read one of thousands of digits."""


def number(pencil: Pencil, value: Value, index: Index, guard: int = 0) -> Number:
    """An entry as it is printed: as it is, or rounded to its digits and at most `guard` more."""
    entry = value.numbers[index]
    if value.form is Form.AS_THEY_ARE and type(entry) is Decimal:
        return Number(entry, Entry(value, index))
    exact = entry if isinstance(entry, Decimal) else Decimal(repr(float(entry)))
    if not exact.is_finite():
        return Number(exact, Entry(value, index))
    if value.form is Form.AS_THEY_ARE:
        # A float has no digits of its own: the 2 that was typed is stored as 2.0.
        return Number(trimmed(exact or exact.copy_abs()), Entry(value, index))
    places = pencil.places(value.role, value.base_address, exact)
    if guard:
        places = guarded(exact, places, guard)
    return Number(pencil.printed(exact, places), Entry(value, index))


def rows(
    pencil: Pencil, value: Value, chosen: Sequence[int], columns: Sequence[int]
) -> tuple[tuple[Number, ...], ...]:
    """Some rows and columns of a matrix as they are printed; quick for what was typed."""
    if value.form is not Form.AS_THEY_ARE or value.numbers.dtype != object:
        return tuple(tuple([number(pencil, value, (i, j)) for j in columns]) for i in chosen)
    lines = value.numbers.tolist()
    return tuple(
        tuple([Number(lines[i][j], Entry(value, (i, j))) for j in columns]) for i in chosen
    )


def find(trace: Trace, asked: str) -> Entry:
    """The entry that `ADDRESS[ROW,COLUMN]` names; rows and columns by label or number.

    Raises:
        TracerError: not of that form, no such address, row or column.
    """
    match = re.fullmatch(r"([^\s\[]+)(?:\[(.*)\])?", asked)
    if match is None:
        raise TracerError(Problem(f"got {asked!r}, expected ADDRESS[ROW,COLUMN]"))
    address, place = match.groups()
    if address not in trace.values:
        message = f"no such value{closest(address, trace.values)}"
        raise TracerError(Problem(message, address=address))
    value = trace[address]
    labels = [] if place is None else _labels(place, value.axes)
    if len(labels) != len(value.axes):
        came = "nothing behind it" if place is None else f"[{place}]"
        message = f"got {came}, expected {_places(value)}"
        raise TracerError(Problem(message, address=address))
    at = zip(value.axes, labels, strict=True)
    return Entry(value, tuple(index_of(axis, label, address) for axis, label in at))


def _labels(place: str, axes: Axes) -> list[str]:
    """What stands for each axis; a comma may be part of a label, as of the token `,`."""
    pieces = place.split(",")
    if len(axes) < 2:
        return [place]
    for i in range(1, len(pieces)):
        labels = [",".join(pieces[:i]), ",".join(pieces[i:])]
        if all(_found(*pair) is not None for pair in zip(axes, labels, strict=True)):
            return labels
    return pieces


def _places(value: Value) -> str:
    """`[token,key], such as [Alex,Frank]`: what goes behind an address."""
    if not value.axes:
        return "no more than the address of a single number"
    axes = ",".join(axis.name for axis in value.axes)
    first = ",".join(distinct(axis.labels)[0] for axis in value.axes)
    return f"[{axes}], such as [{first}]"


def name(entry: Entry) -> str:
    """`layer1.attention.head1.weights[Alex,Frank]`: what finds it."""
    place = ",".join(labels(entry))
    return f"{entry.value.address}[{place}]" if place else entry.value.address


def labels(entry: Entry) -> tuple[str, ...]:
    """The labels of the row and the column that an entry stands in."""
    axes = zip(entry.value.axes, entry.at, strict=True)
    return tuple(distinct(axis.labels)[i] for axis, i in axes)


def index_of(axis: Axis, label: str, address: str) -> int:
    """Where a label stands; a TracerError where it stands nowhere, or in several places."""
    found = _found(axis, label)
    if found is not None:
        return found
    names, wanted = distinct(axis.labels), label.strip()
    alike = [names[place] for place in places(label, axis.labels)]
    hint = (
        f"; did you mean {' or '.join(map(repr, alike[:3]))}?" if alike else closest(wanted, names)
    )
    hint = hint or f", expected 1 to {len(names)} or a label, such as {names[0]!r}"
    message = f"no {axis.name} {wanted!r}{hint}"
    raise TracerError(Problem(message, address=address))


def _found(axis: Axis, label: str) -> int | None:
    """Where a label stands: by itself, told apart by its position, or as a number from 1."""
    for names in (distinct(axis.labels), axis.labels):
        found = places(label, names)
        if len(found) == 1:
            return found[0]
    wanted = label.strip()
    if POSITION.fullmatch(wanted) and int(wanted) <= len(axis.labels):
        return int(wanted) - 1
    return None
