"""One number of a trace for a sentence: layer1.attention.head1.weights[Alex,Frank] as percent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracer.decoder import Trace
from tracer.errors import Problem, TracerError
from tracer.expression import Number
from tracer.names import closest, distinct
from tracer.operations import Axis
from tracer.renderers.text import name_text, number_text
from tracer.rounding import trimmed
from tracer.teacher import Teacher


def quoted(trace: Trace, words: Sequence[str]) -> str:
    """The number that is asked for, as it is printed.

    Raises:
        TracerError: not of that form, no such address, row or column.
    """
    asked = " ".join(words)
    match = re.fullmatch(r"([^\s\[]+)(?:\[(.*)\])?(?: as (percent))?", asked)
    if match is None:
        message = f"got {asked!r}, expected ADDRESS[ROW,COLUMN], then `as percent` if wanted"
        raise TracerError(Problem(message))
    address, place, percent = match.groups()
    values = {step.output.address: step.output for step in trace.steps}
    if address not in values:
        raise TracerError(Problem(f"no such value{closest(address, values)}", address=address))
    value = values[address]
    labels = [] if place is None else place.split(",") if len(value.axes) > 1 else [place]
    if len(labels) != len(value.axes):
        axes = " and ".join(f"a {axis.name}" for axis in value.axes) or "nothing"
        message = f"got {len(labels)} of [{place or ''}], expected {axes}"
        raise TracerError(Problem(message, address=address))
    places = zip(value.axes, labels, strict=True)
    index = tuple(_index(axis, label, address) for axis, label in places)
    entry = value.array[index]
    if isinstance(entry, str):
        return name_text(entry)
    number = Teacher(trace, 0).writer.number(value, index)
    if percent:
        return f"{number_text(Number(trimmed(number.value * 100)))} %"
    return number_text(number)


def _index(axis: Axis, label: str, address: str) -> int:
    """Where a label stands: by itself, told apart by its position, or as a number from 1."""
    wanted = label.strip()
    for names in (distinct(axis.labels), axis.labels):
        if names.count(wanted) == 1:
            return names.index(wanted)
    if wanted.isascii() and wanted.isdecimal() and 1 <= int(wanted) <= len(axis.labels):
        return int(wanted) - 1
    names = distinct(axis.labels)
    alike = [name for name, label in zip(names, axis.labels, strict=True) if label == wanted]
    hint = f"; did you mean {' or '.join(map(repr, alike))}?" if alike else closest(wanted, names)
    message = f"no {axis.name} {wanted!r}{hint}"
    raise TracerError(Problem(message, address=address))
