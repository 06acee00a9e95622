"""The logit lens of single rows: what it reads of some tokens at some points of a pass.

A point is where all tokens have vectors that the lens can read: the input of the first layer, and
what each sub-layer leaves. The sub-layers of a joint layer leave one vector together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracer.decoder import roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.lens import check_width, read_words
from tracer.decoder.roles import Place
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value

MOST_ROWS = 64
"""The rows of a trained model that are read at once: their logits need memory, and W_U time."""


@dataclass(frozen=True)
class LensRow:
    """The logits, the probabilities and the most probable word of a row of a value."""

    of: Value
    row: int
    logits: Value
    probabilities: Value
    words: Value

    @property
    def leader(self) -> str:
        """The most probable word."""
        return str(self.words.numbers[self.row])

    @property
    def leader_column(self) -> int:
        """The column of the most probable word."""
        return self.logits.axes[1].labels.index(self.leader)

    def rank(self, column: int) -> int:
        """1 and the number of words with a larger logit."""
        logits = self.logits.computed[self.row]
        return 1 + int(np.count_nonzero(logits > logits[column]))

    def logit(self, column: int) -> Value:
        """The logit of a word: one number."""
        return self._detached(self.logits, column)

    def probability(self, column: int) -> Value:
        """The probability of a word: one number."""
        return self._detached(self.probabilities, column)

    def _detached(self, value: Value, column: int) -> Value:
        """One number, which does not keep the others in memory."""
        at, place = (self.row, column), Place(self.of.place.layer, "lens")
        numbers, computed = np.array(value.numbers[at]), np.array(value.computed[at])
        address = place.address(value.role)
        return Value(value.role, place, address, numbers, (), value.form, computed)


def lens_of_rows(found: Trace, rows: Sequence[tuple[Value, int]]) -> Iterator[LensRow]:
    """Yield what the lens reads of some rows, each given by a value and a token.

    A row that the pass has recorded is taken from there. Of a trained model, some others are read
    at once: W_U is large, and each product has to read all of it.

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    to_words, ends = to_words_of(found), layer_ends(found)
    at_once = MOST_ROWS if found.scenario.on_demand else 1
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        read = {row: _recorded(found, *row) for row in some if row[0] in ends}
        unread = [row for row in some if not read.get(row)]
        read |= zip(unread, _read(found, unread, to_words), strict=True)
        yield from (each for row in some if (each := read[row]))


def to_words_of(found: Trace) -> tuple[Value, ...]:
    """W_U, and b_U if there is one.

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    names = (roles.W_U.name, roles.B_U.name)  # a part may compute W_U, in a role of its own
    to_words = tuple(found.values[name] for name in names if name in found.values)
    check_width(layer_ends(found), to_words)
    return to_words


def _recorded(found: Trace, x: Value, token: int) -> LensRow | None:
    """What the pass has recorded of a row of a layer's output, if anything."""
    place = Place(x.place.layer, "lens")
    of_lens = (roles.LOGITS, roles.PROBABILITIES, roles.PREDICTION)
    values = [found.values[a] for role in of_lens if (a := place.address(role)) in found.values]
    return LensRow(x, x.row(token, len(found.tokens)), *values) if values else None


def _read(
    found: Trace, rows: Sequence[tuple[Value, int]], to_words: tuple[Value, ...]
) -> list[LensRow]:
    """Read rows of one width; where numbers are rounded, those of one layer."""
    if not rows:
        return []
    numbers = np.stack([x.numbers[x.row(token, len(found.tokens))] for x, token in rows])
    first, _ = rows[0]
    axes: Axes = (Axis("row", tuple(map(str, range(len(rows))))), first.axes[1])
    parameters = {value.address: value for value in found.values.values() if value.role.parameter}
    tape = Tape(arithmetic_of(found.scenario), found.pencil, parameters=parameters)
    with tape.computing(), tape.at(layer=first.place.layer, sub_layer="lens"):
        y = tape.given(roles.OUTPUT, numbers, axes)
        read_words(tape, y, to_words, found.scenario)
    read = {record.output.role: record.output for record in tape.records}
    values = [read[role] for role in (roles.LOGITS, roles.PROBABILITIES, roles.PREDICTION)]
    return [LensRow(x, row, *values) for row, (x, _) in enumerate(rows)]


def residual_points(found: Trace) -> list[Value]:
    """The input of the first layer, if there is one, and what each sub-layer leaves: (n, d)."""
    inputs = found.values.get(roles.INPUT.name)
    return [*([inputs] if inputs else []), *_leaving(found)]


def layer_ends(found: Trace) -> list[Value]:
    """What each layer of the decoder leaves: (n, d_model)."""
    return list({value.place.layer: value for value in _leaving(found)}.values())


def _leaving(found: Trace) -> list[Value]:
    """What each sub-layer of the decoder leaves, the last that is recorded in it: (n, d).

    The sub-layers of a joint layer leave one vector together.
    """
    last: dict[tuple[int, roles.SubLayer | None], Value] = {}
    is_joint = [layer.is_joint for layer in found.scenario.layers]
    for value in (record.output for record in found.records):
        place = value.place
        elsewhere = place.encoder or place.sub_layer == "lens" or place.phase != "forward"
        if place.layer and not elsewhere and place.example is None:
            sub_layer = None if is_joint[place.layer - 1] else place.sub_layer
            last[place.layer, sub_layer] = value
    return list(last.values())
