"""One number of a trace: how it is printed, named and found among the labels of its axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tracer.decoder.axes import Axis
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Network
from tracer.decoder.value import Entry, Form, Index, Value
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Number
from tracer.formula.numbers import as_decimal, guarded, trimmed
from tracer.names import closest, distinct, name_text, places

POSITION = re.compile("0*[1-9][0-9]{0,9}")
"""A number from 1; Python does not read one of thousands of digits."""


def number(pencil: Pencil, value: Value, index: Index, guard: int = 0) -> Number:
    """Return an entry as printed, with at most `guard` more digits than its role has."""
    entry = value.read(index)
    if value.form is Form.AS_THEY_ARE and type(entry) is Decimal:
        return Number(entry, Entry(value, index))
    precise = exact(value, index)
    if not precise.is_finite():
        return Number(precise, Entry(value, index))
    if value.form is Form.AS_THEY_ARE:
        # A float has no digits of its own: the 2 that was typed is stored as 2.0.
        return Number(trimmed(precise or precise.copy_abs()), Entry(value, index))
    places = pencil.places(value.role, value.base_address, precise)
    if guard:
        places = guarded(precise, places, guard)
    return Number(pencil.printed(precise, places), Entry(value, index))


def exact(value: Value, index: Index) -> Decimal:
    """Return an entry with all its digits."""
    return as_decimal(value.read(index))


def rows(
    pencil: Pencil, value: Value, chosen: Sequence[int], columns: Sequence[int]
) -> tuple[tuple[Number, ...], ...]:
    """Return some rows and columns of a matrix as printed; fast for typed numbers."""
    if value.form is not Form.AS_THEY_ARE or value.numbers.dtype != object:
        return tuple(tuple([number(pencil, value, (i, j)) for j in columns]) for i in chosen)
    lines = value.numbers.tolist()
    return tuple(
        tuple([Number(lines[i][j], Entry(value, (i, j))) for j in columns]) for i in chosen
    )


def name(entry: Entry) -> str:
    """Return the address of an entry: `layer1.attention.head1.weights[Alex,Frank]`."""
    place = ",".join(labels(entry))
    return f"{entry.value.address}[{place}]" if place else entry.value.address


def labels(entry: Entry) -> tuple[str, ...]:
    """Return the labels of the row and the column of an entry."""
    axes = zip(entry.value.axes, entry.at, strict=True)
    return tuple(name_text(distinct(axis.labels)[i]) for axis, i in axes)


def index_of(axis: Axis, label: str, address: str, network: Network | None = None) -> int:
    """Return the index of a label; the rows of a network may be those of no token.

    Raises:
        TracerError: no label is so, or several are.
    """
    found = position(axis, label)
    if found is not None:
        return found
    names, wanted = distinct(axis.labels), label.strip()
    alike = [names[place] for place in places(label, axis.labels)]
    hint = (
        f"; did you mean {' or '.join(map(repr, alike[:3]))}?" if alike else closest(wanted, names)
    )
    if network and not names:
        hint = f"; no token goes to this {network.noun}"
    hint = hint or f", expected 1 to {len(names)} or a label, such as {names[0]!r}"
    message = f"no {axis.name} {wanted!r}{hint}"
    raise TracerError(Problem(message, address=address))


def position(axis: Axis, label: str) -> int | None:
    """Return the index of a label, which may be a number from 1; None for none or several."""
    for names in (distinct(axis.labels), axis.labels):
        found = places(label, names)
        if len(found) == 1:
            return found[0]
    wanted = label.strip()
    if POSITION.fullmatch(wanted) and int(wanted) <= len(axis.labels):
        return int(wanted) - 1
    return None
