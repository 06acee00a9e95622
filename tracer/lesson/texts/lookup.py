"""Find a number of a trace by the address that a person types, or say which address is meant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from operator import gt
from typing import NamedTuple

from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace
from tracer.decoder.value import ENCODER_TOKEN, Entry, Value, has_token_rows
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Symbol
from tracer.lesson.entries import index_of, number, position
from tracer.lesson.texts.symbols import symbols
from tracer.names import closest, did_you_mean, distinct, position_of
from tracer.scenario.heads_of_arrays import OF_SCORES

PERCENT = ["as", "percent"]

WRITTEN: tuple[Callable[[Symbol], str], ...] = (
    lambda symbol: symbol.base + symbol.below + symbol.above,
    lambda symbol: symbol.base + symbol.below,
    lambda symbol: symbol.base,
)
"""A symbol in full, without the head, and without indices."""

INDICES = re.compile(r"(\S+)\[0,([0-9]{1,9}(?:,[0-9]{1,9}){1,2})\](\s.*|)", re.DOTALL)
"""A name of another program with the indices of an entry of its array: 0 for the batch, then all.

They count from 0, as in Python: `blocks.0.attn.hook_pattern[0,1,3,0]`.
"""
MOST_ADDRESSES, MOST_SIMILAR = 12, 3
"""A message lists at most this many addresses of a symbol, and of those that end as typed."""


class Part(NamedTuple):
    """A value, or one row or column of it: for each axis the picked index, or None for all."""

    value: Value
    at: tuple[int | None, ...]

    @property
    def chosen(self) -> list[range]:
        """The indices of each axis."""
        axes = zip(self.value.axes, self.at, strict=True)
        return [range(len(a.labels)) if i is None else range(i, i + 1) for a, i in axes]


def find(trace: Trace, asked: str) -> Entry:
    """Return the entry that `ADDRESS[ROW,COLUMN]` names; rows and columns by label or number.

    Raises:
        TracerError: not of that form, no such address, row or column.
    """
    value, place = _value_and_place(trace, asked)
    address, labels = value.address, [] if place is None else _labels(place, value.axes)
    if len(labels) != len(value.axes):
        came = "no row or column" if place is None else f"[{place}]"
        message = f"got {came}, expected {_places(value)}"
        raise TracerError(Problem(message, address=address))
    at = zip(value.axes, labels, strict=True)
    return Entry(
        value, tuple(index_of(axis, label, address, value.place.network) for axis, label in at)
    )


def with_own_address(trace: Trace, asked: str) -> str:
    """Return what a person typed, with the address in place of another program's name for a value.

    Raises:
        TracerError: it is the name of several values, such as those of all heads.
    """
    if re.split(r"[\[\s=]", asked, maxsplit=1)[0] in trace.values:
        return asked
    from tracer.scenario.other_names import names_of, own_address

    names = names_of(trace.scenario)
    if match := INDICES.fullmatch(asked):
        name, indices, words = match.groups()
        addresses = names.get(name, ())
        at = [int(each) for each in indices.split(",")]
        if len(at) == 3 and addresses and name.startswith(("blocks.", "attentions")):
            head = at.pop(0 if addresses[0].endswith(OF_SCORES) else 1)
            addresses = addresses[head : head + 1]
        value = trace.values.get(addresses[0]) if len(addresses) == 1 else None
        if (
            value
            and not value.role.parameter
            and len(at) == 2
            and all(map(gt, (*value.shape, 1), at))
        ):
            return f"{value.address}[{','.join(map(_named, value.axes, at))}]{words}"
    return own_address(asked, names)


def find_part(trace: Trace, asked: str) -> Part:
    """Return what `ADDRESS`, `ADDRESS[ROW]` or `ADDRESS[,COLUMN]` names: a matrix or a vector.

    Raises:
        TracerError: not of that form, no such address, row or column; it is a single number.
    """
    value, place = _value_and_place(trace, asked)
    axes, address, network = value.axes, value.address, value.place.network
    if place is None and axes:
        return Part(value, (None,) * len(axes))
    if place is not None and len(axes) == 2:
        if place.startswith(",") and position(axes[0], place) is None:
            return Part(value, (None, index_of(axes[1], place[1:], address, network)))
        return Part(value, (index_of(axes[0], place, address, network), None))
    expected = "ADDRESS" if axes else "a value with rows or columns"
    came = "a single number" if place is None else f"[{place}]"
    raise TracerError(Problem(f"got {came}, expected {expected}", address=address))


def _value_and_place(trace: Trace, asked: str) -> tuple[Value, str | None]:
    """Return the value that `ADDRESS[PLACE]` names, and the place."""
    asked = with_own_address(trace, asked)
    match = re.fullmatch(r"([^\s\[]+)(?:\[(.*)\])?", asked, re.DOTALL)
    if match is None:
        raise TracerError(Problem(f"got {asked!r}, expected ADDRESS[ROW,COLUMN]"))
    address, place = match.groups()
    if address not in trace.values:
        message = f"no such value{suggestion(trace, address, place)}"
        raise TracerError(Problem(message, address=address))
    return trace[address], place


def with_token(trace: Trace, asked: str, token: str, behind_row: str = "") -> str:
    """Return what a person typed with a token as its row: of `logits[,pizza]`, `logits[la,pizza]`.

    `behind_row` follows a row without a column, unless words such as `as table` do.

    Raises:
        TracerError: there is no such value or token, or the address names another row.
    """
    asked = with_own_address(trace, asked)
    match = re.fullmatch(r"([^\s\[]+)(?:\[(.*)\])?(\s.*)?", asked, re.DOTALL)
    if match is None:
        raise TracerError(Problem(f"got {asked!r}, expected ADDRESS[,COLUMN]"))
    address, place, words = match.groups("")
    value, _ = _value_and_place(trace, address)
    row = _row_of(trace, value, token)
    axis, *columns = value.axes
    labels = distinct(axis.labels)
    if place and (not place.startswith(",") or position(axis, place) is not None):
        whole = position(axis, place)
        own = position(axis, _labels(place, value.axes)[0]) if whole is None else whole
        if own not in (None, row):
            message = f"the row is {labels[own]!r}, but --token {token} is {labels[row]!r}"
            raise TracerError(Problem(message, address=asked))
        if whole is None:
            return asked
        place = ""
    words = words or behind_row * (bool(columns) and not place)
    return f"{address}[{_named(axis, row)}{place}]{words}"


def _named(axis: Axis, index: int) -> str:
    """Return how an address names an index: by its number, or by its label if that is a number.

    Labels may contain brackets and commas.
    """
    named = str(index + 1)
    return named if position(axis, named) == index else distinct(axis.labels)[index]


def _row_of(trace: Trace, value: Value, token: str) -> int:
    """Return the row of a token, given by its position or its text, in a value."""
    if not has_token_rows(value):
        raise TracerError(Problem(f"{value.address} has no row for each token", address="--token"))
    axis, encoder = value.axes[0], trace.scenario.encoder
    tower = encoder if encoder and axis.name == ENCODER_TOKEN else trace.scenario
    tokens = axis.labels if value.place.example else tower.tokens
    at = position_of(token, tokens)
    if not value.has_row(at, len(tokens)):
        message = f"{value.address} has no row for {distinct(tokens)[at]!r}"
        raise TracerError(Problem(message, address="--token"))
    return value.row(at, len(tokens))


def find_quoted(trace: Trace, asked: str) -> tuple[Entry, bool]:
    """Return the entry that `ADDRESS[ROW,COLUMN]` names, and whether `as percent` follows.

    Raises:
        TracerError: not of that form, no such address, row or column; what has no percentage.
    """
    match = re.fullmatch(r"([^\s\[]+(?:\[.*\])?)\s+(\S.*)", asked.rstrip(), re.DOTALL)
    entry, words = match.groups() if match else (asked, None)
    value, at = find(trace, entry)
    if words is None:
        return Entry(value, at), False
    if words.split() != PERCENT:
        message = f"got {words!r} after the address, expected nothing or `as percent`"
    elif value.role.words:
        message = f"{str(value.numbers[at])!r} is a word, which has no percentage"
    elif not number(trace.pencil, value, at).value.is_finite():
        message = "-∞ has no percentage"
    else:
        return Entry(value, at), True
    raise TracerError(Problem(message, address=entry))


def _labels(place: str, axes: Axes) -> list[str]:
    """Return the label for each axis; a label may contain a comma, as the token `,` does."""
    pieces = place.split(",")
    if len(axes) < 2:
        return [place]
    for i in range(1, len(pieces)):
        labels = [",".join(pieces[:i]), ",".join(pieces[i:])]
        if all(position(*pair) is not None for pair in zip(axes, labels, strict=True)):
            return labels
    return pieces


def _places(value: Value) -> str:
    if not value.axes:
        return "only the address, because it is a single number"
    axes = ",".join(axis.name for axis in value.axes)
    first = ",".join(distinct(axis.labels)[0] for axis in value.axes)
    return f"[{axes}], such as [{first}]"


def suggestion(trace: Trace, address: str, place: str | None = None) -> str:
    """Return the end of the message for an unknown address.

    If a person typed a symbol, such as `A`, it names the addresses of all values that texts write
    with this symbol, each with `place` as row and column; else the addresses that end so, or the
    most similar addresses and names.
    """
    meant = _with_symbol(trace, address)
    if not meant:
        from tracer.scenario.other_names import names_of

        ending = [each for each in trace.values if each.endswith(f".{address}")]
        if ending:
            return did_you_mean(ending[:MOST_SIMILAR])
        names = names_of(trace.scenario).items()
        known = [name for name, of in names if not trace.values.keys().isdisjoint(of)]
        return closest(address, [*trace.values, *known])
    entry = "" if place is None else f"[{place}]"
    listed = [f"{each}{entry}" for each in meant[:MOST_ADDRESSES]]
    more = ["and others"] if len(meant) > MOST_ADDRESSES else []
    return f"; {address} is the symbol of {', '.join(listed + more)}"


def _with_symbol(trace: Trace, typed: str) -> list[str]:
    """Return the addresses whose symbol is `typed`; if none is, those whose symbol starts so."""
    wanted = _plain(typed)
    every = [(a, s) for a, s in symbols(trace.records).items() if isinstance(s, Symbol)]
    for written in WRITTEN:
        found = [address for address, symbol in every if _plain(written(symbol)) == wanted]
        if found:
            return found
    return []


def _plain(written: str) -> str:
    """Return a symbol without the marks of its indices: W_Q¹ and W_Q^1 are WQ1."""
    return re.sub(r"[_^{}]", "", unicodedata.normalize("NFKC", written))
