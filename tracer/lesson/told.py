"""What a text knows of the pass that it tells: names, how numbers are printed, which token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracer.decoder.axes import Axis
from tracer.decoder.forward import Trace
from tracer.decoder.roles import MASK, Place, Role
from tracer.decoder.value import Value
from tracer.lesson import entries
from tracer.lesson.document import Figure, Inline, Matrix, Name, Sentence
from tracer.lesson.expression import Expression, Number
from tracer.names import distinct
from tracer.scenario.layers import Attention

MOST_COLUMNS, COLUMNS_SHOWN = 24, 8
"""Of a trained model's longer rows so many are shown."""


@dataclass(frozen=True)
class Told:
    """A trace, the token that is followed (counted from 0), and the symbol of each value."""

    trace: Trace
    token: int
    symbols: Mapping[str, Expression]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens, told apart where a text occurs twice."""
        return distinct(self.trace.tokens)

    @property
    def who(self) -> Name:
        """The token that is followed."""
        return Name(self.names[self.token])

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return len(self.trace.scenario.layers)

    @cached_property
    def heads(self) -> int:
        """The most heads that an attention has."""
        layers = self.trace.scenario.layers
        parts = [part for layer in layers for part in (layer.attention, layer.cross_attention)]
        return max(len(part.heads) if part else 0 for part in parts)

    def attention_at(self, place: Place) -> Attention | None:
        """The attention at a place, as the scenario has it."""
        layer = self.trace.scenario.layers[(place.layer or 1) - 1]
        return layer.cross_attention if place.sub_layer == "cross_attention" else layer.attention

    def heads_of(self, place: Place) -> int:
        """How many heads the attention at a place has."""
        part = self.attention_at(place)
        return len(part.heads) if part else 0

    @property
    def masked(self) -> bool:
        """Whether a mask hides tokens from each other."""
        return MASK.name in self.trace.values

    @property
    def looks_at(self) -> str:
        """Which other tokens a token may look at, in words; nothing, if there are none."""
        n, mask = len(self.names), self.trace.values.get(MASK.name)
        if n < 2 or not any(layer.attention for layer in self.trace.scenario.layers):
            return ""
        seen = np.isfinite(mask.array) if mask else np.full((n, n), True)
        if np.triu(seen, 1).any():
            return "the others"
        return "those before it" if np.tril(seen, -1).any() else ""

    @property
    def crosses(self) -> bool:
        """Whether there is an encoder to attend to."""
        return self.trace.scenario.encoder is not None

    @property
    def padding(self) -> str | None:
        """The token that only fills up, if one of the tokens is that."""
        padding = self.trace.scenario.padding
        return padding if padding in self.trace.tokens else None

    @property
    def fills_up(self) -> bool:
        """Whether the followed token is one that only fills up."""
        return self.trace.tokens[self.token] == self.trace.scenario.padding

    def value(self, place: Place, role: Role) -> Value | None:
        """The value of a role at a place, if there is one."""
        return self.trace.values.get(place.address(role))

    def row(self, value: Value) -> int:
        """The followed token's row in a value."""
        return value.row(self.token, len(self.names))

    def printed(self, value: Value) -> tuple[Number, ...]:
        """The followed token's numbers, as they are printed; none of what has no row for it."""
        if value.numbers.ndim != 2 or not value.per_token:
            return ()
        row = self.row(value)
        return tuple(self.number(value, row, column) for column in range(value.shape[1]))

    def number(self, value: Value, *index: int) -> Number:
        """An entry as it is printed."""
        return entries.number(self.trace.pencil, value, index)

    def columns(self, value: Value) -> Sequence[int]:
        """The columns that are shown, or the entries of a row: all, of too many those that count.

        They are the largest of the followed token: of numbers for words the largest first, of
        others those that are largest in size, in their own order.
        """
        width = value.shape[-1] if value.axes else 0
        if not self.trace.scenario.on_demand or width <= MOST_COLUMNS:
            return range(width)
        if not value.per_token or len(value.axes) < 2:
            return range(width) if value.per_token else range(COLUMNS_SHOWN)
        row = value.numbers[self.row(value)]
        of_words = value.axes[1].labels is self.trace.scenario.vocabulary
        order = np.argsort(-row if of_words else -abs(row), kind="stable")[:COLUMNS_SHOWN]
        return [int(column) for column in (order if of_words else sorted(order))]

    def rows(self, value: Value) -> Sequence[int]:
        """The rows that are shown: all, of too many only the followed token's."""
        if not self.trace.scenario.on_demand or value.shape[0] <= MOST_COLUMNS:
            return range(value.shape[0])
        return [self.row(value)] if value.per_token else range(COLUMNS_SHOWN)

    def is_shown(self, value: Value) -> bool:
        """Whether a parameter is printed: most of a trained model are too large for that."""
        return not self.trace.scenario.on_demand or max(value.shape, default=0) <= MOST_COLUMNS

    def matrix(self, value: Value, figure: Figure | None = None) -> Matrix:
        """A value of one or two axes; a bias is one row, a number for each token one column."""
        marked = self.row(value) if value.per_token else None
        symbol, shape = self.symbols[value.address], value.shape
        if len(shape) == 2:
            return self._excerpt(value, marked, figure)
        labels = self.labels(value.axes[0])
        numbers = tuple(self.number(value, i) for i in range(len(labels)))
        if value.per_token:
            return Matrix(symbol, labels, ("",), tuple((number,) for number in numbers), marked)
        return Matrix(symbol, ("",), labels, (numbers,), None)

    def _excerpt(self, value: Value, marked: int | None, figure: Figure | None) -> Matrix:
        rows, columns = self.rows(value), self.columns(value)
        row_labels, column_labels = map(self.labels, value.axes)
        cells = entries.rows(self.trace.pencil, value, rows, columns)
        return Matrix(
            self.symbols[value.address],
            tuple(row_labels[i] for i in rows),
            tuple(column_labels[j] for j in columns),
            cells,
            None if marked is None else rows.index(marked),
            figure,
        )

    def labels(self, axis: Axis) -> tuple[str, ...]:
        """The labels of an axis, each of them once."""
        return distinct(axis.labels)


def listed(names: Sequence[str], last: str = "and") -> Sentence:
    """“a”, “b” and “c”; `last` is the word before the last of them."""
    parts: list[Inline] = []
    for i, name in enumerate(names):
        if i:
            parts.append(f" {last} " if i == len(names) - 1 else ", ")
        parts.append(Name(name))
    return tuple(parts)
