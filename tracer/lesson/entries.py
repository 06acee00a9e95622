"""One number of a trace: how it is found, named and printed."""

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

PERCENT = ["as", "percent"]
POSITION = re.compile("0*[1-9][0-9]{0,9}")
"""A number from 1; Python does not read one of thousands of digits."""


def number(pencil: Pencil, value: Value, index: Index, guard: int = 0) -> Number:
    """An entry as printed: with its digits, or rounded to them and at most `guard` more."""
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
    """Some rows and columns of a matrix as printed; fast for typed numbers."""
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


def find_quoted(trace: Trace, asked: str) -> tuple[Entry, bool]:
    """The entry that `ADDRESS[ROW,COLUMN]` names; whether `as percent` follows.

    Raises:
        TracerError: not of that form, no such address, row or column; what has no percentage.
    """
    match = re.fullmatch(r"([^\s\[]+(?:\[.*\])?)\s+(\S.*)", asked.rstrip())
    entry, words = match.groups() if match else (asked, None)
    value, at = find(trace, entry)
    if words is None:
        return Entry(value, at), False
    if words.split() != PERCENT:
        message = f"got {words!r} after it, expected nothing more, or `as percent`"
    elif value.role.words:
        message = f"{str(value.numbers[at])!r} is a word, which has no percentage"
    elif not number(trace.pencil, value, at).value.is_finite():
        message = "-∞ has no percentage"
    else:
        return Entry(value, at), True
    raise TracerError(Problem(message, address=entry))


def _labels(place: str, axes: Axes) -> list[str]:
    """The label for each axis; a comma may be part of a label, as of the token `,`."""
    pieces = place.split(",")
    if len(axes) < 2:
        return [place]
    for i in range(1, len(pieces)):
        labels = [",".join(pieces[:i]), ",".join(pieces[i:])]
        if all(_found(*pair) is not None for pair in zip(axes, labels, strict=True)):
            return labels
    return pieces


def _places(value: Value) -> str:
    if not value.axes:
        return "no more than the address of a single number"
    axes = ",".join(axis.name for axis in value.axes)
    first = ",".join(distinct(axis.labels)[0] for axis in value.axes)
    return f"[{axes}], such as [{first}]"


def name(entry: Entry) -> str:
    """The text that `find` takes: `layer1.attention.head1.weights[Alex,Frank]`."""
    place = ",".join(labels(entry))
    return f"{entry.value.address}[{place}]" if place else entry.value.address


def labels(entry: Entry) -> tuple[str, ...]:
    """The labels of the row and the column of an entry."""
    axes = zip(entry.value.axes, entry.at, strict=True)
    return tuple(distinct(axis.labels)[i] for axis, i in axes)


def index_of(axis: Axis, label: str, address: str) -> int:
    """The position of a label; a TracerError for none or several."""
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
    """The position of a label: unique, told apart by its position, or a number from 1."""
    for names in (distinct(axis.labels), axis.labels):
        found = places(label, names)
        if len(found) == 1:
            return found[0]
    wanted = label.strip()
    if POSITION.fullmatch(wanted) and int(wanted) <= len(axis.labels):
        return int(wanted) - 1
    return None
